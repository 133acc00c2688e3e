"""Matches: colours, openings, seeds, failing players, and going on."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tengen import games
from tengen.arena.match import Match, Tally, match_games, match_result, play_match
from tengen.arena.openings import Openings
from tengen.arena.played import GameGroup, GameTask, PlayedGame, Thought
from tengen.arena.referee import PlayGames
from tengen.errors import UserError
from tengen.workers.tasks import RunTasks, TaskFailedError
from tests.arena.fakes import Lowest


def match(a: str, b: str, game: str = "tictactoe", seed: int = 0) -> Match:
    return Match(games.find(game), a, b, seed)


def what_was_played(played: list[PlayedGame]) -> list[PlayedGame]:
    """The games in order, without how long they took."""
    return sorted(map(timeless, played), key=lambda game: game.index)


def timeless(game: PlayedGame) -> PlayedGame:
    thoughts = tuple(replace(thought, seconds=0.0) for thought in game.thoughts)
    return replace(game, thoughts=thoughts, peak_mib=0)


def test_colours_alternate_and_each_opening_is_played_with_both(run_tasks: RunTasks) -> None:
    played = what_was_played(list(match_games(match("uct:sims=20", "uniform"), 12, run_tasks)))
    assert [game.index for game in played] == list(range(12))
    assert [game.players[0] for game in played] == ["uct:sims=20", "uniform"] * 6
    openings = [game.moves[: game.opening] for game in played]
    assert openings[0::2] == openings[1::2] and len(set(openings)) == 6 and played[0].opening == 2


def test_the_same_seed_plays_the_same_games_in_one_process_and_in_two(
    run_tasks: RunTasks, in_two: RunTasks
) -> None:
    pairing = match("uct:sims=30", "uct:sims=20", "connect4", seed=5)
    one, two = (what_was_played(list(match_games(pairing, 8, workers))) for workers in (run_tasks, in_two))
    assert one == two
    assert (
        what_was_played(
            list(match_games(match("uct:sims=30", "uct:sims=20", "connect4", seed=6), 8, run_tasks))
        )
        != one
    )


def test_the_result_adds_up(run_tasks: RunTasks) -> None:
    pairing = match("uct:sims=200", "uniform", "connect4", seed=1)
    played = list(match_games(pairing, 20, run_tasks))
    result = match_result(pairing, played)
    assert result.total.games == 20 and result.as_first.games == result.as_second.games == 10
    assert result.total.wins == result.as_first.wins + result.as_second.wins >= 16
    assert result.score == result.total.points / 20
    assert result.score_interval[0] <= result.score <= result.score_interval[1]
    assert result.elo_interval[0] > 50
    assert (
        sum(result.pairs) == 10
        and sum(n * points for n, points in zip(result.pairs, (0, 0.5, 1, 1.5, 2), strict=True))
        == result.total.points
    )
    assert result.thinking[0].mean_seconds > result.thinking[1].mean_seconds > 0
    assert result.thinking[0].max_seconds >= result.thinking[0].mean_seconds and result.peak_mib > 20
    thought = result.thinking[0].moves + result.thinking[1].moves
    assert thought == sum(len(game.moves) - game.opening for game in played)
    json.dumps(result.to_json(), allow_nan=False)
    assert "wins" in result.to_text() and result.forfeits == ()


def test_b_against_a_is_the_mirror_of_the_result() -> None:
    played = [
        PlayedGame(i, "tictactoe", ("", ""), 0, (), "1-0" if i % 2 == 0 or i < 6 else "1/2", "", (), 0)
        for i in range(10)
    ]
    result = match_result(match("a", "b"), played)
    assert (result.as_first, result.as_second) == (Tally(5, 0, 0), Tally(0, 2, 3))
    assert result.total == Tally(5, 2, 3) and result.pairs == (0, 0, 3, 2, 0)


@pytest.mark.usefixtures("fake_players")
@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("illegal", "illegal: illegal move '"),
        ("crashing", "crashing: the engine hung up"),
        ("hungry", "hungry: out of memory"),
    ],
)
def test_a_player_that_fails_loses_and_the_match_goes_on(spec: str, reason: str, run_tasks: RunTasks) -> None:
    pairing = Match(games.find("gomoku6"), spec, "uniform")
    played = list(match_games(pairing, 6, run_tasks))
    assert [game.result for game in played] == ["0-1", "1-0"] * 3
    assert all(game.reason.startswith(reason) for game in played)
    result = match_result(pairing, played)
    assert result.total == Tally(0, 0, 6) and len(result.forfeits) == 6
    assert "forfeits    6, the first: " + reason in result.to_text()
    assert played[0].record().result == "0-1" and played[0].record().comment.startswith(reason)


@pytest.mark.usefixtures("fake_players")
def test_a_bug_is_not_a_lost_game(run_tasks: RunTasks) -> None:
    with pytest.raises(TaskFailedError, match="game 1, uniform against buggy: KeyError: 'where is it\\?'"):
        play_match(match("uniform", "buggy"), 4, run_tasks)


@pytest.mark.usefixtures("fake_players")
def test_players_are_closed_even_if_the_match_is_left(run_tasks: RunTasks) -> None:
    Lowest.closed = 0
    running = match_games(match("lowest", "lowest"), 10, run_tasks)
    next(running)
    assert Lowest.closed == 1  # who was made to check the spec
    running.close()
    assert Lowest.closed == 3  # a player who meets itself is there twice


def test_without_openings_a_match_starts_at_the_start(run_tasks: RunTasks) -> None:
    pairing = Match(
        games.find("tictactoe"), "uniform", "uniform", openings=Openings(games.find("tictactoe"), plies=0)
    )
    assert {game.opening for game in match_games(pairing, 4, run_tasks)} == {0}


def test_a_game_is_written_and_read_back() -> None:
    with PlayGames("othello6").open() as play:
        [played] = play(GameGroup((GameTask(0, ("uniform", "uct:sims=10"), ("c2",), (1, 2)),)))
    assert PlayedGame.from_line(played.to_line()) == played
    record = played.record()
    assert record.result == played.result and record.players == ("uniform", "uct:sims=10")
    assert record.position().is_over


def test_a_game_keeps_how_each_move_was_chosen() -> None:
    task = GameTask(0, ("uct:sims=50", "alphabeta:depth=2"), ("e5", "e6"), (1, 2))
    with PlayGames("gomoku9").open() as play:
        [played] = play(GameGroup((task,)))
    assert len(played.thoughts) == len(played.moves) - 2
    for number, thought in enumerate(played.thoughts):
        assert thought.side == number % 2 and thought.value is not None and -1 <= thought.value <= 1
        assert thought.line[0] == played.moves[2 + number] and thought.seconds > 0
    first, second = played.thoughts[:2]
    assert first.simulations == 50 and 1 < first.nodes <= 51 and first.depth >= 1
    assert second.simulations == 0 and second.nodes > 20 and second.depth == 2
    assert played.seconds[0] == [one.seconds for one in played.thoughts[0::2]]


def test_the_line_of_a_network_begins_with_its_move() -> None:
    """Gumbel search need not play the move that it visited most."""
    task = GameTask(0, ("zero:sims=16", "zero:sims=24"), ("e5", "e6"), (1, 2))
    with PlayGames("gomoku9").open() as play:
        [played] = play(GameGroup((task,)))
    assert all(
        thought.line[0] == move for thought, move in zip(played.thoughts, played.moves[2:], strict=True)
    )
    assert {one.simulations for one in played.thoughts[:4]} == {16, 24} and played.thoughts[0].depth >= 1


def test_a_log_of_an_older_version_is_read() -> None:
    """It has the seconds of each side, and no thoughts."""
    with PlayGames("connect4").open() as play:
        [new] = play(GameGroup((GameTask(5, ("uniform", "uct:sims=5"), ("4",), (1, 2)),)))
    fields = json.loads(new.to_line())
    for name in ("thoughts", "engine_mib", "is_swapped"):
        del fields[name]
    old = PlayedGame.from_line(json.dumps({**fields, "seconds": new.seconds}))
    assert old.seconds == new.seconds and [one.side for one in old.thoughts] == [
        one.side for one in new.thoughts
    ]
    assert old.thoughts[0] == Thought(1, new.thoughts[0].seconds), "the second player moves after one stone"
    assert replace(old, thoughts=new.thoughts) == new


@pytest.mark.parametrize(
    "wrong",
    [{"thoughts": 1}, {"thoughts": [{}]}, {"thoughts": [{"side": 2, "seconds": 1}]}, {"engine_mib": [1]},
     {"thoughts": [{"side": 0, "seconds": 1, "nodes": "x"}]}, {"is_swapped": 1}, {"more": 1}],
)  # fmt: skip
def test_what_is_no_game_is_refused(wrong: dict[str, object]) -> None:
    line = json.loads(PlayedGame(0, "connect4", ("a", "b"), 0, ("4",), "1/2", "", (), 0).to_line())
    with pytest.raises(ValueError):
        PlayedGame.from_line(json.dumps({**line, **wrong}))


@pytest.mark.parametrize("games_asked", [0, 7])
def test_half_a_pair_is_refused(games_asked: int, run_tasks: RunTasks) -> None:
    with pytest.raises(
        UserError,
        match=f"each opening is played with both colours: games must be 2, 4, 6, …, got {games_asked}",
    ):
        play_match(match("uniform", "uniform"), games_asked, run_tasks)


def test_an_unknown_player_is_refused_before_anything_starts(tmp_path: Path, run_tasks: RunTasks) -> None:
    with pytest.raises(UserError, match="unknown player 'unifrom', did you mean uniform"):
        play_match(match("uniform", "unifrom"), 4, run_tasks, out=tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_a_match_can_be_made_longer(tmp_path: Path, run_tasks: RunTasks) -> None:
    pairing = match("uct:sims=20", "uniform")
    play_match(pairing, 4, run_tasks, out=tmp_path)
    before = (tmp_path / "games.jsonl").read_text()
    longer = list(match_games(pairing, 8, run_tasks, out=tmp_path))
    assert (tmp_path / "games.jsonl").read_text().startswith(before)
    assert what_was_played(longer) == what_was_played(list(match_games(pairing, 8, run_tasks)))


def test_another_match_in_the_same_folder_is_refused(tmp_path: Path, run_tasks: RunTasks) -> None:
    play_match(match("uniform", "uct:sims=20"), 2, run_tasks, out=tmp_path)
    with pytest.raises(UserError, match="was started with seed 0, not 1: choose another folder"):
        play_match(match("uniform", "uct:sims=20", seed=1), 2, run_tasks, out=tmp_path)
    with pytest.raises(UserError, match="started with players uniform uct:sims=20, not uniform uniform"):
        play_match(match("uniform", "uniform"), 2, run_tasks, out=tmp_path)


def test_openings_that_changed_are_noticed(tmp_path: Path, run_tasks: RunTasks) -> None:
    file, game = tmp_path / "o.txt", games.find("connect4")
    for text in ("44\n", "45\n"):
        file.write_text(text)
        running = match_games(
            Match(game, "uniform", "uniform", 0, Openings(game, file=file)), 2, run_tasks, out=tmp_path / "m"
        )
        if text == "44\n":
            assert len(list(running)) == 2
        else:
            with pytest.raises(
                UserError, match="game 1, uniform against uniform is a different game in the log"
            ):
                next(running)


def test_a_line_that_is_no_game_is_named(tmp_path: Path, run_tasks: RunTasks) -> None:
    play_match(match("uniform", "uniform"), 2, run_tasks, out=tmp_path)
    log = tmp_path / "games.jsonl"
    log.write_text(log.read_text() + '{"index": 3}\n')
    with pytest.raises(UserError, match="line 3 is not a game"):
        play_match(match("uniform", "uniform"), 4, run_tasks, out=tmp_path)
