"""Ten levels: weak as people are, never blind to what is on the board."""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from tengen import games, players
from tengen.arena.match import Match, play_match
from tengen.errors import UserError
from tengen.evaluators.zoo import nearest
from tengen.games.position import Position
from tengen.players.level import Level, drawn
from tengen.players.level_settings import (
    CONNECT4,
    GOMOKU9,
    GOMOKU15,
    NUM_LEVELS,
    OTHELLO,
    Settings,
    settings_of,
)
from tengen.players.level_strength import FOLDER, levels_of, suggested_level
from tengen.players.limit import Limit
from tengen.players.player import Player
from tengen.workers.local import LocalWorkers

WITH_NETWORK = [name for name in games.names() if nearest(games.find(name))]
NO_NETWORK = "connect:rows=5,cols=6,k=5"
PER_KIND = 15  # positions


def wins(position: Position) -> list[int]:
    """The moves that win at once, by trying all of them."""
    after = {action: position.play(action) for action in position.legal_actions}
    return [action for action, following in after.items() if following.winner == position.to_move]


def random_positions(name: str) -> Iterator[Position]:
    random = np.random.default_rng(5)
    while True:
        position = Position.start(name)
        while not position.is_over:
            yield position
            position = position.play(int(random.choice(position.legal_actions)))


@lru_cache
def urgent_positions(name: str) -> tuple[list[Position], list[Position]]:
    """(Positions with a win in one move, positions in which the opponent threatens one that can be stopped)."""
    won: list[Position] = []
    threatened: list[Position] = []
    for position in random_positions(name):
        if wins(position):
            won.append(position)
        elif _is_threatened(position):
            threatened.append(position)
        if min(len(won), len(threatened)) >= PER_KIND:
            break
    return won[:PER_KIND], threatened[:PER_KIND]


def _is_threatened(position: Position) -> bool:
    """Does the opponent win at once after the first two moves, but not after all?"""
    after = [position.play(action) for action in position.legal_actions]
    return all(wins(following) for following in after[:2]) and not all(wins(one) for one in after)


@pytest.mark.parametrize("name", ["tictactoe", "connect4", "gomoku9", "hex7", NO_NETWORK])
@pytest.mark.parametrize("n", range(3, NUM_LEVELS + 1))
def test_from_level_3_up_no_win_in_one_and_no_block_is_overlooked(name: str, n: int) -> None:
    won, threatened = urgent_positions(name)
    with players.find(f"level:n={n}", games.find(name)) as player:
        for seed, position in enumerate(won):
            player.new_game(seed)
            assert player.choose(position).action in wins(position), position
        for seed, position in enumerate(threatened):
            player.new_game(seed)
            after = position.play(player.choose(position).action)
            assert after.is_over or not wins(after), position


def test_a_beginner_may_overlook_a_win() -> None:
    position = Position.from_moves("connect4", "112233")  # column 4 wins
    with players.find("level:n=1", position.game) as player:
        moves = set()
        for seed in range(30):
            player.new_game(seed)
            moves.add(player.choose(position).action)
    assert 3 in moves and len(moves) > 1


@pytest.mark.parametrize("spec", ["level:n=2", "level:n=6"])
def test_a_move_depends_on_the_seed_and_the_position_alone(spec: str) -> None:
    first, second = Position.from_moves("gomoku9", "e5 d4"), Position.from_moves("gomoku9", "e5 d4 e4 c6")
    with players.find(spec, first.game) as player, players.find(spec, first.game) as other:
        player.new_game(7)
        moves = [player.choose(position).action for position in (first, second, first)]
        assert moves[0] == moves[2]  # as after undo
        other.new_game(7)
        assert [other.choose(position).action for position in (second, first)] == moves[1::-1]
        assert len({_move(player, seed, second) for seed in range(12)}) > (spec == "level:n=2")


def _move(player: Player, seed: int, position: Position) -> int:
    player.new_game(seed)
    return player.choose(position).action


@pytest.mark.parametrize("name", [*WITH_NETWORK, NO_NETWORK])
def test_every_game_has_levels_that_play_legal_moves(name: str) -> None:
    assert len(settings_of(games.find(name))) == NUM_LEVELS
    position = Position.start(name)
    for n in (1, 3, 6):
        with players.find(f"level:n={n}", position.game) as player:
            for _ in range(2):
                if not position.is_over:
                    position = position.play(player.choose(position).action)  # UserError if it is illegal


@pytest.mark.parametrize("table", [CONNECT4, GOMOKU9, GOMOKU15, OTHELLO])
def test_higher_levels_see_more_and_think_more(table: tuple[Settings, ...]) -> None:
    assert len(table) == NUM_LEVELS
    seen = [1000 if level.seen is None else level.seen for level in table]
    assert seen == sorted(seen) and seen[-1] == 1000
    simulations = [level.simulations for level in table]
    assert simulations == sorted(simulations) and simulations[0] == simulations[1] == 1
    assert [level.fours for level in table] == sorted(level.fours for level in table)


def test_moves_are_drawn_from_the_policy() -> None:
    logits = np.log(np.array([0.6, 0.2, 0.1, 0.1, 0.0 + 1e-9], np.float32))
    moves = np.array([True, True, False, True, True])
    random = np.random.default_rng(1)
    count = np.zeros(5)
    for _ in range(500):
        seen = drawn(logits, moves, Settings(1, seen=1), random)
        assert seen.sum() == 1
        count += seen
    assert count[0] / 500 == pytest.approx(0.6 / 0.9, abs=0.07) and count[2] == 0 == count[4]
    even = [drawn(logits, moves, Settings(1, seen=2, temperature=1e6), random) for _ in range(500)]
    assert np.mean(even, axis=0)[[0, 1, 3, 4]] == pytest.approx(0.5, abs=0.07)
    assert (drawn(logits, moves, Settings(1, seen=9), random) == moves).all()


def test_the_search_looks_only_at_the_moves_that_are_seen() -> None:
    position = Position.from_moves("connect4", "44")
    with players.find("level:n=7", position.game) as player:
        assert isinstance(player, Level)
        for seed in range(5):
            player.new_game(seed)
            looked_at = player.analyse(position)
            assert looked_at.best.action in position.legal_actions
            assert player.settings.seen is not None
            shown = looked_at.snapshot.moves
            assert len(shown) <= player.settings.seen and all(move.proven is None for move in shown)


def test_a_level_can_be_stopped_and_other_limits_do_not_change_it() -> None:
    position = Position.from_moves("gomoku9", "e5")
    with players.find("level:n=10", position.game) as player:
        player.prepare()
        stopped = player.analyse(position)
        stopped.stop()
        assert stopped.best.action in position.legal_actions and stopped.best.simulations < 50
    with players.find("level:n=6", position.game) as player:
        plain = player.choose(position)
        assert player.choose(position, Limit(simulations=5000)) == plain
        assert player.analyse(position, Limit()).best == plain


def test_level_8_beats_level_2() -> None:
    with LocalWorkers(1) as run_tasks:
        result = play_match(Match(games.find("connect4"), "level:n=8", "level:n=2"), 20, run_tasks)
    assert result.score >= 0.8 and not result.forfeits


@pytest.mark.parametrize("n", ["0", "11"])
def test_there_are_ten_levels(n: str) -> None:
    with pytest.raises(UserError, match="player 'level': n is"):
        players.find(f"level:n={n}", games.find("connect4"))


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.json")), ids=lambda file: file.stem)
def test_what_was_measured_belongs_to_the_present_settings_and_network(file: Path) -> None:
    levels = levels_of(games.find(file.stem))
    assert [level.level for level in levels] == list(range(1, NUM_LEVELS + 1))
    assert all(level.elo is not None and level.low is not None for level in levels)


def test_a_game_that_was_not_measured_says_so() -> None:
    assert all(level.elo is None and level.settings for level in levels_of(games.find("gomoku20")))
    assert "UCT" in levels_of(games.find(NO_NETWORK))[0].settings


@pytest.mark.parametrize(
    ("results", "level"),
    [
        ([], 3),
        ([(5, 1.0)], 5),
        ([(5, 1.0), (5, 1.0)], 5),
        ([(5, 1.0), (5, 0.0), (5, 0.5)], 5),
        ([(5, 1.0), (5, 1.0), (5, 0.0)], 6),
        ([(5, 1.0), (5, 1.0), (5, 1.0)], 7),
        ([(5, 0.0), (5, 0.0), (5, 0.0)], 3),
        ([(1, 0.0), (1, 0.0), (1, 0.0)], 1),
        ([(10, 1.0), (10, 1.0), (10, 1.0)], 10),
        ([(3, 1.0), (5, 1.0), (7, 0.0)], 6),
        ([(9, 1.0), (2, 0.5), (2, 0.5), (2, 0.5)], 2),  # only the last three count
    ],
)
def test_the_suggested_level(results: list[tuple[int, float]], level: int) -> None:
    assert suggested_level(results) == level
