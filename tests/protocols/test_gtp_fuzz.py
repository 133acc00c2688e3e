"""Fuzzed lines for `tengen gtp`: each command is answered once; no traceback, no hang."""

import random
import re
from collections.abc import Iterator

import pytest

from tengen.protocols.gtp import cleaned
from tests.protocols.talking import answered

WORDS = [
    "protocol_version", "name", "version", "known_command", "boardsize", "clear_board", "komi", "play", "play b", "play w", "genmove b", "genmove", "reg_genmove w", "undo", "showboard", "final_score", "time_settings", "time_left b", "clear_cache", "stop", "kata-analyze", "lz-analyze", "kata-genmove_analyze b", "gogui-rules_legal_moves", "gogui-rules_final_result", "rectangular_boardsize", "interval", "minmoves", "maxmoves", "ownership", "true",
    "a1", "b2", "c3", "A3", "d4", "i1", "pass", "resign", "b", "w", "black", "0", "1", "3", "4", "6", "10", "99", "-1", "1.5", "1e9", "nan", "99999999999999999999", "#", "quit!", "é", "x" * 500,
]  # fmt: skip


def fuzzed_lines(seed: int, count: int) -> Iterator[bytes]:
    """Commands with a few things changed, and rubbish."""
    chance = random.Random(seed)
    for number in range(count):
        if chance.random() < 0.02:
            yield chance.randbytes(chance.randint(1, 200)).replace(b"\n", b" ")
            continue
        words = [chance.choice(WORDS[:31])] if chance.random() < 0.9 else []
        words += [
            chance.choice(WORDS[31:] if chance.random() < 0.9 else WORDS) for _ in range(chance.randint(0, 3))
        ]
        if chance.random() < 0.3:
            words.insert(0, str(number))
        line = bytearray(" ".join(words).encode())
        if chance.random() < 0.2 and line:
            at = chance.randrange(len(line))
            line[at : at + chance.choice([0, 1])] = bytes([chance.randrange(256)])
        yield bytes(line.replace(b"\n", b" "))


def check_fuzzed(game: str, seed: int, count: int, seconds: float) -> None:
    """Every command is answered once, whatever it says. `uniform` does not use the time that it is given."""
    player = "uct:sims=3" if game == "tictactoe" else "uniform"
    lines = [line for line in fuzzed_lines(seed, count) if "quit" not in cleaned(line).split()[:2]]
    out, _ = answered(["gtp", game, "--player", player], b"\n".join(lines), seconds)
    answers = out.removesuffix("\n\n").split("\n\n")
    assert len(answers) == sum(1 for line in lines if cleaned(line))
    assert all(re.match(r"[=?][0-9]*( |\n|$)", one) for one in answers)
    good = sum(one.startswith("=") for one in answers)
    assert count / 5 < good < 4 * count / 5, good
    assert "please report" not in out


@pytest.mark.parametrize("game", ["tictactoe", "othello6"])
def test_some_fuzzed_lines(game: str) -> None:
    check_fuzzed(game, 1, 1500, 100)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("game", ["tictactoe", "gomoku9", "connect4", "othello6", "hex7"])
def test_a_hundred_thousand_fuzzed_lines(game: str) -> None:
    check_fuzzed(game, 2, 20_000, 3000)
