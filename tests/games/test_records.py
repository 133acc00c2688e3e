"""Records: ours come back exactly, those of others are read, broken ones are an error with the line."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import tengen
from tengen.errors import UserError
from tengen.games import psq
from tengen.games.position import Position
from tengen.games.records import (
    RESULTS,
    Record,
    from_psq,
    from_sgf,
    from_text,
    read,
    to_psq,
    to_sgf,
    to_text,
    write,
)

FIVE_IN_A_ROW = [
    "gomoku8", "gomoku15", "gomoku20", "standard15", "renju15", "caro19", "caro15-exact", "gomoku15:k=5",
    "mnk:rows=7,cols=9,k=5,rule=standard", "mnk:rows=26,cols=5,k=5",
]  # fmt: skip
EVERY_GAME = [
    *FIVE_IN_A_ROW, "tictactoe", "gomoku6", "othello6", "othello8", "othello:size=4", "connect4",
    "connect:rows=4,cols=12,k=4", "hex7", "hex:size=13",
]  # fmt: skip
FORMS: dict[str, tuple[Callable[[Record], str], Callable[[str], Record], list[str]]] = {
    ".sgf": (to_sgf, from_sgf, EVERY_GAME),
    ".psq": (to_psq, from_psq, FIVE_IN_A_ROW),
    ".txt": (to_text, from_text, EVERY_GAME),
}
READERS = [from_sgf, from_psq, from_text]

texts = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from(r"[]\:;(), 1-#"), max_size=12)


@st.composite
def records(draw: st.DrawFn, names: list[str]) -> Record:
    """Random legal games, some to their end."""
    position = Position.start(draw(st.sampled_from(names)))
    choose = random.Random(draw(st.integers(0, 2**32)))
    for _ in range(draw(st.integers(0, 40) | st.just(1000))):
        if position.is_over:
            break
        position = position.play(choose.choice(position.legal_actions))
    result = "" if position.is_over else draw(st.sampled_from(["", *RESULTS]))
    return Record.from_position(position, (draw(texts), draw(texts)), result, draw(texts), draw(texts))


# What we write, we read back


@pytest.mark.parametrize("form", FORMS)
def test_random_games_come_back(form: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    to_form, from_form, names = FORMS[form]
    file = tmp_path_factory.mktemp("records") / f"game{form.upper()}"

    @given(records(names))
    @settings(max_examples=100, deadline=None)
    def check(record: Record) -> None:
        assume(form != ".psq" or not any(psq.MOVE.fullmatch(player) for player in record.players))
        assert from_form(to_form(record)) == record
        assert from_form(to_form(record).replace("\n", "\r\n")) == record
        write(record, file)
        assert read(file) == record
        assert read(file, game=record.game) == record

    check()


def test_an_sgf_of_ours() -> None:
    record = Record("renju15", ("h8", "i9", "g7"), ("Ann [5]", "Bob"), "1-0", "2026-09-10", r"a \ b")
    root = f"(;FF[4]GM[4]CA[UTF-8]AP[tengen:{tengen.__version__}]SZ[15]RU[renju]TENGEN[renju15]"
    assert (
        to_sgf(record) == root + "PB[Ann [5\\]]PW[Bob]DT[2026-09-10]RE[B+]GC[a \\\\ b]\n;B[hh];W[ig];B[gi])\n"
    )


def test_an_othello_sgf_of_ours_has_the_four_stones_and_passes() -> None:
    text = to_sgf(Record("othello8", PASSED))
    assert "AB[e4][d5]AW[d4][e5]\n;B[f5];W[f6];" in text
    assert ";W[h6];B[];W[e7])" in text


def test_a_psq_of_ours() -> None:
    record = Record("mnk:rows=7,cols=9,k=5", ("a7", "i1"), ("Ann", "Bob"), "0-1", "2026-09-10")
    assert to_psq(record) == (
        "Piskvorky 9x7, 11:11, 0\n1,1,0\n9,7,0\nAnn\nBob\n-1\n2,mnk:rows=7,cols=9,k=5\ndate: 2026-09-10\n"
    )


def test_a_text_of_ours() -> None:
    record = Record("connect4", tuple("44354322765"), ("Ann", ""), comment="a: b")
    assert (
        to_text(record) == "# tengen connect4\nfirst: Ann\nresult: *\ncomment: a: b\n4 4 3 5 4 3 2 2 7 6\n5\n"
    )


def test_the_board_says_who_won() -> None:
    won = Record("tictactoe", ("a1", "a2", "b1", "b2", "c1"))
    assert won.result == "1-0"
    assert from_text("# tengen tictactoe\nresult: 0-1\na1 a2 b1 b2 c1") == won
    with pytest.raises(UserError, match="the result is 0-1, but on the board: first player wins"):
        Record("tictactoe", ("a1", "a2", "b1", "b2", "c1"), result="0-1")
    with pytest.raises(UserError, match=r"a result is one of 1-0, 0-1, 1/2, \*, got 'won'"):
        Record("tictactoe", result="won")


def test_a_record_is_tidy_and_legal() -> None:
    record = Record("gomoku15", ("H8", " i9"), (" Ann \n Lee ", "\u2028"))
    assert record == Record("gomoku15", ("h8", "i9"), ("Ann Lee", ""))
    assert record.position() == Position.from_moves("gomoku15", "h8i9")
    with pytest.raises(UserError, match="there is a stone already"):
        Record("gomoku15", ("h8", "h8"))
    with pytest.raises(UserError, match="cannot be written"):
        Record("gomoku15", players=("\ud800", ""))


def test_a_position_set_up_by_hand_has_no_record() -> None:
    with pytest.raises(UserError, match="every move from the start"):
        Record.from_position(Position.from_cells("tictactoe", [1, 0, 0, 0, 0, 0, 0, 0, 0], to_move=2))


@pytest.mark.parametrize("game", ["connect4", "hex7"])
def test_a_form_that_a_game_does_not_have(game: str) -> None:
    with pytest.raises(UserError, match=rf"psq is for five in a row, not for {game}: use \.sgf or \.txt"):
        to_psq(Record(game))


def test_a_failed_write_leaves_the_old_file_alone(tmp_path: Path) -> None:
    file = tmp_path / "game.psq"
    write(Record("gomoku15", ("h8",)), file)
    before = file.read_text()
    with pytest.raises(UserError, match="a psq file cannot hold a player named '8,8': it reads as a move"):
        write(Record("gomoku15", players=("8,8", "Bob")), file)
    assert file.read_text() == before
    with pytest.raises(UserError, match="cannot write"):
        write(Record("gomoku15"), tmp_path / "missing" / "game.sgf")
    assert [path.name for path in tmp_path.iterdir()] == ["game.psq"]


# What others write

ENGINE_MATCH = """(;FF[4]GM[4]GN[17]EV[Rapfi x Yixin]DT[2024.05.01 12:00:00]RO[9.1]
RU[4]SZ[15]PB[Rapfi]PW[Yixin]RE[B+1]TE[five]
;B[hh]C[opening move];W[ig]C[opening move];B[gj]C[opening move]
;W[hj]C[512ms];B[gh]C[498ms])

(;FF[4]GM[4]GN[18]SZ[15];B[aa])
"""

ANNOTATED = r"""A game from the club, kept by an editor.

( ;GM[4]FF[3]
GaMe[4]SiZe[15] PlayerBlack[Anna \[3 dan\]: "x"]PW[C:\\Bob\
by]
C[A comment with ]
; b[hh] C[takes (the centre\]; then
B[aa\] is not a move]LB[hh:1][hg:2]
( ;W [HG] ;B[ih](;W[ii]RE[W+])(;W[gg];B[ff]) )
( ;W[ig] C[a variation];B[aa] )
)"""

EDAX = """(;FF[4]GM[2]AP[edax:4.4]
PC[Edax]DT[2026-10-07]
PB[edax]PW[?]
SZ[8]AB[e4][d5]AW[d4][e5]PL[B]
RE[Void]
B[f5];W[f6];
B[d3];W[g5];
B[h5];W[h4];
B[f7];W[h6];
B[PA];W[e7];)
"""

PASSED = ("f5", "f6", "d3", "g5", "h5", "h4", "f7", "h6", "pass", "e7")

PISKVORK = "Piskvorky 20x20, 7:7, 0\n10,10,456\n11,12,4500\n10,13,60\n{}pisq7.exe\nrenjusolver.ZIP\n0\n"


def test_sgf_of_an_engine_match_with_a_numbered_rule_and_two_games() -> None:
    moves = ("h8", "i9", "g6", "h6", "g8")
    assert from_sgf(ENGINE_MATCH) == Record(
        "renju15", moves, ("Rapfi", "Yixin"), "1-0", "2024.05.01 12:00:00"
    )


def test_sgf_with_variations_comments_escapes_and_odd_letters() -> None:
    record = from_sgf(ANNOTATED.replace("C[A comment with ]", "C[A comment]"))
    assert record.moves == ("h8", "h9", "i8", "i7")
    assert record.players == ('Anna [3 dan]: "x"', "C:\\Bobby")
    assert (record.game, record.result) == ("gomoku15", "0-1")


@pytest.mark.parametrize(
    "text",
    [
        EDAX,
        EDAX.replace("B[PA];", ""),  # Cassio writes no passes
        EDAX.replace("B[PA]", "B[]").replace("AB[e4][d5]AW[d4][e5]PL[B]", ""),
        EDAX.replace("B[PA]", "B[@@@@]").replace("B[f5]", ";B[F5]").replace("SZ[8]", ""),
        EDAX.replace("B[PA]", "B[tt]").replace("B[f5]", "B[fe]").replace("[d3]", "[dc]"),
    ],
)
def test_othello_sgf_in_every_dialect(text: str) -> None:
    assert from_sgf(text) == Record("othello8", PASSED, ("edax", "?"), date="2026-10-07")


@pytest.mark.parametrize(
    ("root", "game"),
    [
        ("GM[4]", "gomoku15"),
        ("GM[4]SZ[15]RU[Renju]", "renju15"),
        ("GM[4]SZ[15]RU[RIF]", "renju15"),
        ("GM[4]SZ[15]RU[standard]", "standard15"),
        ("GM[4]SZ[15]RU[caro]", "caro15"),
        ("GM[4]SZ[15]RU[9]", "caro15-exact"),
        ("GM[4]SZ[20]RU[Freestyle]", "gomoku20"),
        ("GM[4]SZ[19]", "mnk:rows=19,cols=19,k=5,rule=freestyle"),
        ("GM[4]SZ[6]", "mnk:rows=6,cols=6,k=5,rule=freestyle"),  # gomoku6 is four in a row
        ("GM[4]SZ[9:7]RU[1]", "mnk:rows=7,cols=9,k=5,rule=standard"),
        ("GM[2]", "othello8"),
        ("GM[2]SZ[6]", "othello6"),
        ("GM[2]SZ[4]", "othello:size=4"),
        ("GM[11]", "hex11"),
        ("GM[11]SZ[7]", "hex7"),
        ("GM[11]SZ[13:13]", "hex:size=13"),
        ("GM[0]SZ[7:6]TENGEN[connect4]", "connect4"),
        ("TENGEN[connect:rows=4,cols=12,k=4]", "connect:rows=4,cols=12,k=4"),
    ],
)
def test_the_game_of_an_sgf(root: str, game: str) -> None:
    assert from_sgf(f"(;FF[4]{root})").game == game


def test_game_overrides_what_a_file_says() -> None:
    assert from_sgf("(;GM[1]SZ[15]RU[Japanese];B[hh])", game="renju15") == Record("renju15", ("h8",))
    assert from_psq("Piskvorky 15x15, 0:0, 0\n8,8,0\n", game="caro15") == Record("caro15", ("h8",))
    assert from_text("# tengen gomoku15\nh8", game="renju15") == Record("renju15", ("h8",))


def test_sgf_moves_as_letter_and_number() -> None:
    assert from_sgf("(;GM[4];B[h8];W[H9];B[ii])").moves == ("h8", "h9", "i7")


def test_sgf_of_a_board_that_is_not_square() -> None:
    assert from_sgf("(;GM[4]SZ[9:7];B[ia];W[ag])").moves == ("i7", "a1")
    assert ";B[ia];W[ag])" in to_sgf(Record("mnk:rows=7,cols=9,k=5", ("i7", "a1")))


@pytest.mark.parametrize(
    ("written", "result"),
    [
        ("B+R", "1-0"), ("b+", "1-0"), ("W+T", "0-1"), ("0-1", "0-1"), ("0", "1/2"), ("Draw", "1/2"),
        ("Void", "*"), ("?", "*"), ("", "*"), ("nobody", "*"),
    ],
)  # fmt: skip
def test_results_in_sgf(written: str, result: str) -> None:
    assert from_sgf(f"(;GM[4]RE[{written}];B[hh])").result == result


def test_sgf_in_the_encodings_of_its_time(tmp_path: Path) -> None:
    file = tmp_path / "game.sgf"
    for encoding, said, name in (
        ("gb2312", "CA[gb2312]", "连珠"),
        ("latin-1", "", "Soosõrv"),
        ("utf-8-sig", "CA[UTF-8]", "连珠"),
        ("latin-1", "CA[gb-none]", "Soosõrv"),
    ):
        file.write_bytes(f"(;GM[4]{said}PB[{name}];B[hh])".encode(encoding))
        assert read(file) == Record("gomoku15", ("h8",), (name, ""))


def test_psq_as_piskvork_writes_it() -> None:
    moves, players = ("j11", "k9", "j8"), ("pisq7.exe", "renjusolver.ZIP")
    assert from_psq(PISKVORK.format("").replace("\n", "\r\n")) == Record("gomoku20", moves, players)
    assert (
        from_psq(PISKVORK.format("").replace(", 0\n", ", 1\n")).players == players[::-1]
    )  # the second starts
    assert from_psq("Piskvorky 20x20, 0:0, 0\n10,10,456\n11,12,4500\n10,13,60\n-1\n") == Record(
        "gomoku20", moves
    )
    assert from_psq("Piskvorky 20x20\n\n10,10\n\n 11 , 12 , 5\n10,13,-3") == Record("gomoku20", moves)
    assert (
        from_psq("Piskvorky 20x20 , 0 - 0\r\n10,10,0\r\n11,12,0\r\n10,13,0\r\n\r\n\r\n0\r\n").moves == moves
    )
    assert from_psq("Piskvorky 20x20, 0:0, 0\n10,10,0\n7\n8\n-1\n").players == ("7", "8")


@pytest.mark.parametrize(
    ("event", "game"),
    [
        ("Freestyle15_1", "gomoku15"),
        ("Standard", "standard15"),
        ("Renju_2025", "renju15"),
        ("Caro15", "caro15"),
        ("Fastgame", "gomoku15"),
        ("renju15", "renju15"),
    ],
)
def test_psq_of_the_gomocup_referee(event: str, game: str) -> None:
    text = f"Piskvorky 15x15, 11:11, 0\n8,8,0\n9,7,31000\nRAPFI25.zip\nJAX25.zip\n-1\n2,{event}\n"
    result = "0-1" if event == game else ""  # the referee counts engines, not colours
    assert from_psq(text) == Record(game, ("h8", "i9"), ("RAPFI25.zip", "JAX25.zip"), result)


def test_text_by_hand() -> None:
    assert from_text("4435", game="connect4") == Record("connect4", ("4", "4", "3", "5"))
    assert from_text("\n# TENGEN?\n#tengen hex7\n  d4,c5\n# well played\ne3d3 ").moves == (
        "d4",
        "c5",
        "e3",
        "d3",
    )
    assert from_text("f5f6d3g5h5h4f7h6e7", game="othello8").moves == PASSED
    assert from_text("", game="hex7") == Record("hex7")


# What is broken


GM = "GM[4], five in a row, GM[2], Othello, GM[11], Hex, or TENGEN[NAME OF A GAME]"
BROKEN = {
    ".sgf": {
        "": "line 1: expected '(;', got ''",
        "Piskvorky 15x15, 11:11, 0": "line 1: expected '(;', got 'Piskvorky 15x15, 11:…'",
        "(;GM[4]\n;B[hh]\n": "line 3: expected ')', the file ends",
        "(;GM[4]\n;B[hh]\n;W[hi)": "line 3: expected ']' at the end of 'W[hi)'",
        "(;GM[4];\n[hi])": "line 2: expected a property, got '[hi])'",
        "(;GM[4]\n;B[hh];W)": "line 2: expected a property, got 'W)'",
        "(;GM[4]\r\n;B[hh]\r\n;W[hh])": "line 3: illegal move 'h8' in gomoku15: there is a stone already",
        "(;GM[4]C[one\ntwo];B[hh]\n;W[pp])": "line 3: 'pp' is not on a board of 15×15",
        "(;GM[4]SZ[9];B[])": "line 1: illegal move '' in gomoku9: a move is a letter and a number such as 'a9'",
        "(;GM[4];B[hh];W[hi][hj)": "line 1: expected ']' at the end of '[hj)'",
        "(;GM[4];B[hh]\n;B[hi])": "line 2: 'h7' is a move of the wrong side: the second player is to move",
        "(;GM[4]\n;B[hh][ii])": "line 2: expected one move, got 2",
        "(;GM[4]\nAB[hh]AW[ii]PL[B])": "line 2: only games from the start can be read, not stones set up",
        "(;GM[2]AB[d5]\nAW[d4])": "line 1: only games from the start can be read, not stones set up",
        "(;GM[4]\nPL[W])": "line 2: PL[W] changes who is to move: that is not read",
        "(;SZ[15];B[hh])": f"line 1: expected {GM}, got none",
        "(;FF[4]\nGM[1])": f"line 2: expected {GM}, got 1",
        "(;FF[4]GM[0]\nAP[tengen:1])": f"line 1: expected {GM}, got 0",
        "(;GM[4]\nSZ[big])": "line 2: expected SZ[15] or SZ[9:7], got SZ[big]",
        "(;GM[4]\nSZ[52])": "line 2: mnk:rows=52,cols=52,k=5,rule=freestyle: rows is 1-26, got 52",
        "(;GM[4]\nRU[Connect6])": "line 2: unknown rule 'Connect6': name the game yourself",
        "(;GM[4]SZ[15]\nTENGEN[gomoku9])": "line 2: gomoku9 is played on 9×9, this board is 15×15",
        "(;GM[4]\nTENGEN[gomku9])": "line 2: unknown game 'gomku9', did you mean gomoku9?",
        "(;GM[0]\nTENGEN[gom\nku])": "line 2: unknown game 'gom ku', did you mean gomoku9?",
        "(;GM[11]\nSZ[9:7])": "line 2: hex7 is played on 7×7, this board is 7×9",
        "(;GM[11]\nSZ[20])": "line 2: hex:size=20: size is 2-19, got 20",
        "(;GM[11];B[c3]\n;W[swap-pieces])": "line 2: 'swap-pieces' cannot be read: there is no swap rule in hex11",
        "(;GM[11];B[c3]\n;W[Swap])": "line 2: 'swap' cannot be read: there is no swap rule in hex11",
        "(;GM[11];B[c3]\n;W[c33])": "line 2: illegal move 'c33' in hex11: rows are 1-11",
        "(;GM[11];B[c3]\n;W[resign]\n;B[a1])": (
            "line 3: 'a1' is a move of the wrong side: the second player is to move"
        ),
        "(;TENGEN[connect4]\n;B[8])": "line 2: illegal move '8' in connect4: columns are 1-7",
        "(;TENGEN[connect4]\n;B[dc])": "line 2: illegal move 'dc' in connect4: columns are 1-7",
        "(;TENGEN[connect4]\n;B[4\n4])": "line 2: illegal move '4 4' in connect4: columns are 1-7",
    },
    ".psq": {
        "": "line 1: expected 'Piskvorky 15x15, 11:11, 0', got ''",
        "Piskvorky 15x15, 11:11, 4\n": "line 1: expected 0 or 1 at the end, who starts, got 4",
        "Piskvorky 99x15, 0:0, 0\n": "line 1: mnk:rows=15,cols=99,k=5,rule=freestyle: cols is 1-26, got 99",
        "Piskvorky 15x9, 0:0, 0\n8,8,0\n8,10,0\n": "line 3: x is 1-15 and y is 1-9, got 8,10",
        "Piskvorky 15x15\n8,8\n8,8": "line 3: illegal move 'h8' in gomoku15: there is a stone already",
        "Piskvorky 15x15, 0:0, 0\n8,8,0\n9;": "line 3: expected x,y,milliseconds or a player, got '9;'",
        "Piskvorky 9x9\n8;8\n9,9\nAnn\nBob\n-1\n": "line 2: expected x,y,milliseconds or a player, got '8;8'",
        "Piskvorky 9x9\n8;8\n9,9\n-1\n": "line 3: expected x,y,milliseconds or a player, got '9,9'",
        "Piskvorky 20x20\nAnn\nBob\n-1\n0,renju15": "line 5: renju15 is played on 15×15, this board is 20×20",
    },
    ".txt": {
        "h8 h9": "line 1: expected '# tengen GAME' before the moves, got 'h8 h9'",
        "# tengen gomku15\n": "line 1: unknown game 'gomku15', did you mean gomoku15?",
        "# tengen gomoku15\n\nh8 h9\ni8 i16": "line 4: illegal move 'i16' in gomoku15: rows are 1-15",
        "# tengen connect4\nfrist: Ann": "line 2: unknown key frist, did you mean first?",
        "# tengen connect4\nx: Ann": "line 2: unknown key x: known are first, second, result, date, comment",
        "# tengen connect4\nresult: won": "line 2: a result is one of 1-0, 0-1, 1/2, *, got 'won'",
        "# tengen mnk:k=1\na1\nc2": "line 3: illegal move 'c2' in mnk:k=1: the game is over, first player wins",
    },
}


@pytest.mark.parametrize(("form", "text"), [(form, text) for form, files in BROKEN.items() for text in files])
def test_errors_say_the_line(form: str, text: str, tmp_path: Path) -> None:
    message = BROKEN[form][text]
    with pytest.raises(UserError) as error:
        FORMS[form][1](text)
    assert str(error.value) == message
    file = tmp_path / f"game{form}"
    file.write_bytes(text.encode())
    with pytest.raises(UserError) as error:
        read(file)
    assert str(error.value) == f"game{form} {message}"


def test_a_wrong_game_is_not_the_files_mistake(tmp_path: Path) -> None:
    file = tmp_path / "game.txt"
    file.write_text("h8")
    with pytest.raises(UserError, match=r"^unknown game 'gomku15', did you mean gomoku15"):
        read(file, game="gomku15")
    with pytest.raises(UserError, match=r"^line 1: hex7 is played on 7×7, this board is 15×15"):
        from_sgf("(;GM[4]SZ[15])", game="hex7")
    with pytest.raises(UserError, match=r"^line 1: psq is for five in a row, not for hex7"):
        from_psq("Piskvorky 7x7, 0:0, 0", game="hex7")


def reads_or_refuses(reader: Callable[..., Record], *arguments: object) -> None:
    try:
        record = reader(*arguments)
    except ValueError:
        return
    assert from_text(to_text(record)) == record


@given(
    st.text()
    | st.builds("(;GM[4]{}".format, st.text(r"(;)[]\BWAGMSZRU4:ahot 1" + "\n"))
    | st.builds("(;GM[11]{}".format, st.text(r"(;)[]\BWAIP1:abswapresign" + "\n"))
    | st.builds("(;TENGEN[connect4]{}".format, st.text(r"(;)[]\BWAIP1234:ab" + "\n"))
    | st.builds("Piskvorky {}".format, st.text("15x, :0-\nab"))
    | st.builds("# tengen {}".format, st.text("hexmnk:=,rowscl47 \n"))
    | st.builds("# tengen mnk:rows={},cols={},k={}\na1".format, *[st.integers(-2, 30)] * 3),
    st.sampled_from([None, "gomoku15", "connect4", "othello8"]),
)
@example("(" * 100_000 + ";", None)
@example("(;GM[4]" + "\\" * 99_999, None)
@example("(;GM[4]C" + "[a]" * 50_000 + "[", None)
@example("(;GM[4]SZ[²])", None)
@example("Piskvorky " + "1" * 10_000, None)
@example("# tengen othello:size=" + "9" * 10_000, None)
@example("(;GM[4]PB[\ud800])", None)
@settings(max_examples=500, deadline=None)
def test_no_text_breaks_the_readers(text: str, game: str | None) -> None:
    for reader in READERS:
        reads_or_refuses(reader, text, game)


def test_no_bytes_break_the_readers(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("bytes")

    @given(st.binary() | st.builds(lambda junk: b"(;GM[4]CA[gb2312]PB[" + junk + b"];B[hh])", st.binary()))
    @settings(max_examples=300, deadline=None)
    def check(data: bytes) -> None:
        for form in (".sgf", ".psq", ".txt", ""):
            file = folder / f"game{form}"
            file.write_bytes(data)
            reads_or_refuses(read, file)

    check()


VALID = [
    *(
        to_form(Record("renju15", ("h8", "i9", "g7"), ("Ann", "Bob")))
        for to_form in (to_sgf, to_psq, to_text)
    ),
    to_sgf(Record("othello8", PASSED)),
    to_sgf(Record("hex7", ("d4", "c5", "e3"))),
    to_sgf(Record("connect4", tuple("4435"))),
    ENGINE_MATCH,
    ANNOTATED,
    EDAX,
    PISKVORK.format("11,13,4261\n9,11,65\n"),
]


@given(
    st.sampled_from(VALID), st.floats(0, 1), st.characters() | st.sampled_from("()[];\\\n\r,:1 "), st.data()
)
@settings(max_examples=1000, deadline=None)
def test_no_damage_breaks_the_readers(text: str, where: float, new: str, data: st.DataObject) -> None:
    at = int(where * len(text))
    damaged = data.draw(
        st.sampled_from(
            [
                text[:at],
                text[:at] + text[at + 1 :],
                text[:at] + new + text[at + 1 :],
                text[:at] + new + text[at:],
            ]
        )
    )
    for reader in READERS:
        reads_or_refuses(reader, damaged)
