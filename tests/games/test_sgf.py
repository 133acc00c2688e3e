"""How SGF writes games other than five in a row, what other programs write, and where a game stands."""

from dataclasses import replace
from pathlib import Path

import pytest

import tengen
from tengen import games
from tengen.errors import UserError
from tengen.games.position import Position
from tengen.games.records import Record, from_sgf, parse_variations, render_variations, to_sgf
from tengen.games.variations import Variations


def opened(moves: str, game: str) -> Variations:
    return Variations.from_position(Position.from_moves(game, moves))


def parsed(text: str, game: str | None = None) -> tuple[Variations, str]:
    return parse_variations(text.encode(), ".sgf", game)


# What we write


def test_a_hex_sgf_of_ours() -> None:
    game = opened("d4 c5 e3", "hex7")
    game.go_to(1)
    game.play("d3")
    assert render_variations(game, ".sgf")[0] == (
        f"(;FF[4]GM[11]CA[UTF-8]AP[tengen:{tengen.__version__}]SZ[7]TENGEN[hex7]RE[Void]\n"
        ";B[d4]\n(;W[c5];B[e3])\n(;W[d3]))\n"
    )


def test_a_connect4_sgf_of_ours() -> None:
    game = opened("4 4 3", "connect4")
    game.set_comment(3, "threatens [2] and [5]")
    game.go_to(2)
    game.play("7")
    assert render_variations(game, ".sgf")[0] == (
        f"(;FF[4]GM[0]CA[UTF-8]AP[tengen:{tengen.__version__}]SZ[7:6]TENGEN[connect4]RE[Void]\n"
        ";B[4];W[4]\n(;B[3]C[threatens [2\\] and [5\\]])\n(;B[7]))\n"
    )


def test_a_position_set_up_in_connect4_has_points() -> None:
    cells = [0] * 42
    cells[38], cells[39], cells[31] = 1, 2, 1
    game = Variations(Position.from_cells("connect4", cells, to_move=2))
    game.play("4")
    text = render_variations(game, ".sgf")[0]
    assert "RE[Void]AB[de][df]AW[ef]PL[W]\n;W[4])" in text
    assert parsed(text) == (game, "")


def test_a_game_from_a_file_is_written_by_the_names_of_its_moves() -> None:
    games.load_file(Path(__file__).parents[2] / "examples" / "breakthrough.py")
    record = Record("breakthrough", ("c2-c3", "d5-d4", "c3xd4"))
    text = to_sgf(record)
    assert "GM[0]" in text and "SZ[6]TENGEN[breakthrough]RE[Void]\n;B[c2-c3];W[d5-d4];B[c3-d4])" in text
    assert from_sgf(text) == record


def test_the_file_of_a_game_that_is_not_loaded() -> None:
    with pytest.raises(
        UserError, match=r"^line 1: unknown game 'my-game': .* needs its file, tengen --games"
    ):
        from_sgf("(;GM[0]TENGEN[my-game];B[x])")


class OddNames:
    """Names that mean something in SGF: brackets, backslashes, points, a pass, capital letters."""

    NAMES = ("a]", "[\\", "cc", "pass", "B[aa]", ";(", "Ab", "aB", "连 珠")

    def name(self, action: int) -> str:
        return self.NAMES[action]

    def action(self, text: str) -> int:
        if text not in self.NAMES:
            raise UserError(f"a move is one of {', '.join(self.NAMES)}")
        return self.NAMES.index(text)

    def split(self, text: str) -> list[str]:
        return text.split(",")


def test_names_of_any_kind_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    odd = replace(games.find("connect:rows=3,cols=9,k=3"), name="odd", moves=OddNames())
    monkeypatch.setitem(games.REGISTRY, "odd", lambda name: odd)
    for first in OddNames.NAMES:
        game = Variations(Position.start(odd))
        for move in (first, *OddNames.NAMES[::2]):
            game.first()
            game.play(move)
            game.play("pass")
        assert parsed(render_variations(game, ".sgf")[0]) == (game, "")


# What other programs write

EDITOR = """(;AP[HexGui:0.9.3]FF[4]GM[11]SZ[11]
;B[a10];W[f6]
(;B[D9]C[solid];W[d8])
(;B[c5]LB[d4:1]))
"""
SERVER = (
    "(;FF[4]CA[UTF-8]AP[PlayHex:0.0.0]GM[11]SZ[7]PB[Ann]PW[Bob]DT[2026-08-27]HA[0]RE[W+Resign]PL[B]"
    ";B[a2]BL[600];W[d4]WL[595];B[d2]BL[590])"
)
LIKE_GO = "(;FF[4]EV[cup]PB[Ann]PW[Bob]SZ[13]GC[game #1];B[am];W[ii];B[de];W[resign])"


def test_hex_of_an_editor_with_variations() -> None:
    game, note = parsed(EDITOR)
    assert note == "" and game.to_text(marked=game.current) == "a10 f6 d9 (c5) [d8]"
    assert game.node.position.game.name == "hex11"
    assert [node.comment for node in game if node.comment] == ["solid"]


def test_hex_of_a_server_with_clocks() -> None:
    expected = Record("hex7", ("a2", "d4", "d2"), ("Ann", "Bob"), "0-1", "2026-08-27")
    assert from_sgf(SERVER) == expected


def test_hex_with_points_as_in_go_and_a_resignation() -> None:
    record = Record("hex:size=13", ("a13", "i9", "d5"), ("Ann", "Bob"), "1-0", comment="game #1")
    assert from_sgf(LIKE_GO, game="hex:size=13") == record
    with pytest.raises(UserError, match=r"^line 1: expected GM\[4\], .*, got none"):
        from_sgf(LIKE_GO)
    assert from_sgf("(;GM[11];B[a1];W[b2];B[forfeit])").result == "0-1"
    assert from_sgf("(;GM[11]RE[B+];B[a1];W[b2];B[Resign])").result == "1-0"  # what RE says is believed


def test_a_swap_in_a_variation_is_left_out_and_told() -> None:
    game, note = parsed("(;GM[11];B[a1](;W[b2];B[c3])(;W[swap-pieces];B[d4])(;W[d5]))")
    assert game.to_text() == "a1 b2 (d5) c3"
    assert note == (
        "left out a variation, line 1: 'swap-pieces' cannot be read: there is no swap rule in hex11"
    )


# Where a game stands

TAKEN_BACK = "(;GM[4];B[hh];W[ig]{}(;B[gg];W[gh])(;B[ii]{}))"


def test_the_node_where_a_game_stands_is_marked() -> None:
    game = opened("h8 i9 g9", "gomoku15")
    assert "IP" not in render_variations(game, ".sgf")[0]
    assert "IP" not in render_variations(game, ".sgf", end=3)[0]  # the end of the main line
    assert "\n;B[hh];W[ig]IP[];B[gg])" in render_variations(game, ".sgf", end=2)[0]
    assert "RE[Void]IP[]\n;B[hh];" in render_variations(game, ".sgf", end=0)[0]
    for node in game:
        again, _ = parsed(render_variations(game, ".sgf", end=node.id)[0])
        assert again == game and again.current == node.id


def test_a_won_game_taken_back_is_not_won() -> None:
    game = opened("a1 a2 b1 b2 c1", "tictactoe")
    assert "RE[B+]" in render_variations(game, ".sgf")[0]
    text = render_variations(game, ".sgf", end=4)[0]
    assert "RE[Void]" in text and parsed(text)[0].facts.result == "*"


@pytest.mark.parametrize(
    ("on_main_line", "in_variation", "stands_at"),
    [
        ("", "", "g8"),
        ("IP[]", "", "i9"),
        ("IP[whatever]IP[]", "", "i9"),
        ("", "IP[]", "i7"),
        ("IP[]", "IP[]", "g8"),  # two places: damaged
        ("", ";W[ii]IP[]", "g8"),  # in a variation that is left out
        ("TENGENIP[]", "IQ[]", "g8"),  # unknown
    ],
)
def test_where_a_file_says_that_a_game_stands(on_main_line: str, in_variation: str, stands_at: str) -> None:
    assert parsed(TAKEN_BACK.format(on_main_line, in_variation))[0].node.move == stands_at


def test_a_record_is_the_main_line_wherever_the_game_stands() -> None:
    assert from_sgf(TAKEN_BACK.format("IP[]", "")).moves == ("h8", "i9", "g9", "g8")
