"""The kernels of the cache of evaluations (cache.py, which says what they do together).

They see arrays alone: the index uint64[N, 4], the answers float32[rows, A + 2], and the buffers of one batch.
"""

import numpy as np
import numpy.typing as npt
from numba import njit

from tengen.evaluators.evaluator import Floats
from tengen.evaluators.hashing import Bits, mix, weighted_sum
from tengen.games.game import Mask, State

Int32s = npt.NDArray[np.int32]

WAYS = 4  # entries in a bucket
KEY, CHECK, USED, ROW = 0, 1, 2, 3  # columns of the index
LAST_ACTION = -2
NONE = -1


@njit(cache=True, forceinline=True)
def hash_row(states: State, b: int, weights: Bits, last_terms: Bits, k: int) -> np.uint64:
    """The hash of states[b] by row k of the tables."""
    return mix(weighted_sum(states, b, weights, k) + last_terms[k, states[b, LAST_ACTION]])


@njit(cache=True, forceinline=True)
def first_of_bucket(key: np.uint64, num_buckets: int, shift: int) -> int:
    """The first entry of a key's bucket: scales the low 32 bits to the number of buckets, because the lowest
    of eight keys has small high bits. In a smaller index, a bucket covers 2^shift of these."""
    bucket = (key & np.uint64(0xFFFFFFFF)) * np.uint64(num_buckets) >> np.uint64(32)
    return WAYS * (np.int64(bucket) >> shift)  # type: ignore[return-value]  # Numba's int() stays unsigned


@njit(cache=True, nogil=True)
def hash_rows(
    states: State, weights: Bits, last_terms: Bits, row_keys: Bits, row_checks: Bits, turns: Int32s
) -> None:
    """The lowest key of all images of each row, with that image's check."""
    group = len(weights) // 2
    for b in range(len(states)):
        first: int = np.int64(0)  # type: ignore[assignment]  # a literal would compile it again
        key, turn = hash_row(states, b, weights, last_terms, first), 0
        for g in range(1, group):
            image_key = hash_row(states, b, weights, last_terms, g)
            if image_key < key:
                key, turn = image_key, g
        row_keys[b], turns[b] = key, turn
        row_checks[b] = hash_row(states, b, weights, last_terms, group + turn)


# Separate from the hashing, so that the processor fetches the entries of several rows at once: a hit in a
# table of 2M Connect 4 positions takes 180 ns; in one loop with the hashing, 430.
@njit(cache=True, nogil=True)
def probe(
    count: int,
    now: int,
    actions: Int32s,
    index: Bits,
    num_buckets: int,
    shift: int,
    answers: Floats,
    row_keys: Bits,
    row_checks: Bits,
    turns: Int32s,
    misses: Int32s,
    slots: Int32s,
    first_rows: Int32s,
    logits: Floats,
    values: Floats,
    plies_left: Floats,
) -> tuple[int, int]:
    """(distinct misses, hits): answers the rows that are in the table, and numbers the misses."""
    num_misses, hits, num_actions = 0, 0, logits.shape[1]
    for i in range(slots.size):
        slots[i] = NONE
    for b in range(count):
        key, check, turn = row_keys[b], row_checks[b], turns[b]
        # in the table?
        first = first_of_bucket(key, num_buckets, shift)
        entry = NONE
        for way in range(first, first + WAYS):
            if index[way, KEY] == key and index[way, CHECK] == check and index[way, USED] > 0:
                entry = way
        if entry != NONE:
            hits += 1
            misses[b] = NONE
            index[entry, USED] = now
            row = np.int64(index[entry, ROW])
            for a in range(num_actions):
                logits[b, a] = answers[row, actions[turn, a] if turn > 0 else a]
            values[b] = answers[row, num_actions]
            plies_left[b] = answers[row, num_actions + 1]
            continue
        # a miss: the first of its kind in this batch?
        slot = np.int64(key & np.uint64(slots.size - 1))
        while slots[slot] != NONE:
            other = first_rows[slots[slot]]
            if row_keys[other] == key and row_checks[other] == check:
                break
            slot = (slot + 1) & (slots.size - 1)
        if slots[slot] == NONE:
            slots[slot] = num_misses
            first_rows[num_misses] = b
            num_misses += 1
        misses[b] = slots[slot]
    return num_misses, hits


@njit(cache=True, nogil=True)
def collect(
    num_misses: int,
    states: State,
    legal: Mask,
    first_rows: Int32s,
    turns: Int32s,
    header: int,
    cells: Int32s,
    actions: Int32s,
    miss_states: State,
    miss_legal: Mask,
) -> None:
    """Copies the misses into one batch, each turned as it will be stored."""
    for m in range(num_misses):
        b = first_rows[m]
        g = turns[b]
        for i in range(states.shape[1]):
            miss_states[m, i] = states[b, i]
        if g == 0:
            for a in range(legal.shape[1]):
                miss_legal[m, a] = legal[b, a]
            continue
        for i in range(cells.shape[1]):
            miss_states[m, header + cells[g, i]] = states[b, header + i]
        last = states[b, LAST_ACTION]
        if last >= 0:
            miss_states[m, LAST_ACTION] = actions[g, last]
        for a in range(legal.shape[1]):
            miss_legal[m, actions[g, a]] = legal[b, a]


@njit(cache=True, nogil=True)
def store(
    first_miss: int,
    num_misses: int,
    now: int,
    num_rows: int,
    first_rows: Int32s,
    row_keys: Bits,
    row_checks: Bits,
    new_logits: Floats,
    new_values: Floats,
    new_plies_left: Floats,
    index: Bits,
    num_buckets: int,
    shift: int,
    answers: Floats,
) -> tuple[int, int]:
    """(next miss, rows in use): each miss replaces the least recently used entry of its bucket.

    An index that can still grow replaces nothing: it stops at the first miss whose bucket is full."""
    num_actions = new_logits.shape[1]
    for m in range(first_miss, num_misses):
        key = row_keys[first_rows[m]]
        entry = longest_unused(first_of_bucket(key, num_buckets, shift), index)
        if index[entry, USED] == 0:
            index[entry, ROW] = num_rows
            num_rows += 1
        elif shift > 0:
            return m, num_rows
        index[entry, KEY], index[entry, CHECK], index[entry, USED] = key, row_checks[first_rows[m]], now
        row = np.int64(index[entry, ROW])
        for a in range(num_actions):
            answers[row, a] = new_logits[m, a]
        answers[row, num_actions] = new_values[m]
        answers[row, num_actions + 1] = new_plies_left[m]
    return num_misses, num_rows


@njit(cache=True, nogil=True)
def insert(entries: Bits, index: Bits, num_buckets: int, shift: int) -> None:
    """Copies entries into an empty index that has room for them."""
    for e in range(len(entries)):
        entry = longest_unused(first_of_bucket(entries[e, KEY], num_buckets, shift), index)
        for column in range(index.shape[1]):
            index[entry, column] = entries[e, column]


@njit(cache=True, forceinline=True)
def longest_unused(first: int, index: Bits) -> int:
    """The least recently used entry of a bucket, or the first free one."""
    entry = first
    for way in range(first + 1, first + WAYS):
        if index[way, USED] < index[entry, USED]:
            entry = way
    return entry


@njit(cache=True, nogil=True)
def answer(
    count: int,
    misses: Int32s,
    turns: Int32s,
    actions: Int32s,
    new_logits: Floats,
    new_values: Floats,
    new_plies_left: Floats,
    logits: Floats,
    values: Floats,
    plies_left: Floats,
) -> None:
    """Gives every row that waited for a miss its answer, turned back."""
    for b in range(count):
        m, g = misses[b], turns[b]
        if m == NONE:
            continue
        for a in range(logits.shape[1]):
            logits[b, a] = new_logits[m, actions[g, a] if g > 0 else a]
        values[b] = new_values[m]
        plies_left[b] = new_plies_left[m]
