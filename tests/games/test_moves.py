"""Moves that are more than a cell: their names, their symmetries, how they are drawn and refused."""

from pathlib import Path

import numpy as np
import pytest

from tengen import games
from tengen.errors import UserError
from tengen.games import records, symmetry
from tengen.games.coordinates import BoardMoves, Cells, Columns, FromTo, Kinds, Steps
from tengen.games.position import Position

EXAMPLES = Path(__file__).parents[2] / "examples"
KING = tuple((down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right)

MOVES: list[BoardMoves] = [
    Cells(3, 4),
    Cells(3, 4, row_one="top", with_pass=True),
    Steps(3, 4, steps=KING),
    Steps(3, 4, with_pass=True, steps=((2, 0), (-2, 0))),
    Kinds(3, 4, kinds=("small", "Large")),
    Kinds(3, 4, with_pass=True, kinds=("s", "l")),
    FromTo(3, 4),
    FromTo(3, 4, row_one="top", with_pass=True),
]


@pytest.fixture(scope="module")
def breakthrough() -> Position:
    games.load_file(EXAMPLES / "breakthrough.py")
    return Position.start("breakthrough")


@pytest.mark.parametrize("moves", MOVES, ids=repr)
def test_every_action_has_a_name_of_its_own_that_reads_back(moves: BoardMoves) -> None:
    names = [moves.name(action) for action in range(moves.num_actions)]
    assert len(set(names)) == len(names)
    for action, name in enumerate(names):
        assert moves.action(name) == moves.action(f" {name.upper()} ") == action
    assert moves.split(" ".join(names)) == [name.lower() for name in names]
    assert (names[-1] == "pass") == moves.with_pass


def test_the_number_of_an_action_is_what_it_says() -> None:
    assert FromTo(5, 5).action("a5-b5") == 0 * 25 + 1 and FromTo(5, 5).action("b2b3") == 16 * 25 + 11
    assert Steps(5, 5, steps=((-1, 0), (0, 1))).action("b2-c2") == 16 * 2 + 1
    assert Kinds(5, 5, kinds=("small", "large")).action("b2 large") == 16 * 2 + 1


def test_cells_of_a_move_are_tables_for_the_rules() -> None:
    moves = Steps(2, 2, with_pass=True, steps=((1, 0), (0, 1)))
    assert moves.sources.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, -1]
    assert moves.targets.tolist() == [2, 1, 3, -1, -1, 3, -1, -1, -1]
    pairs = FromTo(1, 2)
    assert pairs.sources.tolist() == [0, 0, 1, 1] and pairs.targets.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("text", ["b2-b3", "B2B3", "b2 b3", " b2 - b3", "b2xb3", "b2>b3", "b2:b3"])
def test_a_move_may_be_written_in_many_ways(text: str) -> None:
    for moves in (FromTo(5, 5), Steps(5, 5, steps=((-1, 0),))):
        assert moves.name(moves.action(text)) == "b2-b3"
        assert [moves.action(move) for move in moves.split(f"{text} {text}")] == [moves.action(text)] * 2


@pytest.mark.parametrize(
    ("moves", "text", "problem"),
    [
        (FromTo(5, 5), "b2", "a move is two cells, from and to, such as 'a5-b5'"),
        (FromTo(5, 5, with_pass=True), "", "a move is two cells, from and to, such as 'a5-b5' or 'pass'"),
        (FromTo(5, 5), "b2-b6", "rows are 1-5"),
        (FromTo(5, 5), "b2-f2", "columns are a-e"),
        (Steps(5, 5, steps=((-1, 0),)), "b2-b4", "no piece goes from b2 to b4 in this game"),
        (Kinds(5, 5, kinds=("s", "l")), "b2-x", "a move is a cell and one of s, l, such as 'a5-s'"),
    ],
)
def test_a_text_that_is_no_move_says_what_one_is(moves: BoardMoves, text: str, problem: str) -> None:
    with pytest.raises(UserError) as error:
        moves.action(text)
    assert str(error.value) == problem


@pytest.mark.parametrize(
    "moves", [FromTo(4, 4), Steps(4, 4, steps=KING), Cells(4, 4, with_pass=True)], ids=repr
)
def test_symmetries_move_both_ends_of_a_move(moves: BoardMoves) -> None:
    group = symmetry.square(4).for_moves(moves)
    assert len(group) == 8
    for cells, actions in zip(group.cells, group.actions, strict=True):
        assert sorted(actions) == list(range(moves.num_actions))
        for action in range(moves.num_actions):
            ends = [int(cells[cell]) for cell in moves.touched(action)]
            assert list(moves.touched(int(actions[action]))) == ends


def test_a_mirror_keeps_kinds_and_exchanges_columns() -> None:
    assert symmetry.mirror(1, 3).for_moves(Kinds(1, 3, kinds=("s", "l"))).actions[1].tolist() == [
        4,
        5,
        2,
        3,
        0,
        1,
    ]
    assert symmetry.mirror(6, 7).for_moves(Columns(7)).actions.tolist() == [[*range(7)], [*range(6, -1, -1)]]


def test_a_symmetry_that_the_moves_do_not_have_is_refused() -> None:
    with pytest.raises(
        UserError, match=r"turns the step \(-1, 0\) into \(0, -1\), which is none of the steps"
    ):
        symmetry.square(4).for_moves(Steps(4, 4, steps=((-1, 0), (1, 0))))
    with pytest.raises(UserError, match="turns columns into rows"):
        symmetry.square(4).for_moves(Columns(4))


def test_a_move_is_drawn_where_it_came_from_and_where_it_went(breakthrough: Position) -> None:
    position = breakthrough.play("c2-d3").play("d5-d4")
    assert str(position).splitlines()[1:4] == ["5 O O O : O O", "4 . . .(O). .", "3 . . . X . ."]
    assert position.svg().count('class="from"') == position.svg().count('class="last"') == 1
    assert "48;5;72m·" in position.text(color=True), "where it came from has the ground of the last move"


def test_a_refused_move_names_those_of_the_same_piece(breakthrough: Position) -> None:
    with pytest.raises(UserError, match=r"legal moves from c2 are c2-b3 c2-c3 c2-d3$"):
        breakthrough.play("c2-c1")


def test_a_game_of_moves_is_written_and_read_back(breakthrough: Position) -> None:
    record = records.Record.from_position(breakthrough.play("c2-c3").play("d5-d4").play("c3xd4"))
    assert record.moves == ("c2-c3", "d5-d4", "c3-d4")
    assert records.from_text(records.to_text(record)) == record
    assert Position.from_moves("breakthrough", "c2c3d5d4c3d4") == record.position()


def test_breakthrough_is_won_on_the_far_row_and_by_taking_all(breakthrough: Position) -> None:
    position = Position.from_moves("breakthrough", "c2-d3 d5-d4 d3-e4 b5-c4 e4-f5 a5-a4 f5-e6")
    assert position.winner == 1 and not position.legal_moves
    state = breakthrough.state.copy()
    state[:36] = 0
    state[7], state[14] = 2, 1
    last = Position(breakthrough.game, state).play("c4-b5")
    assert last.winner == 1 and np.count_nonzero(last.state[:36]) == 1
