"""`tengen gtp`, talked to as Sabaki, LizzieYzy and scripts do."""

import re
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

from tengen import cli, games
from tengen.errors import UserError
from tengen.games.position import Position
from tengen.players.limit import Limit
from tengen.protocols.gtp import Gtp, cleaned
from tengen.protocols.gtp_analysis import info_line, read_wishes
from tengen.protocols.gtp_board import action_at, board_text, resized, score, vertex, vertices, with_turn
from tengen.protocols.gtp_time import TimeControl
from tests.protocols.talking import REPOSITORY, Talk, answered

INFO = re.compile(
    r"info move (?P<move>\S+) visits (?P<visits>\d+) winrate (?P<winrate>\S+)( prior (?P<prior>\S+))? "
    r"lcb \S+ order (?P<order>\d+) pv (?P<pv>\S+(?: (?!info)\S+)*)"
)


def infos(line: str) -> list[dict[str, str]]:
    return [match.groupdict() for match in INFO.finditer(line)]


def obeyed(game: str, *commands: str, player: str = "uct:sims=50") -> list[str]:
    """The answers to some commands, in this process."""
    written: list[str] = []
    Gtp(games.find(game), player, [command.encode() for command in commands], written.append).run()
    return "".join(written).removesuffix("\n\n").split("\n\n")


def answer(talk: Talk) -> str:
    """Everything up to an empty line."""
    lines = [talk.line()]
    while lines[-1]:
        lines.append(talk.line())
    return "\n".join(lines[:-1])


# Scripts: text in, expected text out.

SCRIPTS = {
    "gomoku9": (
        "# a comment\nprotocol_version\n1 name\nknown_command play\nknown_command fly\nlist_commands\n"
        "2 boardsize 9\nclear_board\nkomi 6.5\nplay black E5\nplay w e6 # here\nplay b D4\ngenmove white\nshowboard\n"
        "play B E5\nplay B I5\nplay B K10\nplay B E\nplay green A1\nplay B pass\nfinal_score\n"
        "undo\nundo\nshowboard\nplay b c3\nplay b c4\nplay b c5\nplay b c6\nplay b c7\nshowboard\nfinal_score\n"
        "genmove w\ngenmove b\nplay w a1\nplay w pass\nundo\ngogui-rules_final_result\n99 fly\n\n   \n12\nquit\nname\n"
    ),
    "connect4": (
        "showboard\nplay b d1\nplay w d1\nplay w d2\nplay b a6\nplay b h1\ngogui-rules_legal_moves\n"
        "genmove b\nundo\ngogui-rules_side_to_move\nboardsize 7 6\nboardsize 7\nboardsize 99\nboardsize x\nshowboard\n"
        "rectangular_boardsize 7 6\nplay b a1\nplay w b1\nplay b a2\nplay w b2\nplay b a3\nplay w b3\nreg_genmove b\n"
        "genmove b\nfinal_score\nkata-analyze\ntime_settings 1 2\ntime_left b x 0\n"
    ),
    "othello6": (
        "showboard\ngogui-rules_legal_moves\nplay b a1\nplay b pass\nplay b c5\nshowboard\ngenmove w\nundo\nboardsize 5\n"
        "boardsize 4\nshowboard\ngogui-rules_game_id\nboardsize 6\ngogui-rules_game_id\n"
    ),
    "hex7": "play b d4\nplay w d5\nshowboard\nboardsize 3\nplay b b1\nplay b b2\nplay b b3\nfinal_score\nshowboard\n",
}  # fmt: skip


@pytest.mark.parametrize("game", SCRIPTS)
def test_a_script_and_its_answers(game: str, golden: Callable[[str, str], None]) -> None:
    said = obeyed(game, *SCRIPTS[game].split("\n"), player="uct:sims=200")
    golden(f"gtp-{game}.txt", "\n\n".join(said) + "\n\n")


def test_a_process_answers_the_same(golden: Callable[[str, str], None]) -> None:
    out, errors = answered(["gtp", "gomoku9", "--player", "uct:sims=200"], SCRIPTS["gomoku9"].encode())
    assert errors == ""
    golden("gtp-gomoku9.txt", out)


def test_without_a_game_it_plays_gomoku_with_the_bundled_network() -> None:
    out, _ = answered(["gtp"], b"gogui-rules_game_id\nplay b h8\ngenmove w\nquit\n")
    assert re.fullmatch(r"= gomoku15\n\n=\n\n= [A-HJ-P]\d+\n\n=\n\n", out)


# Live analysis.


def test_an_analysis_goes_on_until_a_line_comes() -> None:
    talk = Talk("gtp", "gomoku9")
    talk.send("play b e5")
    assert answer(talk) == "="
    for form in ("kata", "lz"):
        talk.send("clear_cache", f"7 {form}-analyze w 5 minmoves 3")
        assert answer(talk) == "="
        assert talk.line() == "=7"
        seen = [infos(talk.line()) for _ in range(3)]
        totals = [sum(int(info["visits"]) for info in line) for line in seen]
        assert 0 < totals[0] < totals[1] < totals[2]
        assert [info["order"] for info in seen[2]] == [str(order) for order in range(len(seen[2]))]
        for info in seen[2]:
            assert info["pv"].split()[0] == info["move"] and "I" not in info["pv"]
            assert ("." in info["winrate"]) == (form == "kata"), "Sabaki tells the forms apart by the point"
            assert 0 <= float(info["winrate"]) <= (1 if form == "kata" else 10_000)
        priors = sum(float(info["prior"]) for info in seen[2])
        assert 0 < priors <= (1.01 if form == "kata" else 10_100)
        talk.send("protocol_version")
        while (line := talk.line()).startswith("info "):
            pass
        assert line == "", "an empty line ends the analysis"
        assert answer(talk) == "= 2"
    talk.send("kata-analyze 5")
    assert talk.line() == "="
    assert talk.line().startswith("info ")
    talk.send("")  # an empty line stops it too, and is not answered
    while talk.line():
        pass
    talk.send("showboard", "lz-analyze 5")
    assert answer(talk).splitlines()[5] == " 5 . . . . X . . . .", "the position is unchanged"
    assert talk.line() == "=" and talk.line().startswith("info ")
    assert talk.rest()[-1] == "", "the end of the input stops it as well"
    assert talk.close() == 0 and talk.errors == ""


def test_an_analysis_that_has_found_everything_waits_for_the_next_line() -> None:
    talk = Talk("gtp", "tictactoe", "--player", "uct")
    talk.send("play b a1", "play w b1", "play b a2", "play w b2", "kata-analyze b 1000")
    assert [answer(talk) for _ in range(4)] == ["="] * 4
    assert talk.line() == "="
    (best, *_) = infos(talk.line())  # at once, though the interval is ten seconds
    assert best["move"] == "A3" and best["winrate"] == "1.000000"
    talk.send("name")
    assert talk.line() == ""
    assert answer(talk) == "= Tengen"
    assert talk.close() == 0


def test_a_move_with_live_analysis_is_played() -> None:
    said = obeyed("tictactoe", "kata-genmove_analyze b 1", "lz-genmove_analyze w", "showboard")
    assert re.fullmatch(r"=(\ninfo .*)+\nplay [A-C][1-3]", said[0])
    assert re.fullmatch(r"=(\ninfo .*)+\nplay [A-C][1-3]", said[1])
    assert said[2].count("X") == 2 and said[2].count("O") == 1  # "X to move"


def test_a_player_without_visits_shows_the_positions_it_looked_at() -> None:
    _, said = obeyed("gomoku9", "play b e5", "kata-genmove_analyze w", player="alphabeta:depth=2")
    (best,) = infos(said.splitlines()[-2])
    assert int(best["visits"]) > 0 and best["prior"] is None


def test_what_an_analysis_may_be_asked() -> None:
    wishes = read_wishes(["B", "25", "minmoves", "3", "maxmoves", "7", "ownership", "true"])
    assert (wishes.side, wishes.every, wishes.min_moves, wishes.max_moves) == (1, 0.25, 3, 7)
    assert read_wishes([]).side is None
    assert read_wishes(["interval", "0"]).every == 0.01
    for wrong in (
        "interval",
        "interval x",
        "interval 99999999999",
        "colour 1",
        "avoid b a1 5",
        "ownership",
        "5 5",
        "²",
    ):
        with pytest.raises(UserError):
            read_wishes(wrong.split())


def test_an_info_line_has_as_many_moves_as_were_asked_for() -> None:
    import tengen

    position = Position.from_moves("connect4", "444444")
    analysis = tengen.analyse(position, Limit(simulations=4), "zero:zoo/connect4:search=puct")
    analysis.best  # noqa: B018  (runs it to its end)
    found = {number: infos(info_line(analysis.snapshot, position, "kata", read_wishes([word, str(number)])))
             for word, number in (("maxmoves", 1), ("minmoves", 6), ("minmoves", 99))}  # fmt: skip
    assert [len(lines) for lines in found.values()] == [1, 6, 6]
    assert {info["move"] for info in found[6]} == {"A1", "B1", "C1", "E1", "F1", "G1"}


# Points and boards.


def test_points_have_no_i_and_rows_from_the_bottom() -> None:
    renju, othello = Position.start("renju15"), Position.start("othello8")
    assert vertex(renju, renju.parse("h8")) == "H8" and vertex(renju, renju.parse("i8")) == "J8"
    assert vertex(renju, renju.parse("o15")) == "P15"
    assert vertex(othello, othello.parse("d3")) == "D6"  # row 1 is at the top there
    for position in (renju, othello, Position.start("hex11"), Position.start("mnk:rows=3,cols=25,k=3")):
        points = [vertex(position, action) for action in position.legal_actions]
        assert [action_at(position, point.lower()) for point in points] == position.legal_actions
        assert len(set(points)) == len(points)


def test_in_connect4_a_point_is_where_the_stone_comes_to_rest() -> None:
    position = Position.from_moves("connect4", "4435")
    assert vertices(position, [3, 3, 0, 3]) == ["D3", "D4", "A1", "D5"]
    assert [vertex(position, action) for action in position.legal_actions] == [
        "A1",
        "B1",
        "C2",
        "D3",
        "E2",
        "F1",
        "G1",
    ]
    with pytest.raises(UserError, match="falls to D3, got 'd1'"):
        action_at(position, "d1")


def test_a_side_may_move_twice() -> None:
    position = Position.from_moves("renju15", "h8 h9 i8")
    assert with_turn(position, 2) is position
    again = with_turn(position, 1)
    assert (
        again.to_move == 1 and board_text(again).splitlines()[:15] == board_text(position).splitlines()[:15]
    )


def test_a_forced_pass_may_be_left_out() -> None:
    cells = [0] * 36
    cells[3:6] = [0, 2, 1]  # at the right edge: only black has a move
    position = with_turn(Position.from_cells("othello6", cells, 2), 1)
    assert position.moves == ["pass"] and position.to_move == 1


def test_othello_is_scored_by_stones_and_other_games_by_their_winner() -> None:
    cells = [1] * 20 + [2] * 16
    assert score(Position.from_cells("othello6", cells, 1)) == "B+4"
    assert score(Position.from_moves("tictactoe", "a1 b1 a2 b2 a3")) == "B+1"
    assert score(Position.from_moves("tictactoe", "a1 b2 c3 b1 b3 a3 c1 c2 a2")) == "0"
    with pytest.raises(UserError, match="not over"):
        score(Position.start("hex7"))


@pytest.mark.parametrize(
    ("game", "rows", "cols", "name"),
    [
        ("gomoku15", 15, 15, "gomoku15"),
        ("gomoku15", 9, 9, "gomoku9"),
        ("gomoku15", 19, 19, "mnk:rows=19,cols=19,k=5,rule=freestyle"),
        ("caro15", 19, 19, "caro19"),
        ("renju15", 11, 11, "mnk:rows=11,cols=11,k=5,rule=renju"),
        ("connect4", 7, 8, "connect:rows=7,cols=8,k=4"),
        ("othello8", 6, 6, "othello6"),
        ("hex11", 13, 13, "hex:size=13"),
    ],
)
def test_another_size_of_the_same_game(game: str, rows: int, cols: int, name: str) -> None:
    assert resized(games.find(game), rows, cols).name == name


def test_a_size_that_does_not_exist_changes_nothing() -> None:
    said = obeyed("othello6", "play b c5", "boardsize 7", "boardsize 0", "boardsize 6 8", "showboard")
    assert all(one.startswith("? unacceptable size: ") for one in said[1:4])
    assert said[4].splitlines()[0] == "=" and "X to move" not in said[4]
    (only,) = obeyed("mnk:rows=5,cols=5,k=4", "boardsize 26")
    assert only == "? unacceptable size: GTP knows boards of up to 25×25, got 26×26"


def test_a_game_played_to_its_end_by_both_sides() -> None:
    """As twogtp does it: a move for each side in turn, until one says that the game is over."""
    for game in ("othello6", "tictactoe", "connect4", "hex7"):
        commands = [f"genmove {'bw'[turn % 2]}" for turn in range(80)]
        said = obeyed(game, *commands, "final_score", player="uniform")
        assert "= resign" in said or "= pass" in said
        assert re.fullmatch(r"= (0|[BW]\+[0-9]+)", said[-1])
        assert not [one for one in said if one.startswith("?")]


# Time.


def test_without_settings_or_with_gtps_way_to_say_no_limit_there_is_none() -> None:
    time = TimeControl()
    assert time.limit(1) is None
    for settings in ((0, 1, 0), (300, 10, 0), (0, 0, 0)):
        time.set(*settings)
        assert time.limit(1) is None


def test_an_absolute_time_is_a_clock_that_runs() -> None:
    time = TimeControl()
    time.set(60, 0, 0)
    limit = time.limit(1)
    assert limit is not None and limit.clock is not None and limit.clock.left == 60
    time.spend(1, 59)
    later = time.limit(1)
    assert later is not None and later.clock is not None and later.clock.left == 1
    time.spend(1, 5)
    assert time.limit(1).thinking_seconds == 0  # type: ignore[union-attr]
    assert time.limit(2).clock.left == 60  # type: ignore[union-attr]


def test_overtime_is_divided_among_its_moves() -> None:
    time = TimeControl()

    def seconds(side: int) -> float | None:
        limit = time.limit(side)
        return limit.seconds if limit else None

    time.set(0, 10, 5)
    assert seconds(1) == pytest.approx(0.9 * 10 / 5 - 0.02)
    time.spend(1, 8)
    assert seconds(1) == pytest.approx(0.9 * 2 / 4 - 0.02)
    time.tell(1, 10, 1)
    assert seconds(1) == pytest.approx(0.9 * 10 - 0.02)
    time.spend(1, 3)  # the last move of the period: another one begins
    assert seconds(1) == pytest.approx(0.9 * 10 / 5 - 0.02)
    time.set(20, 10, 5)
    assert seconds(2) == pytest.approx(0.9 * 10 / 5 - 0.02), "more than a share of the main time"
    time.spend(2, 21)
    assert seconds(2) == pytest.approx(0.9 * 9 / 5 - 0.02)


def test_moves_keep_their_time() -> None:
    said = obeyed(
        "gomoku9", "time_settings 0 1 10", "genmove b", "time_left w 1 10", "genmove w", player="uct"
    )
    assert said[0] == said[2] == "=" and said[1].startswith("= ") and said[3].startswith("= ")


# Malformed input.


def test_lines_are_cleaned_as_gtp_says() -> None:
    assert cleaned(b"1\tplay\x00 b \x07 a1\r # comment # more") == "1 play b  a1"
    assert cleaned(b"# comment") == cleaned(b" \t\r") == cleaned(b"\xff#") .replace("�", "") == ""  # fmt: skip


MISTAKES = [
    ("play", "? syntax error: expected `play COLOR POINT`"),
    ("play b", "? syntax error: expected `play COLOR POINT`"),
    ("5 play x a1", "?5 a colour is black, white, b or w, got 'x'"),
    ("play b a99999999999999999999", "? a point is a letter and a number such as 'A3', got 'a9999999999999999999'"),
    ("play b aa", "? a point is a letter and a number such as 'A3', got 'aa'"),
    ("play b d1", "? 'd1' is not on the board: points are A1 to C3, without I"),
    ("play b a0", "? 'a0' is not on the board: points are A1 to C3, without I"),
    ("genmove", "? syntax error: expected `genmove COLOR`"),
    ("genmove red", "? a colour is black, white, b or w, got 'red'"),
    ("komi x", "? komi is a number, got 'x'; it is ignored in any case"),
    ("komi nan", "? komi is a number, got 'nan'; it is ignored in any case"),
    ("komi 1e400", "? komi is a number, got '1e400'; it is ignored in any case"),
    ("time_settings 1e999 0 0", "? a time is a number of seconds from 0 to 10000000, got '1e999'"),
    ("time_settings -1 0 0", "? a time is a number of seconds from 0 to 10000000, got '-1'"),
    ("time_settings 1 1 99999999999", "? a number of stones is from 0 to 10000, got '99999999999'"),
    ("time_left b nan 0", "? a time is a number of seconds from 0 to 10000000, got 'nan'"),
    ("boardsize 99999999999999", "? boardsize not an integer: expected `boardsize 15`, or columns and rows"),
    ("undo", "? cannot undo: there is no move to take back"),
    ("kata-analyze x y", "? unknown argument 'x': expected a colour, an interval, or interval, minmoves, maxmoves, ownership, movesownership, pvvisits, rootinfo"),
    ("\u00e9\u00e9", "? unknown command"),
    ("99999999999999999999999 name", "? unknown command"),
    ("-1 name", "? unknown command"),
]  # fmt: skip


def test_a_mistake_is_answered_by_one_line() -> None:
    said = obeyed("tictactoe", *(command for command, _ in MISTAKES), "showboard")
    assert said[:-1] == [expected for _, expected in MISTAKES]
    assert said[-1] == f"=\n{board_text(Position.start('tictactoe'))}"


def test_the_input_may_end_anywhere() -> None:
    script = b"1 boardsize 3\nplay b a1\ngenmove w\nkata-analyze b 5\nundo\nshowboard\nfinal_score\n"
    for end in range(0, len(script), 3):
        written: list[str] = []
        lines = script[:end].split(b"\n")
        Gtp(games.find("tictactoe"), "uct:sims=20", lines, written.append).run()
        text = "".join(written)
        assert text.count("\n\n") == sum(1 for line in lines if cleaned(line)), (script[:end], text)
        assert not text or text.endswith("\n\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nogame"], "unknown game 'nogame'"),
        (["--player", "zzz"], "unknown player 'zzz'"),
        (["--player", "human"], "needs a keyboard"),
        (["connect4", "--player", "alphabeta"], "alphabeta"),
        (["mnk:rows=26,cols=26,k=5"], "boards of up to 25×25"),
    ],
)
def test_a_wrong_command_line_is_one_line(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["gtp", *arguments]) == 2
    out, errors = capsys.readouterr()
    assert out == "" and words in errors and errors.count("\n") == 1


def test_games_whose_moves_are_no_points_are_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tengen", "--games", "examples/breakthrough.py", "gtp", "breakthrough"],
        input="", capture_output=True, text=True, cwd=REPOSITORY,
    )  # fmt: skip
    assert done.returncode == 2 and "GTP names one point per move" in done.stderr


def test_ctrl_c_ends_it_in_the_middle_of_an_analysis() -> None:
    talk = Talk("gtp", "gomoku9", "--player", "uct")
    talk.send("kata-analyze 5")
    assert talk.line() == "=" and talk.line().startswith("info ")
    talk.process.send_signal(signal.SIGINT)
    assert talk.close() == 130 and talk.errors.strip() == "tengen: stopped"
