"""Drawn positions for every clause of black's forbidden moves, judged by the product and by slow_rules."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tengen import games
from tengen.games import renju
from tengen.games.game import Game
from tengen.games.position import Position

from . import slow_rules
from .slow_rules import Board, Point

VERDICTS = {
    "legal": renju.LEGAL,
    "five": renju.FIVE,
    "overline": renju.OVERLINE,
    "double-four": renju.DOUBLE_FOUR,
    "double-three": renju.DOUBLE_THREE,
}
FORBIDDEN = ("overline", "double-four", "double-three")


@dataclass(frozen=True)
class Case:
    about: str
    verdict: str
    drawn: list[str]

    @property
    def game(self) -> Game:
        return games.find(f"mnk:rows={len(self.drawn)},cols={len(self.drawn[0])},k=5,rule=renju")

    @property
    def point(self) -> Point:
        return divmod(self.action, len(self.drawn[0]))

    @property
    def board(self) -> Board:
        return slow_rules.put(slow_rules.read(self.drawn), self.point, ".")

    @property
    def action(self) -> int:
        return "".join(self.drawn).index("*")

    @property
    def cells(self) -> list[int]:
        return [{"X": 1, "O": 2}.get(at, 0) for at in "".join(self.drawn)]

    def seen_from_all_sides(self) -> list["Case"]:
        """The case and its rotations and mirror images."""
        drawn, views = self.drawn, []
        for _ in range(4):
            drawn = ["".join(column) for column in zip(*drawn[::-1], strict=True)]  # a quarter turn
            views += [drawn, [line[::-1] for line in drawn]]
        return [replace(self, drawn=view) for view in views]


def read_cases() -> list[Case]:
    """The cases of renju_cases.txt: "verdict: about", then the board, then an empty line."""
    text = Path(__file__).with_name("renju_cases.txt").read_text()
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    found = []
    for block in "\n".join(lines).strip().split("\n\n"):
        title, *drawn = block.strip().splitlines()
        verdict, about = title.split(": ", 1)
        found.append(Case(about, verdict, drawn))
    return found


CASES = read_cases()
all_cases = pytest.mark.parametrize("case", CASES, ids=[f"{case.verdict}: {case.about}" for case in CASES])


def test_the_cases_are_well_drawn() -> None:
    assert len(CASES) >= 30
    for case in CASES:
        assert {len(line) for line in case.drawn} == {len(case.drawn[0])}, case.about
        assert set("".join(case.drawn)) <= set(".XO*"), case.about
        assert "".join(case.drawn).count("*") == 1, case.about
    assert {case.verdict for case in CASES} == set(VERDICTS)


@all_cases
def test_verdict(case: Case) -> None:
    for view in case.seen_from_all_sides():
        assert slow_rules.judge(view.board, view.point) == view.verdict
        state = view.game.set_up(view.cells, to_move=1)
        assert renju.judge(state.copy(), view.action) == VERDICTS[view.verdict]
        assert view.game.legal_mask(state)[view.action] == (view.verdict not in FORBIDDEN)


@all_cases
def test_black_plays(case: Case) -> None:
    position = Position.from_cells(case.game, case.cells, to_move=1)
    if case.verdict in FORBIDDEN:
        with pytest.raises(ValueError, match=f"forbidden for black, {case.verdict}"):
            position.play(case.action)
    else:
        assert position.play(case.action).winner == (1 if case.verdict == "five" else None)


@all_cases
def test_nothing_is_forbidden_for_white(case: Case) -> None:
    mask = case.game.legal_mask(case.game.set_up(case.cells, to_move=2))
    assert mask.tolist() == [cell == 0 for cell in case.cells]


@all_cases
def test_white_may_make_the_same_shapes(case: Case) -> None:
    """The colours exchanged: white's five and white's overline win, the rest is legal."""
    exchanged = [(0, 2, 1)[cell] for cell in case.cells]
    position = Position.from_cells(case.game, exchanged, to_move=2)
    assert position.play(case.action).winner == (2 if case.verdict in ("five", "overline") else None)


@pytest.mark.parametrize("about_levels", ["once", "twice", "three times"])
def test_the_recursion_is_needed_deep_down(about_levels: str) -> None:
    """A check that stops after one, two or three levels gets these wrong; so the cases are worth having."""
    levels = {"once": 1, "twice": 2, "three times": 3}[about_levels]
    found = [case for case in CASES if f"asked {about_levels} is not enough" in case.about]
    assert found
    for case in found:
        assert slow_rules.judge(case.board, case.point, levels) != case.verdict


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("overline", "overline (six or more)"),
        ("double-four", "double-four (4-4)"),
        ("double-three", "double-three (3-3)"),
    ],
)
def test_the_error_says_why(verdict: str, words: str) -> None:
    case = next(case for case in CASES if case.verdict == verdict)
    position = Position.from_cells(case.game, case.cells, to_move=1)
    move = case.game.moves.name(case.action)
    with pytest.raises(ValueError) as error:
        position.play(move)
    assert str(error.value) == f"illegal move '{move}' in {case.game.name}: forbidden for black, {words}"


def test_a_white_stone_makes_a_forbidden_point_legal_again() -> None:
    """In a game as well as on a board set up by hand: the marks are renewed at every move."""
    position = Position.from_moves("renju15", "h8 a1 i8 a3 j10 a5 j11 a7")
    assert "j8" not in position.legal_moves  # h8 i8 j8 and j8 j10 j11
    waiting = position.play("o1")
    assert "j8" in waiting.legal_moves  # white's turn
    assert "j8" not in waiting.play("o3").legal_moves
    assert "j8" in waiting.play("j9").legal_moves
