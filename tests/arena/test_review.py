"""One word for every move, the worst moments first, and tries that are accepted only if they are better."""

import pytest

from tengen.arena.blunders import Judged, judge_moves
from tengen.arena.review import Try, judgement, worst
from tengen.games.position import Position
from tengen.games.variations import JUDGEMENTS
from tengen.players.perfect import Perfect


def move(
    before: float,
    after: float,
    better: str | None = "b2",
    win_before: int | None = None,
    win_after: int | None = None,
    player: int = 1,
    number: int = 1,
) -> Judged:
    return Judged(number, player, "a1", before, after, better, (), win_before, win_after, None)


@pytest.mark.parametrize(
    ("judged", "expected"),
    [
        (move(0.2, -0.6, better=None), "best"),  # the judge would have played it too
        (move(0.2, 0.3), "best"),  # nothing lost
        (move(0.2, 0.06), "good"),
        (move(0.2, 0.05), "inaccuracy"),
        (move(0.2, -0.29), "inaccuracy"),
        (move(0.2, -0.3), "mistake"),
        (move(-0.7, -0.95), "mistake"),  # lost now, and was not before
        (move(-0.92, -1.0), "good"),  # lost before
        (move(-0.7, -0.86, win_after=-4), "mistake"),
        (move(0.95, 0.5), "missed win"),
        (move(0.91, 0.89), "good"),  # noise of the search around the limit
        (move(0.6, 0.1, win_before=9), "missed win"),
        (move(0.8, 0.3, win_before=9, win_after=15), "mistake"),  # still won, but the value fell by half
        (move(1.0, -1.0, win_before=1, win_after=-2), "missed win"),
    ],
)
def test_a_move_is_judged_by_what_it_did_to_the_result_and_the_value(judged: Judged, expected: str) -> None:
    assert judgement(judged) == expected and expected in JUDGEMENTS


def test_the_worst_moments_come_first_and_good_moves_never() -> None:
    moves = [
        move(0.5, 0.4, number=1),
        move(0.2, -0.7, number=2, player=2),
        move(0.4, 0.1, number=3),
        move(1.0, -1.0, number=5),
        move(0.1, -0.5, number=7),
        move(0.3, 0.1, number=9),
    ]
    assert [one.number for one in worst(moves)] == [5, 2, 7]
    assert [one.number for one in worst(moves, players=(1,))] == [5, 7, 3]
    assert [one.number for one in worst(moves, players=(2,))] == [2]
    assert worst(moves[:1]) == []


@pytest.mark.parametrize(
    ("before", "played", "tried", "is_accepted"),
    [
        (0.0, -1.0, 0.0, True),
        (0.0, -1.0, -0.12, True),  # loses a little more than 0.1, but the game is not lost
        (0.0, -1.0, -0.6, False),
        (0.0, -1.0, -1.0, False),  # the same mistake again
        (1.0, 0.0, 0.95, True),
        (1.0, 0.0, 0.7, False),  # the win is gone again
        (0.3, 0.1, 0.25, True),
        (0.3, 0.1, 0.19, False),  # more than half of what the move of the game lost
        (0.2, 0.3, 0.3, False),  # the move of the game lost nothing: there is nothing to do better
    ],
)
def test_a_try_must_be_better(before: float, played: float, tried: float, is_accepted: bool) -> None:
    assert Try(before, played, tried).is_accepted is is_accepted


def test_a_planted_mistake_is_found() -> None:
    """After the centre an edge loses; then the first player overlooks the win."""
    position, positions = Position.start("tictactoe"), [Position.start("tictactoe")]
    for name in ("b2", "b1", "c2", "a2", "a3", "c1", "a1"):
        position = position.play(name)
        positions.append(position)
    judge = Perfect(position.game)
    words = [judgement(one) for one in judge_moves(positions, judge.choose)]
    assert words[1] == "mistake" and words[2] == "best"
    assert set(words) <= set(JUDGEMENTS)
