"""A cache of evaluations answers as the evaluator behind it does, bit for bit, and asks it less often."""

import numpy as np
import pytest

from tengen import games
from tengen.errors import UserError
from tengen.evaluators import cache as cache_module
from tengen.evaluators.cache import MOST_BYTES, CachedEvaluator
from tengen.evaluators.evaluator import Evaluation
from tengen.evaluators.rollout import RolloutEvaluator
from tengen.evaluators.uniform import UniformEvaluator
from tengen.games.game import LAST_ACTION, TO_MOVE, State
from tengen.games.symmetry import transform
from tests.evaluators.fakes import FakeEvaluator, SymmetricFake, assert_same, legal_actions, positions

GAMES = ["connect4", "gomoku9", "othello6"]
CONNECT4, GOMOKU9, RENJU = games.find("connect4"), games.find("gomoku9"), games.find("renju15")


def ask(evaluator: CachedEvaluator | FakeEvaluator, *states: State) -> Evaluation:
    """What an evaluator of Connect 4 says of one batch, in arrays of its own."""
    batch = np.stack(states)
    found = evaluator.evaluate(batch, legal_actions(CONNECT4, batch))
    return Evaluation(found.logits.copy(), found.values.copy(), found.plies_left)


@pytest.mark.parametrize("capacity", [1, 50, 10_000])
@pytest.mark.parametrize("sees_last_move", [False, True])
@pytest.mark.parametrize("canonical", [False, True])
@pytest.mark.parametrize("name", GAMES)
def test_answers_are_the_same_through_the_cache(
    name: str, canonical: bool, sees_last_move: bool, capacity: int
) -> None:
    game = games.find(name)
    fake = SymmetricFake if canonical else FakeEvaluator
    alone = fake(game, sees_last_move, gives_plies_left=True)
    inner = fake(game, sees_last_move, gives_plies_left=True)
    cache = CachedEvaluator(inner, game, capacity, canonical, sees_last_move)
    states, random = positions(game, 300), np.random.default_rng(2)
    for size in (1, 64, 7, 200, 64, 64, 1):
        batch = states[random.integers(0, len(states), size)]
        if canonical:
            turns = random.integers(0, len(game.symmetries), size)
            batch = np.stack([transform(game, state, int(g)) for state, g in zip(batch, turns, strict=True)])
        legal = legal_actions(game, batch)
        assert_same(cache.evaluate(batch, legal), alone.evaluate(batch, legal))
    assert cache.requests == 401
    assert cache.requests - cache.hits - cache.merged == inner.num_asked < 401
    assert cache.hit_rate == pytest.approx(1 - inner.num_asked / 401)


@pytest.mark.parametrize("name", GAMES)
def test_rollouts_are_the_same_through_the_cache(name: str) -> None:
    game = games.find(name)
    states = positions(game, 100)
    batch = states[np.random.default_rng(3).integers(0, 100, 300)]
    legal = legal_actions(game, batch)
    cache = CachedEvaluator(RolloutEvaluator(game), game, capacity=60)
    for _ in range(2):
        assert_same(cache.evaluate(batch, legal), RolloutEvaluator(game).evaluate(batch, legal))


def test_duplicates_in_a_batch_are_merged_and_misses_keep_their_order() -> None:
    a, b, c, d = positions(CONNECT4, 4)
    inner = FakeEvaluator(CONNECT4)
    cache = CachedEvaluator(inner, CONNECT4, capacity=100)
    ask(cache, c)
    ask(cache, b, a, b, c, d, a, b)
    assert np.array_equal(inner.asked[0], [c])
    assert np.array_equal(inner.asked[1], [b, a, d])
    assert (cache.requests, cache.hits, cache.merged) == (8, 1, 3)
    assert cache.hit_rate == 0.5
    ask(cache, a, b, c, d)
    assert len(inner.asked) == 2, "all were known: nothing to ask"


def test_duplicates_are_merged_whatever_the_capacity() -> None:
    states = positions(CONNECT4, 200)
    inner = FakeEvaluator(CONNECT4)
    ask(CachedEvaluator(inner, CONNECT4, capacity=1), *states, *states)
    assert inner.num_asked == 200


def test_what_was_used_longest_ago_makes_room() -> None:
    a, b, c, d, e = positions(CONNECT4, 5)
    inner = FakeEvaluator(CONNECT4)
    cache = CachedEvaluator(inner, CONNECT4, capacity=4)  # one bucket
    for state in (a, b, c, d, a, e):  # e takes the place of b
        ask(cache, state)
    inner.asked.clear()
    for state in (a, c, d, e):
        ask(cache, state)
    assert not inner.asked
    assert_same(ask(cache, b), ask(FakeEvaluator(CONNECT4), b))
    assert inner.num_asked == 1


def test_the_last_move_counts_only_if_the_network_sees_it() -> None:
    state = CONNECT4.after(CONNECT4.after(CONNECT4.new_state(), 3), 4)
    other = state.copy()
    other[LAST_ACTION] = 3
    unknown = state.copy()
    unknown[LAST_ACTION] = -1
    inner = FakeEvaluator(CONNECT4)
    ask(CachedEvaluator(inner, CONNECT4, capacity=100), state, other, unknown)
    assert inner.num_asked == 1
    inner = FakeEvaluator(CONNECT4, sees_last_move=True)
    found = ask(CachedEvaluator(inner, CONNECT4, capacity=100, sees_last_move=True), state, other, unknown)
    assert inner.num_asked == 3
    assert len(set(found.values)) == 3


def test_the_player_to_move_is_part_of_the_key() -> None:
    state = positions(CONNECT4, 10)[-1]
    other = state.copy()
    other[TO_MOVE] = 3 - state[TO_MOVE]
    inner = FakeEvaluator(CONNECT4)
    ask(CachedEvaluator(inner, CONNECT4, capacity=100), state, other)
    assert inner.num_asked == 2


@pytest.mark.parametrize("canonical", [False, True])
def test_forbidden_points_of_renju_are_part_of_the_key(canonical: bool) -> None:
    black = ["h8", "h9", "j10", "k10"]  # two threes meet at h10
    white = ["a1", "c3", "o1"]
    cells = np.zeros(225, np.int16)
    for names, stone in ((black, 1), (white, 2)):
        cells[[RENJU.moves.action(name) for name in names]] = stone
    marked = RENJU.set_up(cells, to_move=2)
    forbidden = np.flatnonzero(marked[RENJU.cells] == 3)
    assert len(forbidden) > 0
    unmarked = marked.copy()
    unmarked[RENJU.cells][forbidden] = 0
    batch = np.stack([marked, unmarked])
    legal = legal_actions(RENJU, batch)
    inner = SymmetricFake(RENJU)
    found = CachedEvaluator(inner, RENJU, 100, canonical).evaluate(batch, legal)
    assert inner.num_asked == 2
    assert_same(found, SymmetricFake(RENJU).evaluate(batch, legal))


@pytest.mark.parametrize("sees_last_move", [False, True])
def test_images_share_an_entry_if_canonical(sees_last_move: bool) -> None:
    state = positions(GOMOKU9, 40)[-1]
    images = np.stack([transform(GOMOKU9, state, g) for g in range(8)])
    legal = legal_actions(GOMOKU9, images)
    for canonical, asked in ((False, 8), (True, 1)):
        inner = FakeEvaluator(GOMOKU9, sees_last_move)
        CachedEvaluator(inner, GOMOKU9, 100, canonical, sees_last_move).evaluate(images, legal)
        assert inner.num_asked == asked


def test_canonical_answers_do_not_depend_on_the_image_that_came_first() -> None:
    """Even those of an evaluator that is not symmetric; and every image gets the same answer, turned."""
    state = positions(GOMOKU9, 40)[-1]
    images = np.stack([transform(GOMOKU9, state, g) for g in range(8)])
    legal = legal_actions(GOMOKU9, images)
    at_once = CachedEvaluator(FakeEvaluator(GOMOKU9), GOMOKU9, 100, canonical=True).evaluate(images, legal)
    for g in range(8):
        cache = CachedEvaluator(FakeEvaluator(GOMOKU9), GOMOKU9, 100, canonical=True)
        found = cache.evaluate(images[g : g + 1], legal[g : g + 1])
        assert np.array_equal(found.logits[0], at_once.logits[g])
        assert np.array_equal(found.logits[0, GOMOKU9.symmetries.actions[g]], at_once.logits[0])
        assert found.values[0] == at_once.values[0]


@pytest.mark.parametrize("canonical", [False, True])
def test_keys_spread_over_all_buckets(canonical: bool) -> None:
    """A quarter full, hardly a bucket of four overflows: 0.4 % of the positions are lost if keys are random."""
    states = positions(GOMOKU9, 2000)
    legal = legal_actions(GOMOKU9, states)
    cache = CachedEvaluator(FakeEvaluator(GOMOKU9), GOMOKU9, capacity=8000, canonical=canonical)
    cache.evaluate(states, legal)
    hits = cache.hits
    cache.evaluate(states, legal)
    assert cache.hits - hits > 0.98 * len(states)


def test_clear_makes_it_as_good_as_new() -> None:
    """The evaluator is asked the same again, in the same batches, although the cache was full before."""
    states, random = positions(CONNECT4, 100), np.random.default_rng(4)
    batches = [states[random.integers(0, 100, 20)] for _ in range(30)]
    inner = FakeEvaluator(CONNECT4)
    cache = CachedEvaluator(inner, CONNECT4, capacity=40)
    for batch in batches:
        ask(cache, *batch)
    first = inner.asked.copy()
    inner.asked.clear()
    for batch in batches[::-1]:  # something else in between
        ask(cache, *batch)
    inner.asked.clear()
    cache.clear()
    for batch in batches:
        ask(cache, *batch)
    assert len(inner.asked) == len(first)
    assert all(np.array_equal(one, other) for one, other in zip(first, inner.asked, strict=True))
    assert cache.requests == 3 * 600, "the counts go on"


def test_plies_left_are_remembered_if_there_are_any() -> None:
    a, b = positions(CONNECT4, 2)
    assert ask(CachedEvaluator(FakeEvaluator(CONNECT4), CONNECT4, 100), a, b).plies_left is None
    cache = CachedEvaluator(FakeEvaluator(CONNECT4, gives_plies_left=True), CONNECT4, 100)
    for _ in range(2):
        assert_same(ask(cache, a, b, a), ask(FakeEvaluator(CONNECT4, gives_plies_left=True), a, b, a))
    assert cache.hits == 3


def test_an_empty_batch() -> None:
    inner = FakeEvaluator(CONNECT4)
    cache = CachedEvaluator(inner, CONNECT4, capacity=100)
    none, none_legal = np.zeros((0, CONNECT4.state_size), np.int16), np.zeros((0, 7), np.bool_)
    for _ in range(2):
        found = cache.evaluate(none, none_legal)
        assert found.logits.shape == (0, 7)
        assert found.values.shape == (0,)
        ask(cache, CONNECT4.new_state())
    assert inner.num_asked == 1
    assert (cache.requests, cache.hits) == (2, 1)


def test_size_and_memory() -> None:
    cache = CachedEvaluator(FakeEvaluator(CONNECT4), CONNECT4, capacity=10)
    assert cache.capacity == 12
    assert cache.bytes_per_entry == 4 * 8 + 7 * 4 + 2 * 4
    assert cache.hit_rate == 0
    with pytest.raises(UserError, match="1 position or more, got 0"):
        CachedEvaluator(FakeEvaluator(CONNECT4), CONNECT4, capacity=0)


@pytest.mark.parametrize("capacity", [200, 3001, 20_000])
def test_a_cache_that_grows_asks_what_one_that_was_allocated_whole_asks(
    monkeypatch: pytest.MonkeyPatch, capacity: int
) -> None:
    """The same positions in the same batches, with many replaced (200), some (3001) and none (20 000)."""
    states, random = positions(CONNECT4, 6000), np.random.default_rng(5)
    batches = [states[random.integers(0, len(states), int(size))] for size in random.integers(1, 300, 90)]
    asked = []
    for first_entries in (10**9, 16):
        monkeypatch.setattr(cache_module, "FIRST_ENTRIES", first_entries)
        inner = FakeEvaluator(CONNECT4, gives_plies_left=True)
        cache = CachedEvaluator(inner, CONNECT4, capacity)
        for i, batch in enumerate(batches):
            legal = legal_actions(CONNECT4, batch)
            alone = FakeEvaluator(CONNECT4, gives_plies_left=True).evaluate(batch, legal)
            assert_same(cache.evaluate(batch, legal), alone)
            if i == 60:
                cache.clear()
        asked.append(inner.asked)
    assert len(asked[0]) == len(asked[1])
    assert all(np.array_equal(one, other) for one, other in zip(*asked, strict=True))


@pytest.mark.parametrize("name", ["connect4", "gomoku15"])
def test_memory_grows_with_what_is_remembered_up_to_what_is_given(name: str) -> None:
    game, most = games.find(name), 1 << 20
    cache = CachedEvaluator(FakeEvaluator(game), game, memory=most)
    before = cache.memory
    assert before < 100_000
    taken = []
    for batch in np.split(positions(game, 16_000), 40):
        cache.evaluate(batch, legal_actions(game, batch))
        taken.append(cache.memory)
    assert taken == sorted(taken) and taken[0] < most / 2 and 0.9 * most < taken[-1] <= most
    assert cache.memory <= cache.capacity * cache.bytes_per_entry + 1024


def test_a_game_with_many_actions_remembers_fewer_positions() -> None:
    cache = CachedEvaluator(UniformEvaluator(), games.find("gomoku20"), 200_000)
    assert 150_000 < cache.capacity < 200_000
    assert cache.capacity * cache.bytes_per_entry <= MOST_BYTES
