"""Variations: the tree of moves, and that SGF keeps all of it."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tengen import games
from tengen.errors import UserError
from tengen.games import records
from tengen.games.facts import RESULTS, Facts, result_on_board
from tengen.games.position import Position
from tengen.games.records import parse_variations, read_variations, render_variations, write_variations
from tengen.games.result import RESULT
from tengen.games.variations import JUDGEMENTS, Variations

EXAMPLES = Path(__file__).parents[2] / "examples"


def opened(moves: str = "b2 a1 c1", game: str = "tictactoe") -> Variations:
    return Variations.from_position(Position.from_moves(game, moves))


def parsed(text: str) -> tuple[Variations, str]:
    return parse_variations(text.encode(), ".sgf")


# The tree


def test_a_game_is_a_main_line() -> None:
    game = opened()
    assert [node.move for node in game.main_line()] == [None, "b2", "a1", "c1"]
    assert game.node.move == "c1" and game.node.position == Position.from_moves("tictactoe", "b2 a1 c1")
    assert (game.first().move, game.back().move, game.forward().move) == (None, None, "b2")
    assert (game.last().move, game.forward().move, game.back().move) == ("c1", "c1", "a1")


def test_a_known_move_is_entered_and_another_one_is_a_variation() -> None:
    game = opened()
    main = [node.id for node in game.main_line()]
    game.first()
    assert game.play("b2").id == main[1] and len(game) == 4
    other = game.play("c3")
    assert other.id not in main and len(game) == 5 and game.current == other.id
    assert game[main[1]].children == (main[2], other.id)
    assert not game.is_main(other.id) and game.is_main(main[3]) and game.is_main(game.root)
    assert game.to_text() == "b2 a1 (c3) c1"
    assert game.to_text(marked=other.id) == "b2 a1 ([c3]) c1"
    assert game.to_text(marked=game.root) == "[start] b2 a1 (c3) c1"
    assert Variations(Position.start("tictactoe")).to_text(marked=0) == ""


def test_nodes_come_parents_first_and_the_main_line_first() -> None:
    game = opened()
    game.go_to(1)
    game.play("c3")
    assert [node.move for node in game] == [None, "b2", "a1", "c1", "c3"]
    game.promote(game.current)
    assert [node.move for node in game] == [None, "b2", "c3", "a1", "c1"]


def test_promoted_the_line_is_the_main_line_to_its_end() -> None:
    game = opened()
    game.go_to(1)
    game.play("c3")
    deep = game.play("a3")
    game.back()
    game.play("a2")
    game.promote(game.current)
    assert game.to_text() == "b2 c3 (a1 c1) a2 (a3)"
    game.promote(deep.id)
    assert [node.move for node in game.main_line()] == [None, "b2", "c3", "a3"]


def test_ids_are_never_used_again() -> None:
    game = opened()
    game.delete(2)
    assert (len(game), game.current, game.to_text()) == (2, 1, "b2")
    assert game.play("c1").id == 4
    with pytest.raises(UserError, match="there is no node 3 in this game: it was deleted, or never was"):
        game.go_to(3)
    assert game.current == 4
    with pytest.raises(UserError, match="the start of a game cannot be deleted"):
        game.delete(game.root)


def test_deleting_elsewhere_leaves_the_current_node() -> None:
    game = opened()
    game.go_to(1)
    game.play("c3")
    game.delete(2)
    assert game.node.move == "c3" and game.to_text() == "b2 c3"


def test_an_illegal_move_changes_nothing() -> None:
    game = opened()
    with pytest.raises(UserError, match="there is a stone already"):
        game.play("b2")
    assert len(game) == 4 and game.node.move == "c1"


def test_notes_are_checked() -> None:
    game = opened()
    game.set_comment(1, "a\r\nb\rc")
    game.set_value(1, 0.123456)
    game.set_judgement(1, "best")
    assert (game[1].comment, game[1].value, game[1].judgement) == ("a\nb\nc", 0.1235, "best")
    with pytest.raises(UserError, match=r"a value is from -1 to 1, got 1\.5"):
        game.set_value(1, 1.5)
    with pytest.raises(UserError, match="a value is from -1 to 1, got nan"):
        game.set_value(1, float("nan"))
    with pytest.raises(UserError, match=r"a judgement is one of best, .*, got 'fine'"):
        game.set_judgement(1, "fine")
    with pytest.raises(UserError, match="no move that could be judged"):
        game.set_judgement(0, "best")
    with pytest.raises(UserError, match="cannot be written as text"):
        game.set_comment(1, "\ud800")


def test_games_are_equal_by_what_they_hold() -> None:
    game = opened()
    assert game == opened() and game != opened("b2 a1")
    game.set_comment(2, "x")
    assert game != opened()
    nested, flat = opened("b2 a1"), opened("b2 a1")  # the same moves, elsewhere
    nested.play("c3")
    flat.back()
    flat.play("c3")
    assert nested != flat
    assert Variations(Position.from_cells("tictactoe", [0] * 9, 2)) != Variations(Position.start("tictactoe"))


# SGF keeps all of it

comments = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\r") | st.sampled_from("[]\\:;()\n \t"),
    max_size=12,
)
texts = st.text(st.sampled_from("ab[]\\:; 连é"), max_size=6)
BUNDLED = list(games.REGISTRY)
FROM_FILES = ["breakthrough", "connect6"]
OTHER_SIZES = [
    "mnk:rows=7,cols=9,k=5,rule=standard",
    "connect:rows=4,cols=12,k=4",
    "hex:size=13",
    "othello:size=4",
]


@pytest.fixture(scope="module", autouse=True)
def games_from_files() -> None:
    for name in FROM_FILES:
        games.load_file(EXAMPLES / f"{name}.py")


@st.composite
def trees(draw: st.DrawFn, name: str) -> Variations:
    """Random games with variations and notes, some from positions set up by hand. Any node is current."""
    start = Position.start(name)
    chance = random.Random(draw(st.integers(0, 2**32)))
    if start.game.settle is not None and draw(st.booleans()):
        num_cells = start.game.rows * start.game.cols
        density = draw(st.sampled_from([0.0, 0.1, 0.5]))
        cells = [chance.choice((1, 2)) if chance.random() < density else 0 for _ in range(num_cells)]
        if start.game.look == "columns":  # the stones fall
            columns = [sorted(cells[col :: start.game.cols], key=bool) for col in range(start.game.cols)]
            cells = [stone for row in zip(*columns, strict=True) for stone in row]
        start = Position.from_cells(start.game, cells, draw(st.integers(1, 2)))
    facts = Facts((draw(texts), draw(texts)), draw(st.sampled_from(RESULTS)), draw(texts), draw(texts))
    tree = Variations(start, facts)
    for _ in range(draw(st.integers(0, 30))):
        if chance.random() < 0.3:
            tree.go_to(chance.choice([node.id for node in tree]))
        if not tree.node.position.is_over:
            tree.play(chance.choice(tree.node.position.legal_actions))
    for comment in draw(st.lists(comments, max_size=5)):
        tree.set_comment(chance.choice([node.id for node in tree]), comment)
    for node in list(tree)[1:]:
        if chance.random() < 0.2:
            tree.set_value(node.id, chance.uniform(-1, 1))
            tree.set_judgement(node.id, chance.choice(JUDGEMENTS))
    tree.go_to(chance.choice([node.id for node in tree]))
    if tree.node.position.is_over:
        tree.facts = replace(facts, result=result_on_board(tree.node.position))
    return tree


def moves_to(tree: Variations, node_id: int) -> list[str | None]:
    return [node.move for node in tree.path(node_id)]


@pytest.mark.parametrize("name", [*BUNDLED, *OTHER_SIZES, *FROM_FILES])
def test_random_trees_come_back(name: str) -> None:
    @given(trees(name))
    @settings(max_examples=30, deadline=None)
    def check(tree: Variations) -> None:
        text, note = render_variations(tree, ".sgf", end=tree.current)
        assert note == ""
        again, note = parsed(text)
        assert note == "" and again == tree
        assert moves_to(again, again.current) == moves_to(tree, tree.current)
        assert parsed(text.replace("\n", "\r\n"))[0] == tree
        assert render_variations(again, ".SGF", end=again.current)[0] == text
        end, _ = parsed(text.replace("IP[]", ""))
        assert end.current == end.main_line()[-1].id

    check()


def test_an_sgf_with_variations_of_ours() -> None:
    game = opened("h8 h9 i8", "gomoku15")
    game.set_comment(0, "a [start]")
    game.set_comment(2, "an answer\\\n")
    game.set_value(2, -0.25)
    game.set_judgement(2, "mistake")
    game.go_to(1)
    game.play("a15")
    text = render_variations(game, ".sgf")[0]
    assert text.endswith(
        "RE[Void]C[a [start\\]]\n;B[hh]\n(;W[hg]BM[1]V[-0.25]C[an answer\\\\\n];B[ih])\n(;W[aa]))\n"
    )


@pytest.mark.parametrize("is_nested", [False, True])
def test_a_deep_tree_is_no_recursion(is_nested: bool, tmp_path: Path) -> None:
    """A full board of 19×19 and a variation at every move; nested, each is a variation of the one before."""
    game = Variations(Position.start("mnk:rows=19,cols=19,k=19"))
    cells = list(range(361))
    random.Random(1).shuffle(cells)
    for i, cell in enumerate(cells):
        game.set_comment(game.current, f"move {i}")
        following = cells[i + 1 : i + 2]
        for action in (*following, cell) if is_nested else (cell, *following):
            game.add(game.current, action)
        game.play(cell)
    assert len(game.path(game.current)) == 362 and len(game.main_line()) == (2 if is_nested else 362)
    game.facts = Facts(result=result_on_board(game.main_line()[-1].position))
    file = tmp_path / "deep.sgf"
    assert write_variations(game, file) == ""
    assert read_variations(file) == (game, "")
    assert game.to_text().count("(") == 360
    game.promote(game.current)
    game.delete(1 if is_nested else 2)
    game.first()
    assert game.last().position.is_over


def test_text_and_psq_say_what_they_leave_out(tmp_path: Path) -> None:
    game = opened("h8 h9 i8", "gomoku15")
    assert write_variations(game, tmp_path / "game.txt") == ""
    game.set_comment(1, "x")
    game.set_value(2, 0.5)
    game.go_to(1)
    game.play("a15")
    game.play("a14")
    for name in ("game.txt", "game.psq"):
        note = write_variations(game, tmp_path / name)
        assert note == "left out: 1 variation, 1 comment, 1 evaluation; .sgf keeps all of it"
        again, note = read_variations(tmp_path / name)
        assert note == "" and again.to_text() == "h8 h9 i8"
    assert write_variations(game, tmp_path / "short.txt", end=1) == (
        "left out: 2 variations, 1 comment, 1 evaluation; .sgf keeps all of it"
    )
    assert records.read(tmp_path / "short.txt").moves == ("h8",)
    four = opened("4 4", "connect4")
    four.back()
    four.play("3")
    assert write_variations(four, tmp_path / "four.txt") == "left out: 1 variation; .sgf keeps all of it"


# Files of others


def test_a_variation_with_a_forbidden_move_is_left_out_and_told() -> None:
    """Books on renju show such moves; the game itself is still read."""
    moves = "h8h9i7i9h10i6i11i12"
    game = opened(moves, "renju15")
    game.play("g10")
    text = render_variations(game, ".sgf")[0]
    text = text.replace(";B[gf])", "\n(;B[gf])\n(;B[gg]C[double three];W[aa])\n(;B[aa]))")
    again, note = parsed(text)
    assert note == (
        "left out a variation, line 4: illegal move 'g9' in renju15: forbidden for black, double-three (3-3)"
    )
    assert again.to_text().endswith("i12 g10 (a15)")
    assert records.from_sgf(text).moves == tuple(game.node.position.moves)  # a record has no variations
    two = parsed(text.replace("(;B[aa])", "(;B[aa];W[aa])"))[1]
    assert two.endswith("double-three (3-3); and 1 more")


def test_comments_in_nodes_of_every_kind() -> None:
    game, _ = parsed("(;GM[4]C[root];C[more];C[before]B[hh];C[pause]TE[1]V[0.5];W[ii]V[12]TE[x])")
    assert [node.comment for node in game] == ["root\nmore", "before\npause", ""]
    assert [(node.value, node.judgement) for node in game] == [(None, ""), (0.5, "good"), (None, "")]


def test_a_missing_semicolon_moves_nothing_to_another_node() -> None:
    game, note = parsed("(;GM[4];B[hh](W[ii]C[a])W[jj]C[b])")
    assert note == "" and game.to_text() == "h8 i7 (j6)"
    assert [node.comment for node in game] == ["", "", "a", "b"]


def test_the_same_move_twice_is_one_variation() -> None:
    game, note = parsed("(;GM[4](;B[hh]C[a];W[ii])(;B[hh]C[b];W[aa]))")
    assert note == "" and game.to_text() == "h8 i7 (a15)" and game[1].comment == "a\nb"


def test_a_pass_that_a_file_leaves_out_is_put_in_everywhere() -> None:
    passed = "f5 f6 d3 g5 h5 h4 f7 h6 pass e7"
    text = render_variations(opened(passed, "othello8"), ".sgf")[0].replace(
        ";B[];W[e7])", "(;W[e7])(;W[c5]))"
    )
    game, note = parsed(text)
    assert note == "" and game.to_text() == passed + " (c5)"


@pytest.mark.parametrize(
    ("text", "stones", "to_move"),
    [
        ("(;GM[4]AB[hh]AW[ii]PL[W])", {"h8": 1, "i7": 2}, 2),
        ("(;GM[4]AB[hh]AW[ii])", {"h8": 1, "i7": 2}, 1),
        ("(;GM[4]AB[hh])", {"h8": 1}, 2),
        ("(;GM[4]AB[hh][gg]AW[ii];W[aa])", {"h8": 1, "g9": 1, "i7": 2}, 2),
        ("(;GM[4];AB[hh];AW[ii];B[aa])", {"h8": 1, "i7": 2}, 1),
        ("(;GM[4]AB[aa:bb]AE[ba]PL[B])", {"a15": 1, "a14": 1, "b14": 1}, 1),
        ("(;GM[4]PL[W])", {}, 2),
        ("(;GM[2]SZ[6]AB[a1]AW[b1]PL[W])", {"a1": 1, "b1": 2}, 2),
        ("(;GM[11]AB[c2]AW[b3][bd])", {"c2": 1, "b3": 2, "b4": 2}, 1),
        ("(;GM[11]SZ[7]PL[W];W[a1])", {}, 2),
        ("(;GM[11]SZ[7];W[a1])", {}, 2),
    ],
)
def test_stones_are_set_up(text: str, stones: dict[str, int], to_move: int) -> None:
    game, note = parsed(text)
    start = game[game.root].position
    cells = start.state[start.game.cells]
    assert {start.game.moves.name(i): cell for i, cell in enumerate(cells) if cell} == stones
    assert (start.to_move, note) == (to_move, "")
    assert parsed(render_variations(game, ".sgf")[0]) == (game, "")
    with pytest.raises(UserError, match="a record needs every move from the start"):
        render_variations(game, ".txt")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(;GM[4]\n;B[hh]\n;AB[aa])", "line 3: stones can be set up before the first move only"),
        ("(;GM[4]\nAB[pp])", "line 2: 'pp' is not on a board of 15×15"),
        ("(;GM[4]AB[hh]\nPL[x])", "line 2: expected PL[B] or PL[W], got PL[x]"),
        ("(;GM[2]\nAB[tt])", "line 2: 'tt' is not on a board of 8×8"),
        ("(;TENGEN[connect4]\nAB[4])", "line 2: '4' is no point of the board"),
        ("(;TENGEN[connect4]\nAB[dg])", "line 2: 'dg' is not on a board of 6×7"),
        ("(;TENGEN[connect4]\nAB[df]AW[dd])", "line 2: stones fall in connect4: there is none below dd"),
        (
            "(;TENGEN[breakthrough]\nAB[aa]PL[W])",
            "line 2: breakthrough cannot be set up from a board, only played from its start",
        ),
        ("(;GM[4];B[hh]\nPL[B])", "line 2: PL[B] changes who is to move: that is not read"),
        (
            "(;GM[4]\nAB[hh]PL[W];B[aa])",
            "line 2: 'a15' is a move of the wrong side: the second player is to move",
        ),
        ("(;GM[4];B[hh]", "line 1: expected ')', the file ends"),
    ],
)
def test_errors_say_the_line(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as error:
        parsed(text)
    assert str(error.value) == message
    file = tmp_path / "game.sgf"
    file.write_text(text)
    with pytest.raises(UserError) as error:
        read_variations(file)
    assert str(error.value) == f"game.sgf {message}"


def test_a_broken_set_up_in_a_variation_is_left_out() -> None:
    game, note = parsed("(;GM[4];B[hh](;W[ii])(;AE[hh]\n;B[aa]))")
    assert game.to_text() == "h8 i7"
    assert note == "left out a variation, line 1: stones can be set up before the first move only"


def test_what_sgf_cannot_hold_is_refused() -> None:
    moved = Position.from_integer("breakthrough", Position.from_moves("breakthrough", "c2-c3").integer)
    with pytest.raises(UserError, match="breakthrough cannot be set up from a board"):
        render_variations(Variations(moved), ".sgf")
    game = Position.start("gomoku15").game
    state = game.new_state()
    state[RESULT] = 2  # won on an empty board
    with pytest.raises(UserError, match="this position of gomoku15 cannot be set up from its stones alone"):
        render_variations(Variations(Position(game, state)), ".sgf")


@given(
    st.builds("(;GM[4]{}".format, st.text(r"(;)[]\BWACVPLTEGMSZRU4:ahot 1" + "\n"))
    | st.builds("(;GM[2]{})".format, st.text(r"(;)[]BWAPLe4d5 1" + "\n"))
    | st.builds("(;GM[11]{})".format, st.text(r"(;)[]BWAIPLa1 2resign" + "\n"))
    | st.builds("(;TENGEN[connect4]{})".format, st.text(r"(;)[]BWAIPLab1 2" + "\n"))
    | st.text()
)
@settings(max_examples=500, deadline=None)
def test_no_text_breaks_the_reader(text: str) -> None:
    try:
        game, _ = parse_variations(text.encode("utf-8", "replace"), ".sgf")
    except ValueError:
        return
    assert parsed(render_variations(game, ".sgf")[0]) == (game, "")
