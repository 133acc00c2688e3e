"""Scored positions: read with care, counted right."""

import json
from pathlib import Path

import pytest

from tengen import players
from tengen.arena import reference
from tengen.arena.interval import rate
from tengen.errors import UserError
from tengen.games import find
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.players.decision import Decider
from tengen.players.limit import Limit
from tengen.players.player import Choice
from tengen.workers.tasks import RunTasks

EMPTY = [0] * 42
ROW = {"board": EMPTY, "score": 1, "move score": [-2, -1, 0, 1, 0, -1, -2]}


class Always(Decider):
    """Plays one column."""

    summary = "for tests"

    def __init__(self, game: Game, column: int) -> None:
        super().__init__(game)
        self._column = column

    def decide(self, position: Position, limit: Limit) -> Choice:
        return Choice(self._column)


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def scored(scores: list[int]) -> dict[str, object]:
    return {"board": EMPTY, "score": max(scores), "move score": scores}


def test_perfect_is_the_highest_score_and_good_keeps_the_result(
    tmp_path: Path, run_tasks: RunTasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Column 1 (action 0) in five positions."""
    file = write(
        tmp_path / "set.jsonl",
        scored([3, 1, 1, 1, 1, 1, 1]),  # perfect; every move is good
        scored([1, 2, 0, 0, 0, 0, 0]),  # good: still wins, but later
        scored([0, 2, 0, 0, 0, 0, 0]),  # a mistake: a win thrown away
        scored([-5, -2, -2, -2, -2, -2, -2]),  # good: lost anyway, but sooner
        scored([-5, 0, -2, -2, -2, -2, -2]),  # a mistake: a draw thrown away
    )
    monkeypatch.setitem(players.REGISTRY, "always", "tests.arena.test_reference:Always")
    monkeypatch.setitem(players.RANGES, "column", (0, 6))
    result = reference.score(reference.ask("always:column=0", reference.read(file), run_tasks))
    assert (result.perfect.rate, result.perfect.n) == (0.2, 5)
    assert (result.good.rate, result.good.n) == (0.6, 5)
    assert (result.good_discriminating.rate, result.good_discriminating.n) == (1 / 3, 3)
    assert list(result.by_ply) == [0] and len(result.mistakes) == 2


def test_a_position_survives_being_written_and_read(tmp_path: Path) -> None:
    board = Position.from_moves("connect4", "4455").state[find("connect4").cells].tolist()
    one = reference.read(
        write(tmp_path / "a", {"board": board, "score": 2, "move score": [2, 1, 0, 0, 0, 0, 0]})
    )[0]
    (tmp_path / "b").write_text(reference.to_line(one))
    assert reference.read(tmp_path / "b") == [one] and one.ply == 4 and one.position.to_move == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nonsense", "set.jsonl line 1: not JSON: Expecting value"),
        ("[1]", "set.jsonl line 1: expected an object with board and move score"),
        (json.dumps({**ROW, "board": [0] * 41}), "set.jsonl line 1: board is 42 cells, each 0, 1 or 2"),
        (json.dumps({**ROW, "board": [7] + [0] * 41}), "set.jsonl line 1: board is 42 cells"),
        (json.dumps({**ROW, "move score": [1, 2]}), "set.jsonl line 1: move score is 7 whole numbers"),
        (
            json.dumps({**ROW, "move score": [-99, 0, 0, 0, 0, 0, 0]}),
            "set.jsonl line 1: column 1 is not full",
        ),
        (json.dumps({**ROW, "board": [0] * 38 + [1] * 4}), "set.jsonl line 1: "),
        ("", "set.jsonl has no positions"),
    ],
)
def test_a_bad_file_names_the_line(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "set.jsonl").write_text(line + "\n")
    with pytest.raises(UserError) as error:
        reference.read(tmp_path / "set.jsonl")
    assert str(error.value).startswith(message)


def test_wilson_intervals() -> None:
    """Against the tables: 8 of 10 is 0.490-0.943; 0 of 10 is 0-0.278."""
    eight, none = rate(8, 10), rate(0, 10)
    assert (round(eight.low, 3), round(eight.high, 3)) == (0.490, 0.943)
    assert (round(none.low, 3), round(none.high, 3)) == (0.0, 0.278)
    assert rate(0, 0).high == 1.0


@pytest.mark.parametrize("player", [None, "uct:sims=5"])
def test_made_positions_are_new_and_scored_right(player: str | None) -> None:
    """Late positions, so that a plain minimax can check every score."""
    plays = players.find(player, find("connect4")) if player else None
    made = list(reference.make(12, range(31, 35), seed=1, player=plays))
    assert len({one.position for one in made}) == 12 and all(31 <= one.ply <= 34 for one in made)
    for one in made:
        for column, value in enumerate(one.scores):
            if value == reference.FULL:
                assert not one.position.legal_mask[column]
            else:
                assert value == -minimax(one.position.play(column))


def minimax(position: Position) -> int:
    """The solver's score by trying everything."""
    if position.is_over:  # the player to move has lost, or it is a draw
        return 0 if position.winner is None else -((44 - stones(position) + position.to_move % 2) // 2)
    return max(-minimax(position.play(action)) for action in position.legal_actions)


def stones(position: Position) -> int:
    return int((position.state[position.game.cells] != 0).sum())


def test_too_few_different_positions_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    late = next(reference.make(1, range(33, 34), seed=3)).position
    monkeypatch.setattr(reference, "_wander", lambda *_: late)
    with pytest.raises(UserError, match="found only 1 different positions with these plies, expected 9"):
        list(reference.make(9, range(33, 34), seed=0))
