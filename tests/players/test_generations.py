"""Greedy, minimax and alpha-beta: what each must see, and that pruning changes nothing."""

import subprocess
import sys
import time
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tengen.errors import UserError
from tengen.games import find
from tengen.games.position import Position
from tengen.players.alphabeta import AlphaBeta
from tengen.players.greedy import Greedy
from tengen.players.minimax import Minimax
from tengen.players.player import Player
from tengen.tactics.evaluation import SURE, evaluate_board, squash
from tengen.tactics.lines import Lines, new_lines, place, remove, set_up

KINDS: list[type[Player]] = [Greedy, Minimax, AlphaBeta]
GAMES = ["gomoku15", "standard15", "caro15", "caro15-exact", "renju15", "gomoku6", "tictactoe"]


def drawn(game: str, board: str, to_move: int) -> Position:
    """A position from rows of `.XO`, put in the middle of the board."""
    rules = find(game)
    cells = np.zeros((rules.rows, rules.cols), int)
    rows = board.split()
    top, left = (rules.rows - len(rows)) // 2, (rules.cols - len(rows[0])) // 2
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            cells[top + i, left + j] = ".XO".index(cell) if cell in ".XO" else 0
    return Position.from_cells(rules, cells.ravel(), to_move)


def marks(board: str, game: str) -> set[int]:
    """The cells drawn as *."""
    rules, rows = find(game), board.split()
    top, left = (rules.rows - len(rows)) // 2, (rules.cols - len(rows[0])) // 2
    return {
        (top + i) * rules.cols + left + j
        for i, row in enumerate(rows)
        for j, cell in enumerate(row)
        if cell == "*"
    }


def swapped(board: str) -> str:
    return board.translate(str.maketrans("XO", "OX"))


MUST_PLAY = {  # X is to move; * is where it must play
    "completes a five rather than stop one": """
        .........
        .OXXXX*..
        .OOOO.X..
        .........""",
    "stops a five": """
        .........
        .XOOOO*..
        ...XX.X..
        .........""",
    "fills the gap of a five": """
        .........
        ..XX*XX..
        ..OOO....
        .........""",
    "makes an open four": """
        ..........
        ..*XXX*...
        ...OOX.O..
        ..........""",
    "stops an open four": """
        ..........
        ..*OOO*...
        ...X......
        .....X....
        ..........""",
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", MUST_PLAY)
@pytest.mark.parametrize("me", [1, 2])
@pytest.mark.parametrize("game", ["gomoku15", "caro15"])
def test_every_generation_sees_fives_and_open_fours(
    kind: type[Player], what: str, me: int, game: str
) -> None:
    board = MUST_PLAY[what]
    position = drawn(game, board if me == 1 else swapped(board), me)
    expected = marks(board, game)
    if what == "stops an open four":  # a stone one further away does it too
        expected |= {min(expected) - 1, max(expected) + 1}
    if what == "stops a five" and game == "caro15":  # or at its end: a five blocked at both ends does not win
        expected |= {max(expected) + 1}
    player = kind(position.game)
    for seed in range(3):
        player.new_game(seed)
        assert player.choose(position).action in expected


def slow_negamax(lines: Lines, position: Position, depth: int, ply: int = 0) -> int:
    """The value by the rules of the game and the evaluation alone: nothing forced, nothing cut."""
    me = position.to_move
    if position.is_over:
        return 0 if position.winner is None else -(1_000_000 - ply)
    set_up(lines, position.state.copy())
    value = int(evaluate_board(lines, me))
    if ply > 0 and (depth == 0 or abs(value) > SURE):
        return value - ply if value > SURE else value + ply if value < -SURE else value
    cells = position.state[position.game.cells].reshape(position.game.rows, position.game.cols)
    stones = np.argwhere((cells == 1) | (cells == 2))
    best = -1_000_000
    for action in position.legal_actions:
        row, col = divmod(action, position.game.cols)
        if np.abs(stones - (row, col)).max(axis=1).min() <= 2:
            best = max(best, -slow_negamax(lines, position.play(action), depth - 1, ply + 1))
    return best


def random_position(game: str, seed: int, num_stones: int) -> Position:
    """Stones close together, not over; nobody to win at once."""
    random = np.random.default_rng(seed)
    rules = find(game)
    lines = new_lines(rules)
    while True:
        position = Position.start(rules)
        while not position.is_over and len(position.actions) < num_stones:
            near = [
                action
                for action in position.legal_actions
                if max(
                    abs(action // rules.cols - rules.rows // 2), abs(action % rules.cols - rules.cols // 2)
                )
                <= 3
            ]
            position = position.play(int(random.choice(near)))
        set_up(lines, position.state.copy())
        if not position.is_over and abs(evaluate_board(lines, position.to_move)) < SURE:
            return position


@pytest.mark.parametrize("game", GAMES)
def test_pruning_changes_no_value(game: str) -> None:
    """Minimax and alpha-beta agree at every depth, and with a slow search at depth 2."""
    rules = find(game)
    lines = new_lines(rules)
    sizes = {"tictactoe": range(1, 4), "gomoku6": range(4, 12)}.get(game, range(6, 30, 3))
    for seed, num_stones in enumerate(sizes):
        position = random_position(game, seed, num_stones)
        for depth in (1, 2, 3) if seed % 4 == 0 else (1, 2):
            pruned, plain = AlphaBeta(rules, depth=depth, plain=True), Minimax(rules, depth=depth)
            found = pruned.choose(position)
            assert found.value == plain.choose(position).value
            assert found.action == found.line[0]
            if depth == 2 and seed < 2:
                assert found.value == squash(slow_negamax(lines, position, depth))
                after = slow_negamax(lines, position.play(found.action), depth - 1, 1)
                assert squash(-after) == found.value


def test_tictactoe_is_a_draw() -> None:
    game = find("tictactoe")
    position = Position.from_moves(game, [4])
    assert AlphaBeta(game, depth=9).choose(position).value == 0
    while not position.is_over:
        position = position.play(AlphaBeta(game, depth=9).choose(position).action)
    assert position.winner is None


WINS_BY_FORCE = """
    ...........
    ....O......
    ...OXXX....
    .......X...
    .......X...
    .....O.X...
    .......O...
    ..........."""


def test_alphabeta_finds_a_win_by_force_and_the_sooner_one_first() -> None:
    """Two fours cross; the line shown ends in the win, and each reply in it is forced."""
    for me in (1, 2):
        position = drawn("gomoku15", WINS_BY_FORCE if me == 1 else swapped(WINS_BY_FORCE), me)
        choice = AlphaBeta(position.game, depth=6).choose(position)
        assert choice.value == 1.0
        player = AlphaBeta(position.game, depth=6)
        while not position.is_over:
            position = position.play(player.choose(position).action)
        assert position.winner == me and len(position.actions) <= 5


def test_the_loser_holds_out_as_long_as_possible() -> None:
    board = """
        .........
        .*OOOO*..
        ..XX.....
        ........."""
    position = drawn("gomoku15", board, 1)
    choice = AlphaBeta(position.game, depth=4).choose(position)
    assert choice.value == -1.0 and choice.action in marks(board, "gomoku15")


@pytest.mark.parametrize("kind", KINDS)
def test_no_player_plays_a_forbidden_point(kind: type[Player]) -> None:
    """Position.play refuses them; crowded boards have many."""
    game = find("renju15")
    player = kind(game) if kind is not AlphaBeta else AlphaBeta(game, depth=3)
    for seed in range(12):
        position = random_position("renju15", seed, 16 + seed)
        player.new_game(seed)
        for _ in range(6):
            if not position.is_over:
                position = position.play(player.choose(position).action)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("game", ["gomoku6", "gomoku9", "tictactoe", "renju15", "gomoku20"])
def test_a_game_depends_on_the_seed_alone(kind: type[Player], game: str) -> None:
    def play(seed: int) -> list[int]:
        position = Position.start(game)
        player = kind(position.game) if kind is not AlphaBeta else AlphaBeta(position.game, depth=2)
        player.new_game(seed)
        while not position.is_over and len(position.actions) < 24:
            choice = player.choose(position)
            assert choice.value is not None and -1 <= choice.value <= 1
            position = position.play(choice.action)
        return position.actions

    assert play(1) == play(1)


def test_seeds_vary_the_play_of_equals() -> None:
    position = Position.from_moves("gomoku15", "h8")
    for player in (Greedy(position.game), Minimax(position.game), AlphaBeta(position.game, depth=2)):
        replies = set()
        for seed in range(12):
            player.new_game(seed)
            replies.add(player.choose(position).action)
        assert len(replies) > 1


@pytest.mark.parametrize("kind", [Minimax, AlphaBeta])
def test_the_time_limit_is_kept_and_used(kind: type[Minimax] | type[AlphaBeta]) -> None:
    position = random_position("gomoku15", 1, 16)
    kind(position.game, depth=2).choose(position)  # compiled
    player = kind(position.game, seconds=0.3)
    late = []
    for _ in range(3):
        player.new_game(1)
        began = time.perf_counter()
        choice = player.choose(position)
        late.append(time.perf_counter() - began - 0.3)
    assert min(late) < 0.05  # the machine may be busy, not three times
    assert "depth" in choice.note and position.legal_mask[choice.action]


def test_deeper_is_searched_one_ply_at_a_time() -> None:
    position = random_position("gomoku15", 3, 14)
    nodes = []
    for depth in range(1, 6):
        player = AlphaBeta(position.game, depth=depth, plain=True)
        choice = player.choose(position)
        nodes.append(player.nodes)
        assert choice.note == f"depth {depth}, {player.nodes:,} nodes" and len(choice.line) <= depth
        for action in choice.line:
            assert position.game.legal_mask(position.state.copy())[action]
    assert all(fewer < more for fewer, more in pairwise(nodes))


@pytest.mark.parametrize(
    ("kind", "game", "message"),
    [
        (AlphaBeta, "othello8", "player 'alphabeta' plays five-in-a-row games (mnk), not othello8"),
        (Minimax, "connect4", "player 'minimax' plays five-in-a-row games (mnk), not connect4"),
        (
            Greedy,
            "mnk:rows=9,cols=9,k=8",
            "player 'greedy' plays 3 to 6 in a row, mnk:rows=9,cols=9,k=8 has k=8",
        ),
    ],
)
def test_other_games_are_refused(kind: type[Player], game: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        kind(find(game))
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"depth": 0}, "player 'alphabeta': depth is 1-40, got 0"),
        ({"seconds": 0.0}, "player 'alphabeta': seconds is more than 0, got 0.0"),
        ({"memory": 0}, "player 'alphabeta': memory is 1 MiB or more, got 0"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as error:
        AlphaBeta(find("gomoku15"), **settings)
    assert str(error.value) == message


def test_evaluation_after_taking_back_is_the_same() -> None:
    position = random_position("gomoku15", 5, 20)
    lines = new_lines(position.game)
    set_up(lines, position.state.copy())
    arrays: list[Any] = list(lines)
    before = [array.copy() for array in arrays]
    for action in position.legal_actions[:30]:
        place(lines, action, 1)
        remove(lines, action)
    assert all(np.array_equal(now, then) for now, then in zip(arrays, before, strict=True))


def test_greedy_compiles_before_its_first_move() -> None:
    """Else it loses its first game with a clock."""
    code = (
        "from tengen import games, players\nfrom tengen.tactics import evaluation, lines\n"
        "player = players.find('greedy', games.find('gomoku9'))\nplayer.prepare()\n"
        "print(len(lines.set_up.overloads), len(evaluation.evaluate_board.overloads))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=200, check=True
    )
    assert "0" not in done.stdout.split()
