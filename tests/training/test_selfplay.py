"""Self-play: what is recorded is true, and depends on the shard alone."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from tengen import games
from tengen.evaluators.rollout import RolloutEvaluator
from tengen.evaluators.uniform import UniformEvaluator
from tengen.games import connect4
from tengen.games.game import TO_MOVE, State
from tengen.training.config import ReplayConfig, SelfPlayConfig
from tengen.training.record import Samples, join, keys_of, merged
from tengen.training.replay import Replay
from tengen.training.selfplay import play_shard
from tengen.training.shards import Shard
from tests.search.fakes import HashEvaluator

SETTINGS = SelfPlayConfig(simulations=12, fast_simulations=4, random_opening_plies=4, discount=0.9)


@pytest.mark.parametrize("name", ["tictactoe", "connect4", "othello6"])
def test_records_are_positions_with_legal_policies(name: str) -> None:
    game = games.find(name)
    samples, stats = play_shard(game, UniformEvaluator(), SETTINGS, 12, 20, [1])
    assert stats.games == 20 and len(samples) > 20
    for state, policy in zip(samples.states, samples.policies, strict=True):
        legal = game.legal_mask(state)
        assert not game.outcome(state)[0]
        assert policy.sum() == pytest.approx(1, abs=1e-4) and (policy[~legal] == 0).all()
    assert (np.abs(samples.values) <= 1).all() and (samples.plies_left >= 1).all()


def test_a_game_that_is_over_leaves_its_neighbours_alone() -> None:
    """Rules trust their callers: a move in a full column would write into another game's state."""
    game = games.find("connect4")
    samples, _ = play_shard(game, UniformEvaluator(), SETTINGS, 12, 200, [1])
    stones = (samples.states[:, game.cells] != 0).sum(axis=1)
    assert np.array_equal(stones, samples.states[:, connect4.STONES])
    assert np.array_equal(stones % 2 + 1, samples.states[:, TO_MOVE])


def test_the_winner_is_the_player_to_move_where_the_value_is_positive() -> None:
    """Told by the game's end alone: one ply from the end of a won game, whoever is to move won."""
    game = games.find("connect4")
    settings = replace(SETTINGS, td_lambda=1.0)
    samples, _ = play_shard(game, RolloutEvaluator(game), settings, 12, 30, [2])
    last = (samples.plies_left == 1) & (samples.values != 0)
    assert last.sum() > 5 and samples.values[last] == pytest.approx(0.9)
    before = (samples.plies_left == 2) & (samples.values != 0)
    assert before.sum() > 5 and (samples.values[before] < 0).all()


def test_a_sample_can_be_replayed_to_its_end() -> None:
    game = games.find("connect4")
    _, stats = play_shard(game, UniformEvaluator(), SETTINGS, 12, 20, [1])
    state = game.new_state()
    for action in stats.sample:
        assert not game.outcome(state)[0] and game.legal_mask(state)[action]
        state = game.after(state, action)
    assert game.outcome(state)[0]


def test_the_same_seed_plays_the_same_games() -> None:
    game = games.find("connect4")
    a, b, c = (play_shard(game, UniformEvaluator(), SETTINGS, 12, 10, seed)[0] for seed in ([3], [3], [4]))
    assert np.array_equal(a.states, b.states) and np.array_equal(a.policies, b.policies)
    assert not np.array_equal(a.states[:5], c.states[:5])


def test_only_full_searches_explore() -> None:
    """The first move of a game gets a full search, the others hardly ever: so it decides all that follows."""
    game = games.find("connect4")
    calm = replace(SETTINGS, noise=0.0, c_scale=0.01, td_lambda=1.0, random_opening_plies=0, full_share=0.01)
    for settings, fewest, most in ((calm, 1, 1), (replace(calm, noise=1.0), 3, game.num_actions)):
        samples, _ = play_shard(game, HashEvaluator(), settings, 12, 100, [1])
        is_first = samples.states[:, connect4.STONES] == 0
        ends = zip(samples.plies_left[is_first], samples.values[is_first], strict=True)
        assert is_first.sum() == 100 and fewest <= len(set(ends)) <= most


def test_puct_as_in_the_papers_plays_too() -> None:
    game = games.find("tictactoe")
    settings = SelfPlayConfig(search="puct", simulations=20, fast_simulations=20, random_opening_plies=0)
    samples, stats = play_shard(game, UniformEvaluator(), settings, 20, 30, [5])
    assert stats.games == 30 and len({tuple(state) for state in samples.states}) > 30


def test_equal_positions_are_merged_into_their_mean() -> None:
    game = games.find("tictactoe")
    settings = SelfPlayConfig(simulations=12, random_opening_plies=0)
    samples, _ = play_shard(game, UniformEvaluator(), settings, 12, 60, [6])
    few = merged(samples)
    boards = [tuple(state[game.cells]) for state in samples.states]
    assert len(few) == len(set(boards)) < len(samples)
    for i, state in enumerate(few.states):
        equal = [row for row, board in enumerate(boards) if board == tuple(state[game.cells])]
        for name in ("policies", "values", "plies_left"):
            expected = getattr(samples, name)[equal].mean(axis=0)
            assert getattr(few, name)[i] == pytest.approx(expected, abs=1e-5)


def test_a_position_is_proven_if_all_searches_of_it_have_proven_it() -> None:
    samples, _ = play_shard(games.find("tictactoe"), UniformEvaluator(), SETTINGS, 12, 60, [6])
    exact = {0.0, *(sign * np.float32(0.9**plies) for sign in (1, -1) for plies in range(1, 10))}
    assert 0 < samples.is_proven.sum() < len(samples)
    for value in samples.values[samples.is_proven]:
        assert min(abs(value - one) for one in exact) < 1e-6
    [proven, other] = (
        samples.take(np.flatnonzero(samples.is_proven == which)[:1]) for which in (True, False)
    )
    twice = replace(other, states=proven.states)
    for parts, expected in (([proven, proven], True), ([proven, twice], False), ([twice], False)):
        assert merged(join(parts)).is_proven.tolist() == [expected]


def test_a_position_is_in_the_window_once_with_what_was_said_last() -> None:
    game = games.find("tictactoe")
    settings = SelfPlayConfig(simulations=12, random_opening_plies=0)
    old, new = (play_shard(game, UniformEvaluator(), settings, 12, 60, [seed])[0] for seed in (6, 7))
    replay = Replay(ReplayConfig())
    counts = [replay.add([Shard(old, None)]), replay.add([Shard(new, None)])]
    window = replay.samples()
    assert counts == [len(merged(old)), len(merged(new))]
    assert len(window) == len(merged(window)) == len(merged(join([old, new])))
    said_last = {tuple(state[game.cells]): value for state, value in zip(*_values(merged(new)), strict=True)}
    found = {tuple(state[game.cells]): value for state, value in zip(*_values(window), strict=True)}
    assert said_last.items() <= found.items() and len(said_last) < len(found)


def _values(samples: Samples) -> tuple[State, npt.NDArray[np.float32]]:
    return samples.states, samples.values


def test_positions_that_differ_anywhere_but_in_the_last_action_have_different_keys() -> None:
    game = games.find("connect4")
    samples, _ = play_shard(game, UniformEvaluator(), SETTINGS, 12, 200, [1])
    bare = samples.states.copy()
    bare[:, -2] = -1
    assert len(set(keys_of(samples.states).tolist())) == len(np.unique(bare, axis=0)) < len(bare)


def test_a_shard_of_short_games_has_positions_too() -> None:
    """Even if hardly any round is a full search."""
    settings = SelfPlayConfig(simulations=4, fast_simulations=2, full_share=0.01, random_opening_plies=5)
    for seed in range(20):
        samples, _ = play_shard(games.find("tictactoe"), UniformEvaluator(), settings, 4, 3, [seed])
        assert len(samples) >= 3
