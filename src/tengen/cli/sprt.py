"""`tengen sprt GAME A B`: tests whether A is stronger than B, with no more games than needed."""

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


def sprt(
    game: GameName,
    a: Annotated[str, typer.Argument(help="A player: uct:sims=400")],
    b: Annotated[str, typer.Argument(help="Another.")],
    elo0: Annotated[float, typer.Option(help="H0, not stronger: A is better by this many Elo.")] = 0.0,
    elo1: Annotated[float, typer.Option(help="H1, stronger: A is better by this many Elo.")] = 50.0,
    alpha: Annotated[float, typer.Option(help="Probability that “stronger” is wrong.")] = 0.05,
    beta: Annotated[float, typer.Option(help="Probability that “not stronger” is wrong.")] = 0.05,
    max_games: Annotated[
        int, typer.Option(help="Stop undecided after this many games, an even number.")
    ] = 2000,
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
    """Test whether A is stronger than B (SPRT): the clearer the difference, the fewer games."""
    from tengen import games
    from tengen.arena.match import Match
    from tengen.arena.paste import paste_block
    from tengen.arena.played import PlayedGame
    from tengen.arena.score import pair_counts
    from tengen.arena.sprt import Sprt, sprt_games, sprt_result
    from tengen.cli.arena import clock, openings, watch
    from tengen.workers.place import Place

    test = Sprt(elo0, elo1, alpha, beta)
    rules = games.find(game)
    starts = openings(rules, seed, opening_plies, opening_file, undecided, opening_rule)
    pairing = Match(rules, a, b, seed, starts, clock(time))

    def status(counted: list[PlayedGame]) -> str:
        low, high = test.bounds
        return f"LLR {test.llr(pair_counts(counted)):+.2f} ({low:.2f}, {high:.2f})"

    with Place(workers, cluster, address).run_tasks() as run_tasks:
        counted, code = watch(sprt_games(pairing, test, max_games, run_tasks, out), max_games, status)
    result = sprt_result(pairing, test, counted)
    if as_json:
        print(json.dumps(result.to_json()))
    else:
        print(f"{result.to_text()}\n\n{paste_block(pairing, result.match, result)}")
    raise typer.Exit(code)
