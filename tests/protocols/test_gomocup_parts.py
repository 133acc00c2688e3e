"""The parts of the Gomocup engine: the time of a move, memory, boards, moves without a player; fuzzed lines."""

import random
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from tengen import games
from tengen.errors import UserError
from tengen.games import mnk
from tengen.games.position import Position
from tengen.protocols.gomocup import MOST_WAITING, Gomocup
from tengen.protocols.gomocup_board import BLOCKED, OWN, THEIRS, Board, View
from tengen.protocols.gomocup_player import Wanted, default_spec, position_of, search_mib, used_memory
from tengen.protocols.gomocup_quick import Quick
from tengen.protocols.gomocup_settings import Settings


def told(*lines: str) -> Settings:
    settings = Settings()
    for line in lines:
        settings, problem = settings.informed(line)
        assert not problem
    return settings


# Time and memory


@pytest.mark.parametrize(
    ("lines", "least", "most"),  # seconds of thinking
    [
        (["timeout_turn 5000"], 4.5, 4.9),
        (["timeout_turn 1000"], 0.85, 0.95),
        (["timeout_turn 100"], 0.05, 0.08),
        (["timeout_turn 0"], 0.05, 0.05),
        (["timeout_turn 5000", "time_left 120000"], 4.5, 4.9),
        (["timeout_turn 30000", "time_left 180000"], 5, 10),
        (["timeout_turn 30000", "timeout_match 180000"], 5, 10),
        (["timeout_turn 30000", "timeout_match 0"], 29, 29.9),
        (["timeout_turn 30000", "time_left 2147483647"], 29, 29.9),
        (["timeout_turn 5000", "time_left 1000"], 0.03, 0.1),
        (["timeout_turn 5000", "time_left 0"], 0.05, 0.05),
        (["timeout_turn 5000", "time_left -500"], 0.05, 0.05),
        (["timeout_turn 2000000", "max_node 1000"], 1999, 2000),
    ],
)
def test_the_time_of_a_move(lines: list[str], least: float, most: float) -> None:
    settings = told(*lines)
    seconds = settings.limit(passed=0.0).seconds
    assert seconds is not None and least <= seconds <= most
    assert seconds <= settings.latest


def test_a_move_that_began_late_ends_in_time() -> None:
    settings = told("timeout_turn 5000", "time_left 120000")
    for passed in (0.0, 1.0, 4.0, 4.7):
        seconds = settings.limit(passed).seconds
        assert seconds is not None and seconds >= 0.05 and passed + seconds <= 5.0


def test_a_whole_game_never_exceeds_its_time() -> None:
    """With a manager that says only once how long the game is."""
    settings, spent = told("timeout_turn 1000", "timeout_match 24000"), 0.0
    for _ in range(200):
        seconds = (settings.limit(0.0).seconds or 0.0) + 0.01
        spent, settings = spent + seconds, settings.after_move(seconds)
        if spent < 20:
            assert settings.latest < 24 - spent
    assert spent < 24 + 200 * 0.06
    assert (
        settings.restarted().limit(0.0).seconds
        == told("timeout_turn 1000", "timeout_match 24000").limit(0.0).seconds
    )


def test_the_rules() -> None:
    numbers = {
        0: "freestyle",
        1: "standard",
        2: "freestyle",
        3: "standard",
        4: "renju",
        8: "caro",
        9: "caro-exact",
    }
    for number, rule in numbers.items():
        assert told(f"rule {number}").rule == rule
        assert rule in mnk.RULES
    yixin = replace(told("rule 2"), is_yixin=True)  # also if the dialect shows itself later
    assert yixin.rule == "renju"
    assert replace(told("rule 6"), is_yixin=True).rule == "freestyle"
    assert replace(told("rule 4"), is_yixin=True).rule == "renju"


def test_memory_leaves_room_for_the_program() -> None:
    def mebibytes(used: int, allowed: int, asked: int = 0) -> int:
        return search_mib(Wanted("gomoku15", allowed * 10**6, asked), used * 10**6)

    assert told().allowed_memory == told("max_memory 0").allowed_memory == 350_000_000
    assert told("max_memory 83886080").allowed_memory == 83_886_080
    assert mebibytes(120, 350) > 150 and mebibytes(265, 350) < 50
    for used in (100, 200, 280):
        assert used + mebibytes(used, 350) * 2**20 / 10**6 < 350
    assert mebibytes(200, 80) == 16 and mebibytes(120, 5000) == 1024
    assert mebibytes(120, 350, asked=64) == 64 and mebibytes(280, 350, asked=64) < 64
    assert 20_000_000 < used_memory() < 4_000_000_000


NETWORKS = {
    "freestyle": "gomoku",
    "standard": "gomoku",
    "renju": "renju",
    "caro": "caro",
    "caro-exact": "caro",
}


def test_the_player_of_every_rule_is_a_network() -> None:
    for rule in mnk.RULES:
        for size in (5, 15, 20, 22):
            game = games.find(f"mnk:rows={size},cols={size},k=5,rule={rule}")
            spec = default_spec(game, 64, threads=2)
            assert spec.startswith(f"zero:zoo/{NETWORKS[rule]}") and spec.endswith(":memory=64,threads=2")
    assert default_spec(games.find("mnk:rows=9,cols=9,k=6"), 64, 1) == "alphabeta:vcf=yes,memory=64"


# Boards


def test_stones_in_their_order_are_a_game() -> None:
    game = games.find("mnk:rows=15,cols=15,k=5")
    position = position_of(View(15, 15, ((112, THEIRS), (113, OWN), (97, THEIRS))), game)
    assert position.actions == [112, 113, 97] and position.to_move == 2
    mixed = position_of(View(15, 15, ((112, THEIRS), (97, THEIRS), (113, OWN))), game)
    assert mixed.actions == [] and mixed.to_move == 2
    assert list(mixed.state[game.cells]) == list(position.state[game.cells])


def test_the_color_of_odd_boards_is_that_of_the_first_stone() -> None:
    assert View(15, 15, ()).own_color == 1
    assert View(15, 15, ((0, OWN), (1, OWN), (2, OWN), (3, THEIRS))).own_color == 1
    assert View(15, 15, ((0, THEIRS), (1, THEIRS), (2, THEIRS), (3, OWN))).own_color == 2


def test_a_foul_on_the_board_is_taken_as_it_is() -> None:
    """The opponent played a double-three, and the manager goes on."""
    game = games.find("mnk:rows=15,cols=15,k=5,rule=renju")
    foul = Position.from_moves(game, "h8 a1 h9 a3 i10 a5 j10 a7")
    cell = game.moves.action("h10")
    assert not foul.legal_mask[cell]
    stones = [(action, THEIRS if i % 2 == 0 else OWN) for i, action in enumerate([*foul.actions, cell])]
    position = position_of(View(15, 15, tuple(stones)), game)
    assert position.to_move == 2 and not position.is_over and position.state[game.cells][cell] == 1


def test_blocked_cells_never_make_a_row() -> None:
    everywhere = View(15, 15, tuple((cell, BLOCKED) for cell in range(225)))
    quick = Quick(15, 15, everywhere.cells, "freestyle")
    assert not any(
        quick._is_row(cell, everywhere.cells[cell], *way)
        for cell in range(225)
        for way in ((0, 1), (1, 0), (1, 1), (1, -1))
    )


def test_points_stay_what_the_manager_wrote() -> None:
    board = Board(20, 10)
    board.put((19, 3), THEIRS)
    assert board.view(rows_first=False) == View(10, 20, ((3 * 20 + 19, THEIRS),))
    assert board.view(rows_first=True) == View(20, 10, ((19 * 10 + 3, THEIRS),))
    for rows_first in (False, True):
        ((cell, _),) = board.view(rows_first).stones
        assert board.point(cell, rows_first) == (19, 3)
    with pytest.raises(UserError, match="from 0,0 to 19,9, got 3,19"):
        board.put((3, 19), OWN)


# Moves without a player


def quick_move(game: str, moves: str) -> str:
    position = Position.from_moves(game, moves)
    rules = position.game
    cells = [int(cell) % 3 for cell in position.state[rules.cells]]
    cell = Quick(rules.rows, rules.cols, cells, mnk.RULES[rules.header[3]]).best_cell(position.to_move)
    assert cell is not None
    return rules.moves.name(cell)


def test_it_wins_prevents_and_builds() -> None:
    assert quick_move("gomoku15", "") == "h8"
    assert quick_move("gomoku15", "h8h9i8i9j8j9k8k9") in ("g8", "l8")
    assert quick_move("gomoku15", "h8a1i8a3j8a15k8") in ("g8", "l8")
    assert quick_move("gomoku15", "h8h9i8a1j8") in ("g8", "k8", "f8", "l8")
    assert quick_move("standard15", "h8h9i8h10g8h11j13h12g14h14i15") in ("f8", "j8")
    assert quick_move("caro15", "h8f8g8f9i8f7j8l8") in ("f5", "f6", "f10", "f11")


@pytest.mark.parametrize("rule", mnk.RULES)
def test_it_is_legal_and_never_misses_a_row_in_random_games(rule: str) -> None:
    rules, chance = games.find(f"mnk:rows=10,cols=12,k=5,rule={rule}"), np.random.default_rng(1)
    assert rules.wins is not None
    for _ in range(2):
        position = Position.start(rules)
        while not position.is_over:
            cells = [int(cell) % 3 for cell in position.state[rules.cells]]
            quick = Quick(rules.rows, rules.cols, cells, rule)
            wins = {action for action in position.legal_actions if rules.wins(position._state, action)}
            assert wins == {
                action for action in position.legal_actions if quick.wins(action, position.to_move)
            }
            cell = quick.best_cell(position.to_move)
            assert cell is not None and position.legal_mask[cell], position.text()
            assert not wins or cell in wins
            position = position.play(int(chance.choice(position.legal_actions)))


# Fuzzed lines

WORDS = [
    *("START", "RECTSTART", "RESTART", "BEGIN", "TURN", "BOARD", "DONE", "INFO", "ABOUT", "TAKEBACK", "PLAY"),
    *(
        "SWAP2BOARD",
        "YXBOARD",
        "YXSTOP",
        "STOP",
        "YXSHOWFORBID",
        "YXNBEST",
        "YXSHOWINFO",
        "yxblock",
        "OK",
        "",
    ),
]
KEYS = [
    "timeout_turn",
    "timeout_match",
    "time_left",
    "max_memory",
    "rule",
    "max_node",
    "max_depth",
    "thread_num",
]


def fuzzed_lines(count: int, chance: random.Random) -> Iterator[bytes]:
    yield b"INFO timeout_turn 0"
    for _ in range(count):
        yield fuzzed_line(chance)


def fuzzed_line(chance: random.Random) -> bytes:
    """A line that makes sense more or less."""

    def number() -> str:
        large = str(chance.randrange(10 ** chance.choice((3, 12, 40))))
        return chance.choice((str(chance.randrange(-2, 24)), str(chance.randrange(15)), "15", large))

    kind = chance.randrange(12)
    if kind == 0:
        return chance.randbytes(chance.randrange(40)).replace(b"\n", b"")
    if kind == 1:
        return f"START {chance.choice(('5', '6', '8', '15', number()))}".encode()
    if kind < 5:
        return ",".join(number() for _ in range(chance.choice((2, 3, 3, 3, 4)))).encode()
    if kind < 7:
        return f"TURN {chance.randrange(15)},{chance.randrange(15)}".encode()
    if kind == 7:  # time stays short
        return f"INFO {chance.choice(KEYS[1:])} {number()}".encode()
    separators = (" ", ",", "  ", "\t", ", ", ";")
    text = (
        chance.choice(WORDS)
        + " "
        + chance.choice(separators).join(number() for _ in range(chance.randrange(4)))
    )
    text = "".join(chance.choice("xX,-0 ") if chance.random() < 0.02 else letter for letter in text)
    return chance.choice((text, text.lower(), text + "\r")).encode()


def run_fuzzed(count: int, seed: int) -> list[str]:
    said: list[str] = []
    engine = Gomocup(fuzzed_lines(count, random.Random(seed)), said.append, "greedy")
    engine.run()  # an exception in a thread fails the test too
    assert engine._room._value >= MOST_WAITING  # every line was answered
    return said


def test_fuzzed_lines() -> None:
    said = run_fuzzed(4000, seed=1)
    assert len(said) > 2000 and all(line.isascii() and line.isprintable() for line in said)
    kinds = {line.split()[0] for line in said if not line[0].isdigit()}
    assert {"OK", "ERROR", "UNKNOWN", "MESSAGE", "DEBUG", "FORBID"} <= kinds
    assert sum(line[0].isdigit() for line in said) > 100


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_hundred_thousand_fuzzed_lines() -> None:
    for seed in range(2, 12):
        run_fuzzed(10_000, seed)
