"""The block to paste into a pull request: what it says is what the match and the test say."""

import re

import pytest

from tengen import __version__, games
from tengen.arena.match import Match, match_result
from tengen.arena.paste import paste_block
from tengen.arena.played import PlayedGame
from tengen.arena.sprt import Sprt, sprt_result


def played(results: list[str]) -> list[PlayedGame]:
    """Games of A, who moves first in every second game, and B, with these results."""
    return [
        PlayedGame(index, "connect4", ("a", "b") if index % 2 == 0 else ("b", "a"), 0, (), result, "", (), 0)
        for index, result in enumerate(results)
    ]


def rows(block: str) -> dict[str, str]:
    lines = block.split("\n")
    assert lines[0] == lines[-1] == "```", "it is shown as it stands, also in Markdown"
    return {name.strip(): text for name, text in (line.split(" | ", 1) for line in lines[1:-1])}


GAMES = played(["1-0", "0-1", "1-0", "1-0", "1/2", "1/2", "0-1", "1/2"])  # pairs: 2, 1, 1 and ½ points


def test_a_match() -> None:
    match = Match(games.find("connect4"), "a", "b", seed=7, time=(60, 0.5))
    found = rows(paste_block(match, match_result(match, GAMES)))
    assert list(found) == ["Elo", "Games", "Penta", "Conds"]
    assert found["Games"] == "N: 8 W: 3 L: 2 D: 3" and found["Penta"] == "[0, 1, 2, 0, 1]"
    numbers = re.fullmatch(r"([+-]\d+) ± (\d+) \(95 %: ([+-]\d+) to ([+-]\d+)\)", found["Elo"])
    assert numbers is not None
    elo, half, low, high = map(int, numbers.groups())
    assert low < elo < high and half == pytest.approx((high - low) / 2, abs=1)
    assert found["Conds"].startswith("connect4, a against b, from ") and found["Conds"].endswith(
        f"seed 7, time 60+0.5 s, tengen {__version__}"
    )


def test_a_test_has_its_ratio_bounds_and_hypotheses() -> None:
    match, test = Match(games.find("connect4"), "a", "b"), Sprt(elo0=-5, elo1=20)
    result = sprt_result(match, test, GAMES)
    found = rows(paste_block(match, result.match, result))
    assert list(found) == ["Elo", "LLR", "Games", "Penta", "Conds"]
    assert found["LLR"] == f"{result.llr:+.2f} (-2.94, +2.94) [-5, +20]"


def test_a_match_without_a_loss_or_without_games() -> None:
    match = Match(games.find("connect4"), "a", "b")
    found = rows(paste_block(match, match_result(match, played(["1-0", "0-1"]))))
    assert found["Elo"].startswith("+∞ ± ∞ (95 %: ") and found["Penta"] == "[0, 0, 0, 0, 1]"
    found = rows(paste_block(match, match_result(match, [])))
    assert found["Elo"] == "+0 ± ∞ (95 %: -∞ to +∞)" and found["Games"] == "N: 0 W: 0 L: 0 D: 0"
