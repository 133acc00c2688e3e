"""Wins by fours: composed positions, every win replayed against all defences, none missed by the kernels."""

import numpy as np
import pytest

from tengen import games
from tengen.errors import UserError
from tengen.games.game import Game, State
from tengen.games.position import Position
from tengen.tactics import threats
from tengen.tactics.rows import winning_moves, winning_moves_near
from tengen.tactics.threats import find_win, new_work
from tengen.tactics.windows import WINS, Work

RULES = ("freestyle", "standard", "caro", "caro-exact", "renju")

# The top left corner of a 15×15 board, the rest is empty. Below: who moves, and for some rules what is
# certain; a number is the depth of a win.
COMPOSED = {
    "open three": """
        . . . . . . .
        . . X X X . .
        X: freestyle 2, standard 2, caro 2, caro-exact 2, renju 2
        O: freestyle none, renju none
    """,
    "open four": """
        . . . . . . .
        . . X X X X .
        X: freestyle 1, standard 1, caro 1, caro-exact 1, renju 1
        O: freestyle none, renju none
    """,
    "two fours at one point": """
        . . . . O . .
        . . . . X . .
        . . . . X . .
        . . . . X . .
        O X X X . . .
        X: freestyle 2, standard 2, caro 2, caro-exact 2, renju none
    """,
    "two fours at one point, for white": """
        . . . . X . .
        . . . . O . .
        . . . . O . .
        . . . . O . .
        X O O O . . .
        O: freestyle 2, standard 2, caro 2, caro-exact 2, renju 2
    """,
    "a four, then a straight four": """
        . . . . . . . .
        . . . . . . . .
        . . . . X . . .
        . . . . X . . .
        O X X X . . . .
        X: freestyle 3, standard 3, caro 3, caro-exact 3, renju 3
    """,
    "twelve moves": """
        . . O O . . . X .
        O . . . . X . . .
        X X O . O . . O .
        X . O . O . . . .
        X . X . . O X . .
        . . . . . . O . .
        . X . X . X O . .
        . . . . . . X O .
        X: freestyle 12
    """,
    "two blocks make a four, and each time stopping it makes one again": """
        . O . X O . O . .
        . . . X . O . . .
        X . . X . X . X .
        . O . . . . . X .
        . O O . O . . . .
        . X . . . . . . .
        X X . O . . . . .
        . . . . . . . O .
        X: freestyle 9
    """,
    "the block makes a straight four": """
        . . . . . . . .
        . . . . . O . .
        . . . . X O . .
        . . . . X O . .
        O X X X . . . .
        X: freestyle none, standard none, caro none, caro-exact none, renju none
    """,
    "caro can block beyond the five, and makes a straight four there": """
        . . . . . . . .
        . . . . . . O .
        . . . . X . O .
        . . . . X . O .
        O X X X . . . .
        X: freestyle 3, standard 3, caro none, caro-exact none, renju 3
    """,
    "a five between two stones is none in caro": """
        . . . . O . . . .
        . . . . X . . . .
        . . . . X . . . .
        . . . . X . . . .
        O X X X . . O . .
        X: freestyle 2, standard 2, caro none, caro-exact none, renju none
    """,
    "six are no five": """
        . . . . O . . . .
        . . . . X . . . .
        . . . . X . . . .
        . . . . X . . . .
        O X X X . . X O .
        X: freestyle 2, standard none, caro 2, caro-exact none, renju none
    """,
    "the block is an overline": """
        . . . . . X .
        . . . . . X .
        . . . . . X .
        X O O O . . .
        . . . . . X .
        . . . . . X .
        O: standard none, renju 2
    """,
    "the block is a double-three": """
        . . . . . . . . .
        . . . . . . . . .
        . . . . . X . . .
        . . . . . X . . .
        X O O O . . X X .
        . . . . . . X . .
        . . . . . . . X .
        . . . . . . . . .
        O: standard none, renju 2
    """,
}


def composed() -> list[tuple[str, str, int, str]]:
    """(name, rule, player to move, expected) for every entry of COMPOSED."""
    cases = []
    for name, drawing in COMPOSED.items():
        for line in drawing.splitlines():
            if ":" in line:
                player, answers = line.strip().split(": ")
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
    game = named(15, 15, 5, rule)
    position = Position.from_cells(game, [int(cell) for cell in cells.ravel()], to_move)
    result = find_win(position, game)
    assert (str(result.depth) if result.status == "found" else result.status) == expected
    if result.status == "found":
        check_line(position, result.line)
        check_strategy(position, result.depth, new_work(game))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("rows", "cols", "k"), [(6, 6, 4), (7, 7, 4), (8, 8, 5), (15, 15, 5)])
def test_wins_hold_against_every_reply(rule: str, rows: int, cols: int, k: int) -> None:
    game = named(rows, cols, 5 if rule == "renju" else k, rule)
    work = new_work(game)
    rng = np.random.default_rng([rows, k, *map(ord, rule)])
    wins = 0
    for _ in range(80 if rows < 15 else 40):
        position = random_position(game, rng)
        result = find_win(position, game, work=work)
        if result.status == "found":
            wins += result.depth > 1
            check_line(position, result.line)
            check_strategy(position, result.depth, work)
    assert wins >= 4


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("rows", "cols", "k"), [(3, 4, 2), (4, 5, 3), (6, 6, 4), (7, 7, 4), (6, 8, 5)])
def test_no_win_is_missed(rule: str, rows: int, cols: int, k: int) -> None:
    """The depth found is that of an exhaustive search over the definition of a four."""
    if rule == "renju":
        rows, cols, k = max(rows, 6), max(cols, 6), 5
    game = named(rows, cols, k, rule)
    rng = np.random.default_rng([rows, k, *map(ord, rule)])
    for _ in range(40):
        position = random_position(game, rng)
        result = find_win(position, game)
        known: dict[bytes, bool] = {}
        expected = next((d for d in range(1, 5) if wins_within(game, position.state.copy(), d, known)), 0)
        assert expected == (result.depth if result.depth < 5 else 0), f"{result}\n{position}"
        if result.depth > 1:
            assert find_win(position, game, max_depth=result.depth - 1).status == "unknown"


def test_limits() -> None:
    game = games.find("gomoku15")
    cells = np.zeros((15, 15), np.int16)
    cells[7, 5:8] = 1
    state = game.set_up(cells, 1)
    assert find_win(state, game, max_nodes=0).status == "unknown"
    assert find_win(state, game, max_depth=1).status == "unknown"
    assert find_win(state, game, max_depth=2).status == "found"
    assert find_win(game.new_state(), game).status == "none"
    with pytest.raises(UserError, match="hex7 has no fours"):
        find_win(Position.start("hex7"), games.find("hex7"))


@pytest.mark.parametrize("rule", RULES)
def test_in_slices_the_same_is_found_by_the_same_nodes(rule: str) -> None:
    game = named(15, 15, 5, rule)
    rng = np.random.default_rng([7, *map(ord, rule)])
    works = {num_nodes: new_work(game, table_bits=8) for num_nodes in (1, 3, 50)}
    interrupted = new_work(game, table_bits=8)
    slices = 0
    for _ in range(40):
        position = random_position(game, rng)
        expected = find_win(position, game, work=new_work(game, table_bits=8))
        for num_nodes, work in works.items():
            work.table[:] = 0
            threats.begin(work, position)
            while threats.advance(work, num_nodes) == threats.OPEN:
                slices += 1
                so_far = threats.result(work)
                assert so_far.status == "unknown" and so_far.nodes % num_nodes == 0 < so_far.nodes
            assert threats.result(work) == expected
        threats.begin(
            interrupted, random_position(game, rng)
        )  # left in the middle: the next is not disturbed
        threats.advance(interrupted, 5)
        found = find_win(position, game, work=interrupted)
        assert (found.status, found.depth) == (expected.status, expected.depth)
    assert slices > 100


def test_a_finished_game_holds_no_win() -> None:
    position = Position.from_moves("tictactoe", [0, 3, 1, 4, 2])
    assert position.is_over
    assert find_win(position, position.game) == threats.ThreatResult("none", (), 0, 0)


@pytest.mark.parametrize("rule", RULES)
def test_winning_moves_are_those_that_win(rule: str) -> None:
    game = named(8, 8, 5, rule)
    rng = np.random.default_rng(5)
    memory = new_work(game).memory
    out = memory[WINS:]
    for _ in range(100):
        position = random_position(game, rng)
        state, me = position.state.copy(), position.to_move
        expected = {a for a in position.legal_actions if position.play(a).winner == me}
        assert set(out[: winning_moves(state, me, memory, WINS)].tolist()) == expected
        found = set()
        for stone in np.flatnonzero(state[game.cells] == me):
            found |= set(out[: winning_moves_near(state, int(stone), me, memory, WINS)].tolist())
        assert found == expected


def named(rows: int, cols: int, k: int, rule: str) -> Game:
    return games.find(f"mnk:rows={rows},cols={cols},k={k},rule={rule}")


def random_position(game: Game, rng: np.random.Generator) -> Position:
    """Stones put at random, on a large board in the middle, of a game that is not over."""
    margin = max(0, (game.rows - 8) // 2)
    inside = np.zeros((game.rows, game.cols), bool)
    inside[margin : game.rows - margin, margin : game.cols - margin] = True
    room = np.flatnonzero(inside)
    while True:
        cells = np.zeros(inside.size, np.int16)
        chosen = rng.permutation(room)[: rng.integers(len(room) // 5, len(room) - 3)]
        cells[chosen] = 1 + np.arange(len(chosen)) % 2
        position = Position(game, game.set_up(cells, 1 + len(chosen) % 2))
        if not position.is_over:
            return position


def check_line(position: Position, line: tuple[int, ...]) -> None:
    """The line is legal and ends with the attacker's win."""
    attacker = position.to_move
    for action in line:
        position = position.play(action)
    assert position.winner == attacker


def check_strategy(position: Position, depth: int, work: Work) -> None:
    """Asking for the next move after every legal reply wins within so many moves, by the rules alone."""
    result = find_win(position, position.game, max_depth=depth, work=work)
    assert result.status == "found" and result.depth <= depth, position
    after = position.play(result.line[0])
    if result.depth == 1:
        assert after.winner == position.to_move
    else:
        assert not after.is_over
        for reply in after.legal_actions:
            replied = after.play(reply)
            assert not replied.is_over, f"{result}, reply {reply}\n{position}"
            check_strategy(replied, depth - 1, work)


def wins_within(game: Game, state: State, depth: int, known: dict[bytes, bool]) -> bool:
    """Does the player to move win by so many fours? By definition, with the rules alone."""
    if wins_at_once(game, state, known):
        return True
    if depth == 1:
        return False
    key = state[game.cells].tobytes() + bytes([depth])
    if key not in known:
        known[key] = any(
            is_four(game, after, known) and all(
                not game.outcome(replied)[0] and wins_within(game, replied, depth - 1, known)
                for replied in children(game, after)
            )
            for after in children(game, state)
        )  # fmt: skip
    return known[key]


def is_four(game: Game, after: State, known: dict[bytes, bool]) -> bool:
    """Would the player who has just moved win if it were his turn again?"""
    if game.outcome(after)[0]:
        return False
    cells = np.where(after[game.cells] == 3, 0, after[game.cells])
    return wins_at_once(game, game.set_up(cells, 3 - int(after[-1])), known)


def wins_at_once(game: Game, state: State, known: dict[bytes, bool]) -> bool:
    key = np.delete(state, -2).tobytes()
    if key not in known:
        known[key] = any(game.outcome(child) == (True, -1.0) for child in children(game, state))
    return known[key]


def children(game: Game, state: State) -> list[State]:
    return [game.after(state, int(action)) for action in np.flatnonzero(game.legal_mask(state))]
