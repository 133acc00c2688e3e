"""Tournaments: everybody meets everybody, and nothing is lost by stopping."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tengen import games
from tengen.arena.chart import bar_chart
from tengen.arena.played import PlayedGame
from tengen.arena.tournament import Tournament, TournamentResult, tournament_games, tournament_result
from tengen.errors import UserError
from tengen.workers.tasks import RunTasks

PLAYERS = ("uniform", "uct:sims=100", "uct:sims=15")


@pytest.fixture(scope="module")
def event() -> Tournament:
    return Tournament(games.find("connect4"), PLAYERS, seed=2)


@pytest.fixture(scope="module")
def played(event: Tournament, run_tasks: RunTasks) -> list[PlayedGame]:
    return list(tournament_games(event, 4, run_tasks))


@pytest.fixture(scope="module")
def result(event: Tournament, played: list[PlayedGame]) -> TournamentResult:
    return tournament_result(event, played)


def timeless(result: TournamentResult) -> TournamentResult:
    return replace(result, peak_mib=0, standings=tuple(replace(one, seconds=0.0) for one in result.standings))


def test_in_a_round_every_pair_plays_the_same_opening_with_both_colours(played: list[PlayedGame]) -> None:
    assert len(played) == 4 * 6
    for number in range(4):
        games_of_round = played[6 * number : 6 * number + 6]
        assert len({game.moves[: game.opening] for game in games_of_round}) == 1
        assert {game.players for game in games_of_round} == {
            (a, b) for a in PLAYERS for b in PLAYERS if a != b
        }
    assert len({game.moves[: game.opening] for game in played}) == 4


def test_neighbours_alone_may_meet(run_tasks: RunTasks) -> None:
    event = Tournament(games.find("tictactoe"), PLAYERS, within=1)
    games_of_two = list(tournament_games(event, 2, run_tasks))
    assert len(games_of_two) == 2 * event.games_per_round == 8
    assert {frozenset(game.players) for game in games_of_two} == {
        frozenset(PLAYERS[:2]),
        frozenset(PLAYERS[1:]),
    }
    assert event.settings()["within"] == 1 and "within" not in Tournament(event.game, PLAYERS).settings()
    assert Tournament(event.game, PLAYERS, within=2).pairs == [(0, 1), (0, 2), (1, 2)]


def test_the_leaderboard_adds_up(result: TournamentResult) -> None:
    assert [one.player for one in result.standings] == ["uct:sims=100", "uct:sims=15", "uniform"]
    assert sum(one.points for one in result.standings) == result.games == 24
    assert sum(one.wins for one in result.standings) == sum(one.losses for one in result.standings)
    assert sum(one.elo for one in result.standings) == pytest.approx(0, abs=0.2)
    for i, one in enumerate(result.standings):
        assert one.games == one.wins + one.draws + one.losses == 16 == sum(result.met[i])
        assert sum(result.points[i]) == one.points and one.error > 0


def test_the_anchor_has_elo_zero(
    event: Tournament, played: list[PlayedGame], result: TournamentResult
) -> None:
    anchored = tournament_result(replace(event, anchor="uniform"), played)
    assert anchored.standings[-1].elo == 0 and anchored.standings[0].elo > result.standings[0].elo


def test_text_json_csv_and_picture_say_the_same(result: TournamentResult) -> None:
    best = result.standings[0]
    lines = result.to_text().split("\n")
    assert lines[0] == "connect4, 24 games" and lines[3].split()[:2] == ["1", best.player]
    assert lines[3].split()[2:7] == [
        f"{n:g}" for n in (best.games, best.wins, best.draws, best.losses, best.points)
    ]
    assert len({len(line) for line in lines[2:6]}) == 1  # aligned
    assert json.loads(json.dumps(result.to_json(), allow_nan=False))["standings"][0]["elo"] == best.elo
    rows = list(csv.DictReader(io.StringIO(result.to_csv())))
    assert [row["player"] for row in rows] == [one.player for one in result.standings]
    assert float(rows[0]["elo"]) == best.elo
    picture = ElementTree.fromstring(bar_chart(result))
    texts = ["".join(node.itertext()) for node in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert best.player in texts and f"{best.elo:+.0f}" in texts and f"± {best.error:.0f}" in texts


def test_a_picture_of_nothing_yet(event: Tournament) -> None:
    ElementTree.fromstring(bar_chart(tournament_result(event, [])))
    assert "connect4, 0 games" in tournament_result(event, []).to_text()


@pytest.mark.parametrize("cut", [0, 1, 700, -1, -200])
def test_a_log_that_was_cut_anywhere_goes_on_to_the_same_end(
    cut: int, event: Tournament, result: TournamentResult, run_tasks: RunTasks, tmp_path: Path
) -> None:
    log = tmp_path / "games.jsonl"
    list(tournament_games(event, 4, run_tasks, out=tmp_path))
    whole = log.read_bytes()
    log.write_bytes(whole[:cut])
    complete_lines = whole[:cut].count(b"\n")
    resumed = list(tournament_games(event, 4, run_tasks, out=tmp_path))
    assert timeless(tournament_result(event, resumed)) == timeless(result)
    assert log.read_bytes().count(b"\n") == 24 and log.read_bytes().startswith(
        b"".join(whole.splitlines(True)[:complete_lines])
    )


def test_games_of_a_log_in_any_order_go_on_in_two_processes(
    event: Tournament, result: TournamentResult, run_tasks: RunTasks, in_two: RunTasks, tmp_path: Path
) -> None:
    log = tmp_path / "games.jsonl"
    list(tournament_games(event, 4, run_tasks, out=tmp_path))
    lines = log.read_bytes().splitlines(True)
    log.write_bytes(b"".join(lines[17:5:-2]))
    resumed = list(tournament_games(event, 4, in_two, out=tmp_path))
    assert timeless(tournament_result(event, resumed)) == timeless(result)


def test_what_cannot_be_a_tournament() -> None:
    game = games.find("tictactoe")
    for players, message in [
        (("uniform",), "needs at least two players, got 1"),
        (("uniform", "uct", "uniform"), "uniform was given twice"),
    ]:
        with pytest.raises(UserError, match=message):
            Tournament(game, players)
    with pytest.raises(UserError, match="the anchor is one of the players, got x"):
        Tournament(game, ("uniform", "uct"), anchor="x")


def test_a_folder_of_something_else_is_refused(
    event: Tournament, run_tasks: RunTasks, tmp_path: Path
) -> None:
    (tmp_path / "games.jsonl").write_text("")
    with pytest.raises(UserError, match="contains games, but not of a tournament: choose another folder"):
        next(tournament_games(event, 1, run_tasks, out=tmp_path))
