"""Games from files, and where they were lost."""

from pathlib import Path

import pytest

from tengen import games, players
from tengen.arena.archive import Archived, read_game
from tengen.arena.blunders import Judged, judge_game, turning_point
from tengen.arena.played import PlayedGame, Thought
from tengen.errors import UserError
from tengen.games import records
from tengen.games.records import Record

# After the centre an edge loses.
LOST = Record("tictactoe", ("b2", "b1", "a1", "c3", "a3", "c1", "a2"))


def judged(record: Record, opening: int = 0) -> list[Judged]:
    with players.find("perfect", games.find("tictactoe")) as judge:
        return list(judge_game(Archived(record, opening), judge))


def test_exactly_the_moves_that_change_the_result_lose_value() -> None:
    """Judged by perfect play: values are results."""
    moves = judged(LOST)
    assert [(one.number, one.move) for one in moves if one.lost] == [(2, "b1")]
    blunder = moves[1]
    assert (blunder.before, blunder.after, blunder.player) == (0.0, -1.0, 2)
    assert blunder.better in ("a1", "a3", "c1", "c3") and blunder.line == (blunder.better,)
    assert blunder.win_before is None and blunder.win_after == -5
    assert turning_point(moves, loser=2) == blunder and turning_point(moves, loser=1) is None


def made_up(*values: tuple[float, float]) -> list[Judged]:
    """Moves of the second player, from the value before to the value after each."""
    return [
        Judged(2 * i + 2, 2, "a1", before, after, None, (), None, None, None)
        for i, (before, after) in enumerate(values)
    ]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([(0.1, 0.0), (0.6, -0.4), (-0.4, -0.7), (-0.7, -1.0)], 4),  # the costliest since it stood well
        (
            [(0.3, -0.9), (-0.9, 0.2), (0.2, -0.6), (-0.6, -1.0)],
            6,
        ),  # the win came back: the last mistake counts
        ([(-0.6, -0.8), (-0.8, -1.0)], None),  # lost from the start
        ([(0.0, -0.05), (-0.1, -0.15), (-0.2, -0.25), (-0.3, -0.35)], None),  # little by little
    ],
)
def test_the_move_that_lost_the_game(values: list[tuple[float, float]], expected: int | None) -> None:
    found = turning_point(made_up(*values), loser=2)
    assert (found.number if found else None) == expected


def test_moves_of_the_opening_are_not_judged() -> None:
    record = Record("tictactoe", ("b2", "b1", "a1"))
    assert [one.number for one in judged(record, opening=2)] == [3]
    with pytest.raises(UserError, match="the game has no moves to judge"):
        judged(record, opening=3)


def test_a_judge_without_values_is_refused() -> None:
    judge = players.find("uniform", games.find("tictactoe"))
    with pytest.raises(UserError, match="the judge gives positions no value"):
        list(judge_game(Archived(LOST), judge))


THOUGHTS = tuple(
    Thought(side, 0.25, 0.125, 400, 380, 7, ("a1", "c3")) if side else Thought(side, 0.5) for side in (0, 1)
)


def log(folder: Path, count: int = 2) -> Path:
    """games.jsonl with some games, the last one first."""
    file = folder / "games.jsonl"
    played = [
        PlayedGame(i, "tictactoe", ("me", "you"), 1, ("b2", "b1", "a1"), "1/2", "", THOUGHTS, 9)
        for i in range(count)
    ]
    file.write_text("".join(game.to_line() + "\n" for game in reversed(played)))
    return file


def test_a_game_of_a_log_is_found_by_its_number(tmp_path: Path) -> None:
    found = read_game(log(tmp_path), number=2)
    assert found.record.moves == ("b2", "b1", "a1") and found.opening == 1 and found.num_chosen == 2
    assert found.thought(1) is None and found.thought(2) == THOUGHTS[0] and found.thought(3) == THOUGHTS[1]
    assert found.before(3).moves == ["b2", "b1"] and found.before(None).moves == ["b2", "b1", "a1"]
    assert found.describe(1) == "move 1: X played b2, of the opening"
    assert found.describe(2) == "move 2: O played b1, 0.50 s"
    assert found.describe(3) == (
        "move 3: X played a1, value +0.12, 400 simulations, 380 nodes, depth 7, 0.25 s, line a1 c3"
    )
    assert read_game(log(tmp_path, count=1)).record.players == ("me", "you"), (
        "a log of one game needs no number"
    )


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (None, "games.jsonl has 2 games: choose one, --game 1 to 2"),
        (3, "games.jsonl has games 1 to 2, but not game 3"),
    ],
)
def test_a_log_without_that_game(tmp_path: Path, number: int | None, message: str) -> None:
    with pytest.raises(UserError) as error:
        read_game(log(tmp_path), number)
    assert str(error.value) == message


def test_records_of_every_kind_are_read(tmp_path: Path) -> None:
    record = Record("gomoku15", ("h8", "h9", "i8"), ("Ann", "Bob"))
    for kind in ("sgf", "psq", "txt"):
        records.write(record, tmp_path / f"game.{kind}")
        assert read_game(tmp_path / f"game.{kind}").record.moves == record.moves
    with pytest.raises(UserError, match=r"there is no move 4: the game has 3 moves"):
        read_game(tmp_path / "game.sgf").before(4)
    with pytest.raises(UserError, match=r"--game is for games.jsonl with several games, game.sgf has one"):
        read_game(tmp_path / "game.sgf", number=1)
    (tmp_path / "x.jsonl").write_text('{"index": 0}\n')
    with pytest.raises(UserError, match=r"x.jsonl line 1 is not a game of a match: these are not the fields"):
        read_game(tmp_path / "x.jsonl")
    (tmp_path / "x.jsonl").write_text("")
    with pytest.raises(UserError, match=r"x.jsonl has no games"):
        read_game(tmp_path / "x.jsonl")
