"""`tengen play` over a pipe: what is typed goes in, the whole conversation comes out."""

import io
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from tengen import players
from tengen.cli import play
from tengen.errors import UserError
from tengen.games.position import Position
from tengen.players.decision import Decider
from tengen.players.human import Human
from tengen.players.limit import Limit
from tengen.players.player import Choice, PlayerFailedError
from tengen.players.terminal_game import Terminal

app = typer.Typer()
app.command()(play.play)


class Simple(Decider):
    """Plays the first legal action, and says what it thinks of it."""

    summary = "for tests"

    def decide(self, position: Position, limit: Limit) -> Choice:
        actions = position.legal_actions
        return Choice(actions[0], 0.25, tuple(actions[:2]), "one look")


class Broken(Decider):
    """Cannot move."""

    summary = "for tests"

    def decide(self, position: Position, limit: Limit) -> Choice:
        raise PlayerFailedError("it hurts")


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(players.REGISTRY, "human", "tengen.players.human:Human")
    monkeypatch.setitem(players.REGISTRY, "simple", f"{__name__}:Simple")
    monkeypatch.setitem(players.REGISTRY, "broken", f"{__name__}:Broken")


def conversation(*arguments: str, typed: str) -> str:
    """All that `tengen play` says to some lines."""
    lines = "".join(line + "\n" for line in typed.split(" / "))
    done = CliRunner().invoke(app, list(arguments), input=lines, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def last(text: str) -> str:
    return text.splitlines()[-1]


def test_a_whole_game(golden: Callable[[str, str], None]) -> None:
    typed = "help / b2 / b2 / z9 / unod / hint / eval / b3 / undo / undo / undo / B2 / c1 / a1 / c3 / undo / c2 / quit"
    golden("play-tictactoe.txt", conversation("tictactoe", "--opponent", "simple", typed=typed))


def test_a_forbidden_move_is_explained_and_costs_nothing() -> None:
    said = conversation(
        "renju15", "h8h9i7i9h10i6i11i12", "--opponent", "simple", "--seed", "7", typed="g9 / g10 / quit"
    )
    assert "illegal move 'g9' in renju15: forbidden for black, double-three (3-3)\nsimple plays a15\n" in said
    assert last(said) == (
        "not over, X to move. Go on with: "
        "tengen play renju15 h8 h9 i7 i9 h10 i6 i11 i12 g10 a15 --opponent simple"
    )


def test_the_second_side_waits_for_the_first() -> None:
    said = conversation(
        "connect4", "--opponent", "simple", "--side", "second", typed="4 / undo / undo / quit"
    )
    assert "X simple, O you" in said
    assert "there is no move to take back" in said
    assert last(said) == (
        "not over, O to move. Go on with: tengen play connect4 1 --opponent simple --side second"
    )


def test_two_persons_share_the_keyboard() -> None:
    said = conversation("tictactoe", "--opponent", "human", typed="b2 / a1 / undo / c1 / undo / a2 / quit")
    assert last(said) == "not over, X to move. Go on with: tengen play tictactoe b2 a2 --opponent human"


def test_two_persons_ask_somebody_else_for_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(players, "opponent", lambda game: "simple")
    assert "hint: a3\n" in conversation("tictactoe", "--opponent", "human", typed="hint / quit")


def test_a_game_is_saved_and_loaded(tmp_path: Path) -> None:
    file = tmp_path / "my game.txt"
    said = conversation(
        "tictactoe", "--opponent", "simple", typed=f"b2 / save {file} / c1 / load {file} / quit"
    )
    assert f"saved {file}\n" in said
    assert file.read_text() == "# tengen tictactoe\nfirst: human\nsecond: simple\nresult: *\nb2 a3\n"
    assert "tengen play tictactoe b2 a3 " in last(said)
    other = conversation("connect4", "--opponent", "simple", typed=f"load {file} / load / load nowhere.txt")
    assert f"{file} is a game of tictactoe, this is connect4\n" in other
    assert "load needs a file: load game.txt\n" in other and "no such file: nowhere.txt\n" in other


def test_what_was_taken_back_can_be_played_again(tmp_path: Path) -> None:
    typed = "moves / b2 / c1 / undo / redo / moves / undo / c2 / moves / redo / quit"
    said = conversation("tictactoe", "--opponent", "simple", typed=typed)
    assert "moves: none\n" in said
    assert "moves: b2 a3 c1 [b3]\n" in said
    assert "moves: b2 a3 c2 (c1 b3) [b3]\n" in said
    assert "there is no move to play again\n" in said
    assert "tengen play tictactoe b2 a3 c2 b3 " in last(said)


def test_saving_says_what_is_left_out_and_loading_too(tmp_path: Path) -> None:
    text, sgf = tmp_path / "game.txt", tmp_path / "game.sgf"
    typed = f"h8 / i8 / undo / i9 / save {text} / save {sgf} / load {sgf} / moves / quit"
    said = conversation("gomoku15", "--opponent", "simple", typed=typed)
    assert f"saved {text}; left out: 1 variation; .sgf keeps all of it\n" in said
    assert f"saved {sgf}\n" in said
    assert "moves: h8 a15 i9 (i8 b15) [b15]\n" in said
    sgf.write_text("(;GM[4](;B[hh];W[ii])(;B[zz]))")
    said = conversation("gomoku15", "--opponent", "simple", typed=f"load {sgf} / quit")
    assert "left out a variation, line 1: 'zz' is not on a board of 15×15\n" in said


def test_a_position_set_up_in_a_file_is_played_on(tmp_path: Path) -> None:
    file = tmp_path / "game.sgf"
    file.write_text("(;GM[4]SZ[3]TENGEN[tictactoe]AB[aa][ba]AW[ac]PL[W])")
    said = conversation("tictactoe", "--opponent", "simple", typed=f"load {file} / quit")
    assert "simple plays c3\n" in said
    assert last(said) == "not over, X to move."  # its moves alone would not lead there


def test_in_a_notebook_input_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    typed = iter(["b2 ", "quit"])
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    monkeypatch.setattr("builtins.input", lambda prompt: next(typed))
    terminal = Terminal()
    assert (terminal.ask(), terminal.ask()) == ("b2", "quit")


def test_who_resigns_has_lost_and_may_think_again(tmp_path: Path) -> None:
    file = tmp_path / "game.sgf"
    said = conversation(
        "gomoku15",
        "--opponent",
        "simple",
        typed=f"h8 / resign / h9 / hint / resign / save {file} / undo / h9",
    )
    assert "O wins (simple), X gave up; moves: h8 a15\nsave FILE, undo or quit?\n" in said
    assert said.count("the game is over, O wins (simple), X gave up") == 3
    assert "RE[W+" in file.read_text()
    assert "tengen play gomoku15 h8 a15 h9 b15 " in last(said)


def test_an_opponent_that_fails_has_lost() -> None:
    said = conversation("tictactoe", "--opponent", "broken", typed="hint / b2 / quit")
    assert "no advice: it hurts\n" in said
    assert "broken could not move: it hurts\n" in said and "X wins (you), O gave up; moves: b2\n" in said


@pytest.mark.parametrize(
    "line", ["", "   ", "\0", "undo undo", "sav", "9" * 5000, "b²", "h8\x1b[A", "hint x y"]
)
def test_odd_lines_do_no_harm(line: str) -> None:
    said = conversation("tictactoe", "--opponent", "simple", typed=f"{line} / quit")
    assert "Traceback" not in said and "Go on with: tengen play tictactoe" in last(said)


def test_bytes_that_are_no_text_do_no_harm() -> None:
    done = CliRunner().invoke(app, ["tictactoe", "--opponent", "simple"], input=b"\xff\xfe\nb2\n")
    assert done.exit_code == 0 and "tengen play tictactoe b2 a3" in last(done.output)


def test_a_person_is_a_player_like_any_other() -> None:
    position = Position.start("tictactoe")
    with Human(position.game) as human:
        screen = io.StringIO()
        human._terminal = Terminal(io.StringIO("b9\nb2\n"), screen)
        assert position.game.moves.name(human.choose(position).action) == "b2"
        assert "illegal move 'b9' in tictactoe: rows are 1-3\n" in screen.getvalue()
        with pytest.raises(PlayerFailedError, match="the person at the keyboard has left"):
            human.choose(position)


def test_a_wrong_opponent_is_one_clear_error() -> None:
    with pytest.raises(UserError, match="unknown player 'simpel', did you mean simple"):
        CliRunner().invoke(app, ["tictactoe", "--opponent", "simpel"], catch_exceptions=False)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_in_a_terminal_there_is_colour_a_prompt_and_ctrl_c() -> None:
    """Ctrl-C loses nothing: it says how to go on."""
    ours, theirs = os.openpty()
    tengen = subprocess.Popen(
        [sys.executable, "-m", "tengen", "play", "tictactoe", "b2", "a1", "--opponent", "uniform"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={key: value for key, value in os.environ.items() if key != "NO_COLOR"} | {"TERM": "xterm"},
    )
    os.close(theirs)
    screen = _read_until(ours, b"> ")
    assert b"\x1b[" in screen
    os.write(ours, b"b2\n")
    assert b"there is a stone already" in _read_until(ours, b"> ")
    while not select.select([ours], [], [], 0.5)[0]:  # a signal just before readline waits is not seen
        tengen.send_signal(signal.SIGINT)
    last_words = _read_until(ours, b"tengen: stopped")
    assert b"Go on with: " in last_words  # and the command as it was started: python -m tengen
    assert b"tengen play tictactoe b2 a1 --opponent uniform" in last_words
    assert tengen.wait(30) == 130
    os.close(ours)


def _read_until(terminal: int, wanted: bytes) -> bytes:
    read = b""
    while wanted not in read:
        assert select.select([terminal], [], [], 60)[0], read
        read += os.read(terminal, 4096)
    return read
