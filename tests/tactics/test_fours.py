"""What is claimed of a position for certain: checked by a search with a large budget, after every move."""

import numpy as np
import pytest

from tengen import games
from tengen.evaluators.forced import Certain
from tengen.games.batch import LOSS, UNKNOWN, WIN
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.tactics.fours import SeesFours, has_fours
from tengen.tactics.threats import find_win, new_work
from tengen.tactics.windows import Work

GAMES = ("gomoku9", "gomoku15", "standard15", "caro15", "caro15-exact", "renju15", "mnk:rows=7,cols=9,k=4")


def sharp_positions(game: Game, count: int, seed: int) -> list[Position]:
    """Positions with many stones close to each other, in which fours abound and nobody can win at once."""
    random, found = np.random.default_rng(seed), list[Position]()
    while len(found) < count:
        position = Position.start(game)
        rows, cols = game.rows, game.cols
        for _ in range(int(random.integers(8, 26))):
            if position.is_over:
                break
            spread = min(rows, cols) / 6
            for _ in range(50):
                row, col = random.normal(rows / 2, spread), random.normal(cols / 2, spread)
                cell = int(np.clip(row, 0, rows - 1)) * cols + int(np.clip(col, 0, cols - 1))
                if position.legal_mask[cell]:
                    position = position.play(cell)
                    break
        if not position.is_over:
            found.append(position)
    return found


@pytest.mark.parametrize("name", GAMES)
def test_every_claim_is_confirmed_by_a_long_search(name: str) -> None:
    game = games.find(name)
    positions = sharp_positions(game, 60, seed=1)
    states = np.stack([position.state for position in positions])
    legal = np.stack([position.legal_mask for position in positions])
    found = SeesFours(game)(states, legal)
    work = new_work(game)
    num_wins = num_threats = 0
    for b, position in enumerate(positions):
        own = find_win(position, game, work=work)
        if found.proven[b] == WIN:
            num_wins += 1
            assert own.status == "found" and len(own.line) == found.distance[b]
            [move] = np.flatnonzero(found.wins[b])
            after = position.play(int(move))
            assert after.is_over or not _escapes(after, work), position.text()
            continue
        assert not found.wins[b].any() and not (found.playable[b] & ~legal[b]).any()
        is_lost = found.proven[b] == LOSS
        losing = np.flatnonzero(legal[b] & (~found.playable[b] | is_lost))
        num_threats += len(losing) > 0
        for action in losing:
            after = position.play(int(action))
            assert not after.is_over, f"{position.text()}\n{position.game.moves.name(int(action))}"
            win = find_win(after, game, work=work)
            assert win.status == "found", f"{position.text()}\n{position.game.moves.name(int(action))}"
            assert len(win.line) + 1 <= found.distance[b]
        assert found.proven[b] in (UNKNOWN, LOSS)
        assert (found.distance[b] > 0) == (len(losing) > 0)
    assert num_wins >= 5 and num_threats >= 5


def test_what_was_searched_before_does_not_change_an_answer() -> None:
    game = games.find("gomoku15")
    positions = sharp_positions(game, 60, seed=3)
    states = np.stack([position.state for position in positions])
    legal = np.stack([position.legal_mask for position in positions])
    look = SeesFours(game, max_nodes=100_000)
    together, again = look(states, legal), look(states, legal)
    look.clear()
    alone = [SeesFours(game, max_nodes=100_000)(states[b][None], legal[b][None]) for b in range(len(states))]
    anew = look(states, legal)
    for name in Certain._fields:
        expected = getattr(together, name)
        assert np.array_equal(expected, getattr(again, name)) and np.array_equal(
            expected, getattr(anew, name)
        )
        assert np.array_equal(expected, np.concatenate([getattr(one, name) for one in alone]))


def _escapes(position: Position, work: Work) -> bool:
    """Is there a move after which the opponent has no win by fours?"""
    return any(
        find_win(position.play(action), position.game, work=work).status != "found"
        for action in position.legal_actions
    )


def test_few_moves_stop_a_line_and_all_of_them_are_kept() -> None:
    """Nearly all of the moves that do stop the opponent are kept, and few others."""
    game = games.find("gomoku15")
    positions = sharp_positions(game, 200, seed=2)
    states = np.stack([position.state for position in positions])
    legal = np.stack([position.legal_mask for position in positions])
    found = SeesFours(game)(states, legal)
    work = new_work(game)
    kept = stopping = 0
    for b in np.flatnonzero((found.proven == UNKNOWN) & (found.playable != legal).any(axis=1)):
        for action in np.flatnonzero(found.playable[b]):
            after = positions[b].play(int(action))
            kept += 1
            stopping += after.is_over or find_win(after, game, work=work).status != "found"
    assert kept > 50 and stopping / kept > 0.5


def test_games_with_fours() -> None:
    assert [name for name in games.names() if has_fours(games.find(name))] == [
        name for name in games.names() if name.startswith(("gomoku", "standard", "caro", "renju"))
    ]
