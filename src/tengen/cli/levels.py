"""`tengen levels GAME`: how strong the ten levels are."""

import json
from pathlib import Path
from typing import Annotated

import typer

from tengen.cli.arena import AsJson, GameName, OpeningFile, OpeningPlies, Out, Seed, Workers
from tengen.cli.cluster import ClusterAddress, ClusterName


def levels(
    game: GameName,
    num_games: Annotated[
        int,
        typer.Option(
            "-n",
            "--num-games",
            min=0,
            help="Games between neighbours, an even number; 0: none.",
        ),
    ] = 100,
    seed: Seed = 0,
    opening_plies: OpeningPlies = None,
    opening_file: OpeningFile = None,
    workers: Workers = None,
    cluster: ClusterName = None,
    address: ClusterAddress = None,
    out: Out = None,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the Elo of each level to a file."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure the ten levels of a game: neighbours play each other; Elo with 95 % intervals, level 1 is 0."""
    from tengen import files, games
    from tengen.arena.levels import known_levels, level_table, level_tournament
    from tengen.arena.tournament import tournament_games
    from tengen.cli.arena import openings, watch
    from tengen.errors import UserError
    from tengen.players.level_strength import file_text, levels_of
    from tengen.workers.place import Place

    rules = games.find(game)
    if num_games % 2:
        raise UserError(
            f"each opening is played with both colours: games must be 0, 2, 4, …, got {num_games}"
        )
    if num_games == 0:
        known = [level.to_json() for level in levels_of(rules)]
        print(json.dumps({"game": rules.name, "levels": known}) if as_json else known_levels(rules))
        return
    files.check_can_write(save)
    event = level_tournament(rules, seed, openings(rules, seed, opening_plies, opening_file, 0, None))
    rounds = num_games // 2
    with Place(workers, cluster, address).run_tasks() as run_tasks:
        played, code = watch(tournament_games(event, rounds, run_tasks, out), rounds * event.games_per_round)
    table = level_table(event, played)
    if save is not None and code == 0:
        files.write_text(save, file_text(rules, table.levels, num_games))
    print(json.dumps(table.to_json()) if as_json else table.to_text())
    raise typer.Exit(code)
