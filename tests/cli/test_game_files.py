"""Commands on files with games in them: show, analyse, blunders."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tengen.games import records
from tengen.games.records import Record
from tests.cli.conftest import Here

# O's edge loses at once; later X completes a row.
LOST = Record("tictactoe", ("b2", "b1", "a1", "c3", "a3", "c1", "a2"), ("Ann", "Bob"))


@pytest.fixture
def sgf(tmp_path: Path) -> Path:
    file = tmp_path / "game.sgf"
    records.write(LOST, file)
    return file


@pytest.fixture
def log(here: Here, tmp_path: Path) -> Path:
    """Of a match of four games."""
    players = ("tictactoe", "uct:sims=20", "uniform")
    here.result("match", *players, "-n", "4", "--workers", "1", "--out", tmp_path / "match")
    return tmp_path / "match" / "games.jsonl"


def test_a_position_of_a_record_is_shown(here: Here, sgf: Path) -> None:
    """--move N: the position in which move N was played."""
    assert here.result("show", sgf, "--move", "3") == (
        here.result("show", "tictactoe", "b2", "b1") + "move 3: X played a1\n"
    )
    assert here.result("show", sgf) == here.result("show", "tictactoe", "b2b1a1c3a3c1a2")
    assert here.result("show", sgf, "c3", "--move", "3") == (
        here.result("show", "tictactoe", "b2b1c3") + "move 3: X played a1\n"
    ), "moves are played on from there"


def test_a_position_of_a_match_is_shown_with_what_its_player_thought(here: Here, log: Path) -> None:
    shown = here.result("show", log, "--game", "1", "--move", "3")
    assert "\nmove 3: X played " in shown and ", 20 simulations, " in shown and " s, line " in shown
    found = json.loads(here.result("show", log, "--game", "1", "--move", "3", "--json"))
    assert len(found["moves"]) == 2 and found["move_number"] == 3 and found["thought"]["simulations"] == 20
    assert found["thought"]["line"][0] == found["played"]


def test_a_position_of_a_record_is_analysed(here: Here, sgf: Path, log: Path) -> None:
    found = json.loads(here.result("analyse", sgf, "--move", "2", "--player", "perfect", "--json"))
    assert found["played"] == ["b2"] and found["value"] == 0
    message = (
        "nothing to analyse: the game is over, first player wins: choose an earlier position by --move N"
    )
    assert here("analyse", sgf) == (2, "", f"tengen: {message}\n")
    shown = here.result("analyse", log, "--game", "2", "--move", "4", "--player", "perfect")
    assert "\nmove 4: O played " in shown


def test_blunders_as_text(here: Here, sgf: Path, golden: Callable[[str, str], None]) -> None:
    shown = here.result("blunders", sgf, "--player", "perfect")
    golden("blunders.txt", shown)


def test_blunders_as_json(here: Here, sgf: Path, log: Path) -> None:
    found = json.loads(here.result("blunders", sgf, "--player", "perfect", "--json"))
    assert found["lost_with"] == 2 and [one["number"] for one in found["moves"] if one["lost"]] == [2]
    found = json.loads(here.result("blunders", log, "--game", "1", "--sims", "50", "--json"))
    assert found["judge"].startswith("zero:zoo/tictactoe") and found["moves"][0]["number"] == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "tictactoe", "--move", "2"], "--game and --move are for a file with a game in it, such as game.sgf; got tictactoe"),
        (["show", "nowhere.jsonl"], "no such file: nowhere.jsonl"),
        (["blunders", "nowhere.sgf"], "no such file: nowhere.sgf"),
        (["blunders", "nowhere.sgf", "--player", "human"], "human cannot judge a whole game: choose a player that searches"),
        (["match", "connect4", "uniform", "uniform", "--opening-rule", "swap2"], "swap2 is an opening rule of five in a row, which connect4 is not"),
        (["match", "gomoku9", "uniform", "uniform", "--opening-rule", "swap"], "an opening rule is swap2, got 'swap'"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_clear_line(here: Here, arguments: list[str], message: str) -> None:
    assert here(*arguments) == (2, "", f"tengen: {message}\n")
