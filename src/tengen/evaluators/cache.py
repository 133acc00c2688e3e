"""A cache of evaluations, for one search or one worker.

An index of buckets of four entries leads to the answers; a hash of what the network sees selects the bucket.

    hash of the state ── low bits ──►  bucket   | entry | entry | entry | entry |
                                                key, check, last use, row ──►  logits, value, plies left

A new position replaces the least recently used entry of its bucket. An entry is found by two
independent hashes of 64 bits (hashing.py): a wrong answer has a chance of about 2⁻¹²⁴ per pair of positions.

Both tables grow: the answers are stored in the order they come, and the index doubles when a bucket is full.
Before that, a bucket covers 2, 4, 8 … of the final buckets, and nothing is replaced. So a cache finds and
forgets the same positions as one allocated at full size, and takes only the memory that it uses.

One call: 1. hash and probe: answer the hits, list the distinct misses in order of first appearance;
          2. evaluate the misses;  3. store them;  4. answer the rows that waited for them.

A cache belongs to one thread: searches that share a network each have their own (network.py).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from tengen.errors import UserError
from tengen.evaluators.evaluator import Evaluation, Evaluator, Floats
from tengen.evaluators.hashing import Bits, mix, new_weights, weighted_sum
from tengen.games.game import Game, Mask, State

Int32s = npt.NDArray[np.int32]

WAYS = 4  # entries in a bucket
MOST_BYTES = 256 << 20  # default for a cache: with a thousand actions it remembers fewer positions
FIRST_ENTRIES, FIRST_ROWS = 1024, 64  # initial sizes of the index and of the answers
KEY, CHECK, USED, ROW = 0, 1, 2, 3  # columns of the index
TAG_BYTES = 32  # of an entry of the index
LAST_ACTION = -2
NONE = -1


@dataclass(frozen=True)
class Rows:
    """Buffers for one batch of at most B rows."""

    keys: Bits  # [B]
    checks: Bits  # [B]
    turns: Int32s  # [B], the symmetry that turns the row into the position that is stored
    misses: Int32s  # [B], the number of the miss a row waits for, NONE if it was a hit
    slots: Int32s  # [2 B or more, a power of two]: finds a miss by its key; the number of a miss or NONE
    first_rows: Int32s  # [B], of a miss: the first row that waits for it
    states: State  # [B, S], of the misses, turned
    legal: Mask  # [B, A], of the misses, turned
    logits: Floats  # [B, A], the answer
    values: Floats  # [B]
    plies_left: Floats  # [B]


class CachedEvaluator:
    """Gives the answers of its inner evaluator, and asks it only once about positions it remembers.

    It remembers at most `capacity` positions (rounded up to a multiple of four; None: as many as fit) in
    at most `memory` bytes. The key covers the state except its last action; `sees_last_move` adds that, for
    networks that see it. Legal actions are assumed to follow from the key. The inner evaluator must give
    plies_left always or never.

    If its answer depends only on the key, not on the rest of the batch, answers are the same, bit for bit,
    with and without the cache, for any capacity.

    `canonical`: a position and its mirror images share an entry. The inner evaluator is asked about the image
    with the lowest key, and its answer is turned back. So answers still depend only on the position, but only
    a symmetric evaluator gives the same answers without the cache.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        game: Game,
        capacity: int | None = None,
        canonical: bool = False,
        sees_last_move: bool = False,
        memory: int = MOST_BYTES,
    ) -> None:
        if capacity is not None and capacity < 1:
            raise UserError(f"a cache has room for 1 position or more, got {capacity}")
        self.requests = 0  # rows asked for
        self.hits = 0  # of these, found in the table
        self.merged = 0  # of these, equal to a miss earlier in the same batch
        self._evaluator, self._game = evaluator, game
        group = len(game.symmetries) if canonical else 1
        self._weights, self._last_terms = _hash_tables(game, group, sees_last_move)
        buckets = max(1, memory // self.bytes_per_entry // WAYS)
        self._num_buckets = buckets if capacity is None else min(-(-capacity // WAYS), buckets)  # when full
        # uint64[N, 4]: the key, the check, the call that last stored or found the entry (0: it is free), and
        # the row of its answer. One array, so that reading a bucket is one memory access.
        self._shift = max(0, (self.capacity // FIRST_ENTRIES).bit_length() - 1)
        self._index = self._new_index()
        self._answers: Floats = np.zeros((0, game.num_actions + 2), np.float32)  # logits, value, plies left
        self._num_rows = 0  # rows of the answers in use
        self._calls = 0
        self._gives_plies_left = False  # until the inner evaluator does
        self._rows = _new_rows(game, 0)

    @property
    def capacity(self) -> int:
        """The number of positions it can hold at full size."""
        return WAYS * self._num_buckets

    @property
    def bytes_per_entry(self) -> int:
        return TAG_BYTES + 4 * (self._game.num_actions + 2)

    @property
    def memory(self) -> int:
        """The current size of the tables in bytes."""
        return self._index.nbytes + self._answers.nbytes

    @property
    def hit_rate(self) -> float:
        """The share of all requests that did not reach the inner evaluator: hits and merged."""
        return (self.hits + self.merged) / self.requests if self.requests else 0.0

    def clear(self) -> None:
        """Forgets every position; the counters keep counting. Later answers are as with a new cache."""
        self._index[:, USED] = 0
        self._num_rows = 0

    def evaluate(self, states: State, legal: Mask) -> Evaluation:
        count, symmetries = len(states), self._game.symmetries
        if count > len(self._rows.keys):
            self._rows = _new_rows(self._game, count)
        rows = self._rows
        self._calls += 1
        # 1. hash, and probe the table
        _hash(states, self._weights, self._last_terms, rows.keys, rows.checks, rows.turns)
        num_misses, hits = _probe(
            count,
            self._calls,
            symmetries.actions,
            self._index,
            self._num_buckets,
            self._shift,
            self._answers,
            rows.keys,
            rows.checks,
            rows.turns,
            rows.misses,
            rows.slots,
            rows.first_rows,
            rows.logits,
            rows.values,
            rows.plies_left,
        )
        if num_misses > 0:
            # 2. evaluate the misses
            _collect(
                num_misses,
                states,
                legal,
                rows.first_rows,
                rows.turns,
                len(self._game.header),
                symmetries.cells,
                symmetries.actions,
                rows.states,
                rows.legal,
            )
            found = self._evaluator.evaluate(rows.states[:num_misses], rows.legal[:num_misses])
            self._gives_plies_left = found.plies_left is not None
            plies_left = found.values if found.plies_left is None else found.plies_left  # unused if None
            # 3. store them
            self._store(num_misses, found.logits, found.values, plies_left)
            # 4. answer the rows that waited
            _answer(
                count,
                rows.misses,
                rows.turns,
                symmetries.actions,
                found.logits,
                found.values,
                plies_left,
                rows.logits,
                rows.values,
                rows.plies_left,
            )
        self.requests += count
        self.hits += hits
        self.merged += count - hits - num_misses
        return Evaluation(
            rows.logits[:count],
            rows.values[:count],
            rows.plies_left[:count] if self._gives_plies_left else None,
        )

    def _store(self, num_misses: int, logits: Floats, values: Floats, plies_left: Floats) -> None:
        room = min(self.capacity, self._num_rows + num_misses)
        if room > len(self._answers):
            grown = max(room, FIRST_ROWS, len(self._answers) * 3 // 2)
            # In place if the system can: the old and the new rows are never in memory together.
            self._answers.resize((min(self.capacity, grown), self._answers.shape[1]), refcheck=False)
        stored = 0
        while True:
            stored, self._num_rows = _store(
                stored,
                num_misses,
                self._calls,
                self._num_rows,
                self._rows.first_rows,
                self._rows.keys,
                self._rows.checks,
                logits,
                values,
                plies_left,
                self._index,
                self._num_buckets,
                self._shift,
                self._answers,
            )
            if stored == num_misses:
                return
            # A bucket is full. The entries move in the order they came, so that every new bucket looks as if
            # it had always been there. One bucket becomes two, so all its entries fit.
            entries = self._index[self._index[:, USED] > 0]
            self._shift -= 1
            self._index = self._new_index()
            _insert(entries[np.argsort(entries[:, ROW])], self._index, self._num_buckets, self._shift)

    def _new_index(self) -> Bits:
        buckets = ((self._num_buckets - 1) >> self._shift) + 1
        return np.zeros((WAYS * buckets, 4), np.uint64)


def _new_rows(game: Game, count: int) -> Rows:
    return Rows(
        keys=np.zeros(count, np.uint64),
        checks=np.zeros(count, np.uint64),
        turns=np.zeros(count, np.int32),
        misses=np.zeros(count, np.int32),
        slots=np.zeros(1 << (2 * count).bit_length(), np.int32),
        first_rows=np.zeros(count, np.int32),
        states=np.zeros((count, game.state_size), np.int16),
        legal=np.zeros((count, game.num_actions), np.bool_),
        logits=np.zeros((count, game.num_actions), np.float32),
        values=np.zeros(count, np.float32),
        plies_left=np.zeros(count, np.float32),
    )


def _hash_tables(game: Game, group: int, sees_last_move: bool) -> tuple[Bits, Bits]:
    """Weights uint64[2 G, S] and terms for the last action uint64[2 G, A + 1], for keys and then for checks.

    Row g hashes a state as row 0 hashes its image under symmetry g, without computing the image. Term A is
    for a position without a last action, -1.
    """
    weights = np.empty((2, group, game.state_size), np.uint64)
    last_terms = np.zeros((2, group, game.num_actions + 1), np.uint64)
    for which in range(2):  # key, check
        random = new_weights(1 + which, game.state_size + game.num_actions + 1)
        own, own_last = random[: game.state_size], random[game.state_size :]
        own[LAST_ACTION] = 0
        weights[which] = own
        for g in range(group):
            weights[which, g, game.cells] = own[game.cells][game.symmetries.cells[g]]
            if sees_last_move:
                last_terms[which, g, -1] = own_last[-1]
                last_terms[which, g, :-1] = own_last[game.symmetries.actions[g]]
    return weights.reshape(2 * group, -1), last_terms.reshape(2 * group, -1)


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
def _hash(
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
def _probe(
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
def _collect(
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
def _store(
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
        entry = _longest_unused(first_of_bucket(key, num_buckets, shift), index)
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
def _insert(entries: Bits, index: Bits, num_buckets: int, shift: int) -> None:
    """Copies entries into an empty index that has room for them."""
    for e in range(len(entries)):
        entry = _longest_unused(first_of_bucket(entries[e, KEY], num_buckets, shift), index)
        for column in range(index.shape[1]):
            index[entry, column] = entries[e, column]


@njit(cache=True, forceinline=True)
def _longest_unused(first: int, index: Bits) -> int:
    """The least recently used entry of a bucket, or the first free one."""
    entry = first
    for way in range(first + 1, first + WAYS):
        if index[way, USED] < index[entry, USED]:
            entry = way
    return entry


@njit(cache=True, nogil=True)
def _answer(
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
