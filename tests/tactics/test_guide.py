"""The guide of UCT: nobody overlooks a row, and every game it plays is a legal one."""

import numpy as np
import pytest

from tengen import games
from tengen.games.game import Game, State
from tengen.games.position import Position
from tengen.games.randomness import new_random
from tengen.tactics.guide import guided

NAMES = ["gomoku6", "gomoku9", "standard15", "caro15", "caro15-exact", "renju15", "connect4"]


def rules_of(game: Game) -> Game:
    rules = guided(game)
    assert rules is not None
    return rules


def winning(position: Position, player: int) -> set[int]:
    """By the rules alone: where would this player win at once, were it their move?"""
    found = set()
    for action in position.legal_actions:
        state = position.state.copy()
        state[-1] = player
        is_over, value = position.game.outcome(position.game.after(state, action))
        if is_over and value < 0:
            found.add(action)
    return found


def random_positions(name: str, count: int, seed: int) -> list[Position]:
    """Random games, stones not far apart, so that there are threats."""
    random = np.random.default_rng(seed)
    found: list[Position] = []
    while len(found) < count:
        position = Position.start(name)
        near = position.game.rows // 2 - 2, position.game.rows // 2 + 3
        for _ in range(int(random.integers(4, 24))):
            cells = [
                a
                for a in position.legal_actions
                if name == "connect4" or all(near[0] <= x < near[1] for x in divmod(a, position.game.cols))
            ]
            if not cells or position.is_over:
                break
            position = position.play(int(random.choice(cells)))
        if not position.is_over:
            found.append(position)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_moves_are_wins_or_else_blocks(name: str) -> None:
    seen = {"win": 0, "block": 0, "free": 0}
    for position in random_positions(name, 150, seed=1):
        left, legal = moves_left(position), set(position.legal_actions)
        wins, blocks = winning(position, position.to_move), winning(position, 3 - position.to_move)
        assert left and left <= legal
        if wins:
            assert left <= wins if name == "connect4" else left == wins
            seen["win"] += 1
        elif blocks:
            assert left <= blocks
            seen["block"] += 1
        else:
            seen["free"] += 1
            if name != "connect4":
                assert all(is_near(position, action) for action in left)
    assert min(seen.values()) > 5


@pytest.mark.parametrize("name", ["gomoku6", "gomoku9", "standard15"])
def test_then_double_threats_count_mine_before_the_opponents(name: str) -> None:
    seen = {"mine": 0, "theirs": 0, "quiet": 0}
    for position in random_positions(name, 150, seed=4):
        me = position.to_move
        if winning(position, 1) or winning(position, 2):
            continue
        left, near = moves_left(position), {a for a in position.legal_actions if is_near(position, a)}
        mine = {a for a in near if len(threats_after(position, a, me)) >= 2}
        theirs = {a for a in near if len(threats_after(position, a, 3 - me)) >= 2}
        if mine:
            assert left == mine
            seen["mine"] += 1
        elif theirs:
            fours = {a for a in near if threats_after(position, a, me)}
            assert fours <= left and theirs & left, "our fours, and the point itself, are always tried"
            seen["theirs"] += 1
        else:
            assert len(left) == min(16, len(near))
            seen["quiet"] += 1
    assert min(seen.values()) > 5


def threats_after(position: Position, action: int, player: int) -> set[int]:
    """By the rules alone: where this player would win, given a stone on a point."""
    state = position.state.copy()
    state[-1] = player
    after = Position(position.game, position.game.after(state, action))
    return winning(after, player)


def moves_left(position: Position) -> set[int]:
    return set(np.flatnonzero(rules_of(position.game).legal_mask(position.state.copy())).tolist())


def test_quiet_positions_keep_the_busiest_points() -> None:
    position = Position.from_moves("gomoku15", "h8 h9 i8 a1")
    names = {position.game.moves.name(action) for action in moves_left(position)}
    assert {"g8", "j8", "f8", "k8"} <= names and not {"a3", "c1", "b3"} & names


def is_near(position: Position, action: int) -> bool:
    cells = position.state[position.game.cells].reshape(position.game.rows, position.game.cols)
    row, col = divmod(action, position.game.cols)
    around = cells[max(0, row - 2) : row + 3, max(0, col - 2) : col + 3]
    return bool(((around == 1) | (around == 2)).any())


@pytest.mark.parametrize("name", NAMES)
def test_rollouts_end_as_the_rules_say(name: str) -> None:
    """The final board, set up by hand, has the result that the rollout wrote."""
    random = new_random(5)
    game = games.find(name)
    rules = rules_of(game)
    results = []
    for position in random_positions(name, 60, seed=2):
        state: State = position.state.copy()
        assert rules.rollout is not None
        rules.rollout(state, random)
        is_over, value = game.outcome(state)
        assert is_over
        cells, before = state[game.cells], position.state[game.cells]
        was_stone = (before == 1) | (before == 2)
        assert (cells[was_stone] == before[was_stone]).all()
        assert abs(int((cells == 1).sum()) - int((cells == 2).sum())) <= 1
        assert state[-4] == ((cells == 1) | (cells == 2)).sum()
        last = int(state[-2])
        if value != 0:  # whoever moved last won, by the last stone
            assert value < 0
            undone = state.copy()
            if name != "connect4":
                undone[game.cells][last] = 0
                undone = game.set_up(
                    [int(c) if c in (1, 2) else 0 for c in undone[game.cells]], 3 - int(state[-1])
                )
                assert game.outcome(game.after(undone, last))[0]
        results.append(value)
    assert len(results) == 60


@pytest.mark.parametrize("name", ["gomoku9", "connect4"])
def test_rollouts_take_a_win_and_block_a_threat(name: str) -> None:
    random = new_random(6)
    seen = 0
    for position in random_positions(name, 200, seed=3):
        wins = winning(position, position.to_move)
        if not wins:
            continue
        rules = rules_of(position.game)
        for _ in range(3):
            state = position.state.copy()
            assert rules.rollout is not None
            rules.rollout(state, random)
            assert int(state[-2]) in wins, "the game should have ended with the win at hand"
            seen += 1
    assert seen > 30


def test_there_is_no_guide_to_games_we_know_nothing_of() -> None:
    assert guided(games.find("othello6")) is None and guided(games.find("hex7")) is None
