"""Wins by threats: composed positions, and every claim checked by the rules alone."""

import numpy as np
import pytest

from tengen import games
from tengen.errors import UserError
from tengen.games.game import Game, State
from tengen.games.position import Position
from tengen.tactics import threats, vct
from tengen.tactics.vct import find_vct
from tests.tactics.test_fours import sharp_positions

RULES = ("freestyle", "standard", "caro", "caro-exact", "renju")

# The top left corner of a 15×15 board, the rest is empty. Below: who moves, and what is found.
COMPOSED = {
    "two threes at one point": """
        . . . . . . . . .
        . . . . . . . . .
        . . . . X . . . .
        . . . . X . . . .
        . . X X . . . . .
        . . . . . . . . .
        . . . . . . . . .
        X: freestyle found, standard found, caro found, caro-exact found
    """,
    "two threes at one point, for white": """
        . . . . . . . . .
        . . . . . . . . .
        . . . . O . . . .
        . . . . O . . . .
        . . O O . . . . .
        . . . . . . . . .
        . . . . . . . . .
        O: freestyle found, standard found, caro found, caro-exact found, renju found
    """,
    "the defender has a four": """
        . . . . . . . . . . .
        . . . . . . . . . . .
        . . . . X . . . . O .
        . . . . X . . . . O .
        . . X X . . . . . O .
        . . . . . . . . . O .
        . . . . . . . . . X .
        X: freestyle none, standard none
    """,
    "a three and nothing more": """
        . . . . . . . .
        . . . . . . . .
        . . . X X . . .
        . . . . . . . .
        X: freestyle none, caro none, renju none
    """,
}


def composed() -> list[tuple[str, str, int, str]]:
    """(name, rule, player to move, expected status) for every entry of COMPOSED."""
    cases = []
    for name, drawing in COMPOSED.items():
        player, answers = drawing.strip().splitlines()[-1].strip().split(": ")
        for answer in answers.split(", "):
            rule, expected = answer.split()
            cases.append((name, rule, "XO".index(player) + 1, expected))
    return cases


@pytest.mark.parametrize(("name", "rule", "to_move", "expected"), composed())
def test_composed(name: str, rule: str, to_move: int, expected: str) -> None:
    cells = np.zeros((15, 15), np.int16)
    rows = [line.split() for line in COMPOSED[name].strip().splitlines() if ":" not in line]
    for row, line in enumerate(rows):
        cells[row, : len(line)] = [".XO".index(cell) for cell in line]
    game = games.find(f"mnk:rows=15,cols=15,k=5,rule={rule}")
    position = Position.from_cells(game, [int(cell) for cell in cells.ravel()], to_move)
    found = find_vct(position, game)
    assert found.status == expected
    if expected == "found":
        Strategy(game).check(position)


@pytest.mark.parametrize("rule", RULES)
def test_wins_hold_against_every_reply(rule: str) -> None:
    game = games.find(f"mnk:rows=15,cols=15,k=5,rule={rule}")
    strategy, work = Strategy(game), vct.new_work(game)
    num_wins = 0
    for position in sharp_positions(game, 40, seed=11):
        if threats.find_win(position, game, work=strategy.fours).status == "found":
            continue
        found = look(work, position, 1500)
        if found.status == "found":
            num_wins += 1
            strategy.check(position)
    assert num_wins >= 2


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("rows", "cols", "k"), [(4, 5, 4), (5, 5, 4), (6, 6, 5)])
def test_what_is_found_is_won_by_exhaustive_search(rule: str, rows: int, cols: int, k: int) -> None:
    """Positions with few empty cells, solved to the end in plain Python: all moves, all replies."""
    game = games.find(f"mnk:rows={rows},cols={cols},k={5 if rule == 'renju' else k},rule={rule}")
    work, known = vct.new_work(game, table_bits=10), dict[bytes, int]()
    rng = np.random.default_rng([rows, *map(ord, rule)])
    num_found = 0
    for _ in range(400):
        cells = np.zeros(rows * cols, np.int16)
        num_stones = int(rng.integers(rows * cols - 10, rows * cols - 5))
        cells[rng.permutation(rows * cols)[:num_stones]] = 1 + np.arange(num_stones) % 2
        position = Position(game, game.set_up(cells, 1 + num_stones % 2))
        if position.is_over:
            continue
        found = look(work, position, 1000)
        if found.status == "found":
            num_found += 1
            assert value(game, position.state, known) == 1, position.text()
    assert num_found >= 5


@pytest.mark.parametrize("name", ["gomoku15", "caro15", "renju15"])
def test_the_distance_is_kept_and_the_line_is_legal(name: str) -> None:
    game = games.find(name)
    work, num_found = vct.new_work(game), 0
    for position in sharp_positions(game, 40, seed=12):
        before = work.lines.state.copy()
        found = look(work, position, 2000)
        if found.status != "found":
            assert found.line == () and found.plies == 0
            continue
        num_found += 1
        assert found.plies % 2 == 1 and len(found.line) <= found.plies
        for action in found.line:
            assert not position.is_over
            position = position.play(action)
        assert np.array_equal(before[:4], work.lines.state[:4])
    assert num_found >= 10


def test_in_slices_it_comes_to_the_same_end() -> None:
    game = games.find("gomoku15")
    work, sliced = vct.new_work(game), vct.new_work(game)
    num_found = 0
    for position in sharp_positions(game, 30, seed=13):
        whole = look(work, position, 3000)
        vct.forget(sliced)
        vct.begin(sliced, position)
        for _ in range(400):
            if vct.advance(sliced, 20) != vct.OPEN:
                break
        found = vct.result(sliced)
        if "unknown" not in (whole.status, found.status):
            assert found.status == whole.status
        num_found += found.status == "found"
        assert look(work, position, 3000) == whole  # the same again
    assert num_found >= 5


def test_moves_do_not_push_each_other_out_of_the_table_for_ever() -> None:
    """In this position two moves had the same place in the table, and two million nodes found nothing."""
    game = games.find("caro15-exact")
    cells = np.zeros(game.num_actions, np.int16)
    for stone, moves in ((1, "h14 g10 d9 j7 e6 h4"), (2, "i13 h10 g9 j9 i8")):
        cells[[game.moves.action(move) for move in moves.split()]] = stone
    position = Position(game, game.set_up(cells, 2))
    assert find_vct(position, game).status == "found"
    assert look(vct.new_work(game, table_bits=6), position, 20_000).nodes <= 20_100


def test_finished_games_and_games_without_threes() -> None:
    position = Position.from_moves("gomoku9", "a1 a2 b1 b2 c1 c2 d1 d2 e1")
    assert position.is_over and find_vct(position, position.game).status == "none"
    with pytest.raises(UserError, match="hex7 has no threes"):
        find_vct(Position.start("hex7"), games.find("hex7"))


def look(work: vct.Work, position: Position, max_nodes: int) -> vct.VctResult:
    """The answer of new memory."""
    vct.forget(work)
    vct.begin(work, position)
    vct.advance(work, max_nodes)
    return vct.result(work)


class Strategy:
    """Plays what the search finds, against every legal reply."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.fours, self.threats = threats.new_work(game), vct.new_work(game)
        self.known: set[bytes] = set()  # positions that were checked

    def check(self, position: Position) -> None:
        """After each reply the position is still found won, by fours (which have their own tests) or threats."""
        key = position.state[self.game.cells].tobytes()
        if key in self.known:
            return
        self.known.add(key)
        if threats.find_win(position, self.game, work=self.fours).status == "found":
            return
        found = look(self.threats, position, 100_000)
        assert found.status == "found", position.text()
        after = position.play(found.line[0])
        for reply in after.legal_actions:
            replied = after.play(reply)
            assert not replied.is_over, f"{found}, reply {reply}\n{position}"
            self.check(replied)


def value(game: Game, state: State, known: dict[bytes, int]) -> int:
    """The result for the player to move: 1 won, 0 drawn, -1 lost. Every move, to the end."""
    is_over, result = game.outcome(state)
    if is_over:
        return int(result)
    key = state[game.cells].tobytes()
    if key not in known:
        best = -1
        for action in np.flatnonzero(game.legal_mask(state)):
            best = max(best, -value(game, game.after(state, int(action)), known))
            if best == 1:
                break
        known[key] = best
    return known[key]
