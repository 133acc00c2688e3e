"""Remembers what an evaluator said of a position, for all trees of a worker.

The table is an array of buckets of four entries; a hash of what the network sees names the bucket.

    hash of the state ── low bits ──►  bucket   | entry | entry | entry | entry |
                                                key, check, last use → logits, value, plies left

A new position takes the place of the entry of its bucket that was used longest ago. An entry is found by two
independent hashes of 64 bits (hashing.py): a wrong answer has a chance of about 2⁻¹²⁴ per pair of positions.

One call: 1. hash and probe: answer the hits, list the distinct misses in order of first appearance;
          2. evaluate the misses;  3. store them;  4. answer the rows that waited for them.
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
MOST_BYTES = 256 << 20  # of a table: a game with a thousand actions remembers fewer positions
KEY, CHECK, USED = 0, 1, 2  # columns of the tags
LAST_ACTION = -2
NONE = -1


@dataclass(frozen=True)
class Table:
    """N entries in buckets of WAYS."""

    # [N, 3]: the key, the check, the call that last stored or found the entry (0: there is none). One array,
    # so that a look at a bucket is one look at memory: a miss takes 180 ns, with three arrays 290.
    tags: Bits
    answers: Floats  # [N, A + 2]: the logits, the value, the plies left


@dataclass(frozen=True)
class Rows:
    """Room for one batch of at most B rows."""

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
    """Answers as its inner evaluator does, and asks it only once about positions it remembers.

    `capacity` is in positions, rounded up to a multiple of four; MOST_BYTES limits it. The key covers the
    state except its last action; `sees_last_move` adds that, for networks that see it. Legal actions are
    taken to follow from the key. The inner evaluator must give plies_left always or never.

    If its answer depends on the key alone, not on the rest of the batch, answers are the same, bit for bit,
    with and without the cache, whatever the capacity.

    `canonical`: a position and its mirror images share an entry. The inner evaluator is asked about the image
    with the lowest key, and its answer is turned back. So answers stay a function of the position alone, but
    only those of a symmetric evaluator are the ones it would give without the cache.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        game: Game,
        capacity: int,
        canonical: bool = False,
        sees_last_move: bool = False,
    ) -> None:
        if capacity < 1:
            raise UserError(f"a cache has room for 1 position or more, got {capacity}")
        self.requests = 0  # rows asked for
        self.hits = 0  # of these, found in the table
        self.merged = 0  # of these, equal to a miss earlier in the same batch
        self._evaluator, self._game = evaluator, game
        group = len(game.symmetries) if canonical else 1
        self._weights, self._last_terms = _hash_tables(game, group, sees_last_move)
        most = MOST_BYTES // (4 * (game.num_actions + 2) + 24)
        size = min(-(-capacity // WAYS), most // WAYS) * WAYS
        self._table = Table(
            tags=np.zeros((size, 3), np.uint64),
            answers=np.zeros((size, game.num_actions + 2), np.float32),
        )
        self._calls = 0
        self._gives_plies_left = False  # until the inner evaluator does
        self._rows = _new_rows(game, 0)

    @property
    def capacity(self) -> int:
        """In positions."""
        return len(self._table.tags)

    @property
    def bytes_per_entry(self) -> int:
        return (self._table.tags.nbytes + self._table.answers.nbytes) // self.capacity

    @property
    def hit_rate(self) -> float:
        """The share of all requests that the inner evaluator was spared: hits and merged."""
        return (self.hits + self.merged) / self.requests if self.requests else 0.0

    def clear(self) -> None:
        """Forgets every position; the counts go on. What follows is the same as with a new cache."""
        self._table.tags[:, USED] = 0

    def evaluate(self, states: State, legal: Mask) -> Evaluation:
        count, table, symmetries = len(states), self._table, self._game.symmetries
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
            table.tags,
            table.answers,
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
            plies_left = found.values if found.plies_left is None else found.plies_left  # or anything: unread
            # 3. store them
            _store(
                num_misses,
                self._calls,
                rows.first_rows,
                rows.keys,
                rows.checks,
                found.logits,
                found.values,
                plies_left,
                table.tags,
                table.answers,
            )
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

    Row g hashes a state as row 0 hashes its image under symmetry g, without making the image. Term A is for a
    position without a last action, -1.
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
def first_of_bucket(key: np.uint64, num_entries: int) -> int:
    """Scales the key's low 32 bits to the number of buckets: the lowest of eight keys has small high bits."""
    bucket = (key & np.uint64(0xFFFFFFFF)) * np.uint64(num_entries // WAYS) >> np.uint64(32)
    return WAYS * np.int64(bucket)  # type: ignore[return-value]  # Numba's int() would stay unsigned


@njit(cache=True, nogil=True)
def _hash(
    states: State, weights: Bits, last_terms: Bits, row_keys: Bits, row_checks: Bits, turns: Int32s
) -> None:
    """The lowest key of all images of each row, with that image's check."""
    group = len(weights) // 2
    for b in range(len(states)):
        key, turn = hash_row(states, b, weights, last_terms, 0), 0
        for g in range(1, group):
            image_key = hash_row(states, b, weights, last_terms, g)
            if image_key < key:
                key, turn = image_key, g
        row_keys[b], turns[b] = key, turn
        row_checks[b] = hash_row(states, b, weights, last_terms, group + turn)


# Apart from the hashing, so that the processor fetches the entries of several rows at once: a hit in a table
# of 2M Connect 4 positions takes 180 ns, in one loop with the hashing 430.
@njit(cache=True, nogil=True)
def _probe(
    count: int,
    now: int,
    actions: Int32s,
    tags: Bits,
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
    """Answers the rows that are in the table and numbers the misses; returns (distinct misses, hits)."""
    num_misses, hits, num_actions = 0, 0, logits.shape[1]
    for i in range(slots.size):
        slots[i] = NONE
    for b in range(count):
        key, check, turn = row_keys[b], row_checks[b], turns[b]
        # in the table?
        first = first_of_bucket(key, len(tags))
        entry = NONE
        for way in range(first, first + WAYS):
            if tags[way, KEY] == key and tags[way, CHECK] == check and tags[way, USED] > 0:
                entry = way
        if entry != NONE:
            hits += 1
            misses[b] = NONE
            tags[entry, USED] = now
            for a in range(num_actions):
                logits[b, a] = answers[entry, actions[turn, a] if turn > 0 else a]
            values[b] = answers[entry, num_actions]
            plies_left[b] = answers[entry, num_actions + 1]
            continue
        # a miss: the first of its kind in this batch?
        slot = np.int64(key & np.uint64(slots.size - 1))
        while slots[slot] != NONE:
            row = first_rows[slots[slot]]
            if row_keys[row] == key and row_checks[row] == check:
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
    """Copies the misses side by side, each turned as it will be stored."""
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
    num_misses: int,
    now: int,
    first_rows: Int32s,
    row_keys: Bits,
    row_checks: Bits,
    new_logits: Floats,
    new_values: Floats,
    new_plies_left: Floats,
    tags: Bits,
    answers: Floats,
) -> None:
    """Each miss takes the place of what its bucket has not used for the longest time."""
    num_actions = new_logits.shape[1]
    for m in range(num_misses):
        key = row_keys[first_rows[m]]
        first = first_of_bucket(key, len(tags))
        entry = first
        for way in range(first + 1, first + WAYS):
            if tags[way, USED] < tags[entry, USED]:
                entry = way
        tags[entry, KEY], tags[entry, CHECK], tags[entry, USED] = key, row_checks[first_rows[m]], now
        for a in range(num_actions):
            answers[entry, a] = new_logits[m, a]
        answers[entry, num_actions] = new_values[m]
        answers[entry, num_actions + 1] = new_plies_left[m]


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
