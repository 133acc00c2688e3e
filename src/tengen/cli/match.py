"""`tengen match GAME A B`: which player is stronger, and by how much."""

import json
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


def match(
    game: GameName,
    a: Annotated[str, typer.Argument(help="A player: uct:sims=400")],
    b: Annotated[str, typer.Argument(help="Another.")],
    num_games: Annotated[int, typer.Option("-n", "--num-games", help="Games, an even number.")] = 100,
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
) -> None:
    """Play a match: score and Elo of A against B with 95 % intervals, each opening with both colours."""
    from tengen import games
    from tengen.arena.match import Match, Tally, match_games, match_result, tally
    from tengen.arena.paste import paste_block
    from tengen.arena.played import PlayedGame
    from tengen.cli.arena import clock, openings, watch
    from tengen.workers.place import Place

    rules = games.find(game)
    starts = openings(rules, seed, opening_plies, opening_file, undecided, opening_rule)
    pairing = Match(rules, a, b, seed, starts, clock(time))

    def status(played: list[PlayedGame]) -> str:
        now: Tally = tally(iter(played))
        return f"+{now.wins} ={now.draws} -{now.losses}"

    with Place(workers, cluster, address).run_tasks() as run_tasks:
        played, code = watch(match_games(pairing, num_games, run_tasks, out), num_games, status)
    result = match_result(pairing, played)
    if as_json:
        print(json.dumps(result.to_json()))
    else:
        print(f"{result.to_text()}\n\n{paste_block(pairing, result)}")
    raise typer.Exit(code)
