"""`tengen tournament GAME A B C …`: every player against every other."""

import json
from pathlib import Path
from typing import Annotated

import typer

from tengen.cli.arena import (
    AsJson,
    GameName,
    OpeningFile,
    OpeningPlies,
    OpeningRule,
    Out,
    Seed,
    Time,
    Undecided,
    Workers,
)
from tengen.cli.cluster import ClusterAddress, ClusterName


def tournament(
    game: GameName,
    players: Annotated[list[str], typer.Argument(help="Players: uniform uct:sims=100 uct:sims=400")],
    rounds: Annotated[
        int, typer.Option("-r", "--rounds", help="In a round, every pair of players plays two games.")
    ] = 10,
    within: Annotated[
        int,
        typer.Option(
            min=0, help="Only players at most so many places apart in the list meet: a ladder. 0: all."
        ),
    ] = 0,
    anchor: Annotated[
        str | None, typer.Option(help="The player whose Elo is 0; default: the mean is 0.")
    ] = None,
    seed: Seed = 0,
    opening_plies: OpeningPlies = None,
    opening_file: OpeningFile = None,
    undecided: Undecided = 0,
    opening_rule: OpeningRule = None,
    time: Time = None,
    workers: Workers = None,
    cluster: ClusterName = None,
    address: ClusterAddress = None,
    out: Out = None,
    as_json: AsJson = False,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the leaderboard as CSV.")] = None,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the ratings as SVG.")] = None,
) -> None:
    """Play a round robin, or a ladder: a leaderboard with Elo and 95 % intervals, and a table of points."""
    from tengen import files, games
    from tengen.arena.chart import bar_chart
    from tengen.arena.tournament import Tournament, tournament_games, tournament_result
    from tengen.cli.arena import clock, openings, watch
    from tengen.workers.place import Place

    files.check_can_write(csv, svg)
    rules = games.find(game)
    starts = openings(rules, seed, opening_plies, opening_file, undecided, opening_rule)
    event = Tournament(rules, tuple(players), seed, starts, anchor, clock(time), within)
    total = rounds * event.games_per_round
    with Place(workers, cluster, address).run_tasks() as run_tasks:
        played, code = watch(tournament_games(event, rounds, run_tasks, out), total)
    result = tournament_result(event, played)
    if csv is not None:
        files.write_text(csv, result.to_csv())
    if svg is not None:
        files.write_text(svg, bar_chart(result))
    print(json.dumps(result.to_json()) if as_json else result.to_text())
    raise typer.Exit(code)
