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

from tengen.errors import UserError
from tengen.evaluators.cache_kernels import (
    ROW,
    USED,
    WAYS,
    Int32s,
    answer,
    collect,
    hash_rows,
    insert,
    probe,
    store,
)
from tengen.evaluators.evaluator import Evaluation, Evaluator, Floats
from tengen.evaluators.hashing import Bits, new_weights
from tengen.games.game import LAST_ACTION, Game, Mask, State

MOST_BYTES = 256 << 20  # default for a cache: with a thousand actions it remembers fewer positions
FIRST_ENTRIES, FIRST_ROWS = 1024, 64  # initial sizes of the index and of the answers
TAG_BYTES = 32  # of an entry of the index


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
        hash_rows(states, self._weights, self._last_terms, rows.keys, rows.checks, rows.turns)
        num_misses, hits = probe(
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
            collect(
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
            answer(
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
            stored, self._num_rows = store(
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
            insert(entries[np.argsort(entries[:, ROW])], self._index, self._num_buckets, self._shift)

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
