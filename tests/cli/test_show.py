"""`tengen show FILE`: the board where a game stands, its variations, its comments."""

import json
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from tengen.cli import show
from tengen.errors import UserError

app = typer.Typer()
app.command()(show.show)

BOARD = " . . . . . . .\n" * 4 + " . . .(O). . .\n . . . X . . .\n 1 2 3 4 5 6 7\nX to move, last move 4\n"


def shown(*arguments: str | Path) -> tuple[str, str]:
    """What the command prints: its result and its notes."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout, done.stderr


@pytest.fixture
def sgf(tmp_path: Path) -> Path:
    """A game with moves that were taken back, variations and comments."""
    file = tmp_path / "game.sgf"
    file.write_text(
        "(;GM[0]TENGEN[connect4]PB[Ann]RE[B+]C[our first\ngame]"
        ";B[4];W[4]IP[](;B[3]C[\x1b[31mred\\]];W[5])(;B[7])(;B[9]))"
    )
    return file


def test_variations_and_comments_are_below_the_board(sgf: Path) -> None:
    text, note = shown(sgf)
    assert text == BOARD + "moves: 4 [4] 3 (7) 5\nstart: our first game\n3 3:  [31mred]\n"
    assert note == "left out a variation, line 2: illegal move '9' in connect4: columns are 1-7\n"


def test_a_game_without_them_is_a_board(tmp_path: Path) -> None:
    text = tmp_path / "game.txt"
    text.write_text("# tengen connect4\n4 4\n")
    assert shown(text) == shown("connect4", "44") == (BOARD, "")


def test_json_has_the_tree(sgf: Path) -> None:
    found = json.loads(shown(sgf, "--json")[0])
    assert [node["move"] for node in found["nodes"]] == [None, "4", "4", "3", "5", "7"]
    assert found["nodes"][3] == {"id": 3, "parent": 2, "move": "3", "comment": "\x1b[31mred]"}
    assert found["current"] == 2 and found["moves"] == ["4", "4"]


def test_moves_are_played_where_the_game_stands_and_saved_with_all_of_it(sgf: Path, tmp_path: Path) -> None:
    text = tmp_path / "game.txt"
    note = shown(sgf, "1", "--save", text)[1]
    assert note.endswith("left out: 2 variations, 2 comments; .sgf keeps all of it\n")
    assert text.read_text() == "# tengen connect4\nfirst: Ann\nresult: *\n4 4 1\n"
    shown(sgf, "1", "--save", sgf)
    assert "\nmoves: 4 4 [1] (3 5) (7)\nstart: our first game\n" in shown(sgf)[0]


def test_a_position_set_up_by_hand_is_shown(tmp_path: Path) -> None:
    file = tmp_path / "game.sgf"
    file.write_text("(;GM[0]TENGEN[connect4]AB[df]AW[ef];B[4])")
    assert " . . .(X). . .\n . . . X O . .\n" in shown(file)[0]


def test_a_game_becomes_an_animation(sgf: Path, tmp_path: Path) -> None:
    shown(sgf, "--gif", tmp_path / "game.gif")
    assert (tmp_path / "game.gif").read_bytes().startswith(b"GIF89a")


def test_an_animation_without_pillow_says_what_to_install(
    sgf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("PIL", "tengen.games.animation", "tengen.games.painting"):
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delattr("tengen.games.animation", raising=False)
    with pytest.raises(UserError, match=r"--gif needs the pictures extra: pip install '\.\[pictures\]'"):
        shown(sgf, "--gif", tmp_path / "game.gif")
