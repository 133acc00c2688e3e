"""`tengen bench …`: measures speed, next to other systems in the same run."""

import json
import sys
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from tengen.cli.bench_cluster import cluster
from tengen.cli.bench_selfplay import PEERS, selfplay
from tengen.cli.command import Command, help_without_a_command

app = typer.Typer(invoke_without_command=True)
app.command(cls=Command)(cluster)
app.command(cls=Command)(selfplay)


@app.callback()
def bench(context: typer.Context) -> None:
    """Measure speed, side by side with other systems."""
    help_without_a_command(context)


@app.command(cls=Command)
def rules(
    seconds: Annotated[float, typer.Option(min=0.01, help="For each measurement.")] = 0.5,
    rounds: Annotated[int, typer.Option(min=1, help="Alternations; the median counts.")] = 5,
    peers: Annotated[Path, typer.Option(help="The environment that `make peers` makes; or none.")] = PEERS,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Random playouts per second on one core, alternately with OpenSpiel's C++ rollouts."""
    from tengen.bench.peer import Peer
    from tengen.bench.rules import move_times, playout_rates

    alone = str(peers) == "none"
    with nullcontext() if alone else Peer(peers, "openspiel_rollouts.py") as peer:
        rates = []
        if not as_json:
            print("random playouts per second, one core\n")
            print(f"{'game':<12}{'tengen':>12}{'OpenSpiel':>12}{'ratio':>9}")
        for rate in playout_rates(seconds, rounds, peer):
            rates.append(rate)
            if not as_json:
                theirs = f"{rate.openspiel:>12,.0f}{rate.ratio:>8.1f}×" if rate.openspiel else ""
                print(f"{rate.game:<12}{rate.ours:>12,.0f}{theirs}", flush=True)
    times = list(move_times(seconds, rounds))
    if as_json:
        playouts = [{**asdict(rate), "ratio": rate.ratio} for rate in rates]
        print(json.dumps({"playouts": playouts, "moves": [{**asdict(t), "ratio": t.ratio} for t in times]}))
        return
    ours = {rate.game: rate.ours for rate in rates}
    print(f"\nrenju15 plays {ours['renju15'] / ours['gomoku15']:.2f} × as many random games as gomoku15")
    print("\nnanoseconds per position with 40 stones\n")
    print(f"{'':<24}{'gomoku15':>10}{'renju15':>10}{'ratio':>9}")
    for row in times:
        print(f"{row.what:<24}{row.gomoku15:>10,.0f}{row.renju15:>10,.0f}{row.ratio:>8.1f}×")


@app.command(cls=Command)
def search(
    seconds: Annotated[float, typer.Option(min=0.01, help="For each measurement.")] = 0.5,
    rounds: Annotated[int, typer.Option(min=1, help="Alternations; the median counts.")] = 5,
    peers: Annotated[Path, typer.Option(help="The environment that `make peers` makes; or none.")] = PEERS,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Simulations per second on one core, alternately with mctx + pgx on JAX and with OpenSpiel."""
    from tengen.bench.peer import Peer
    from tengen.bench.search import memory, one_core, opening_entropies, search_rates

    alone = str(peers) == "none"
    rates = []
    with (
        one_core(),
        nullcontext() if alone else Peer(peers, "mctx_pgx.py") as mctx,
        nullcontext() if alone else Peer(peers, "openspiel_search.py") as openspiel,
    ):
        if not alone:
            print("mctx compiles each of its searches first: ten seconds and more", file=sys.stderr)
        if not as_json:
            print("simulations per second, one core; connect4 unless named\n")
            print(f"{'search':<60}{'tengen':>12}{'peer':>12}{'ratio':>9}{'goal':>8}")
        for rate in search_rates(seconds, rounds, mctx, openspiel):
            rates.append(rate)
            if as_json:
                print(f"measured: {rate.search}", file=sys.stderr)
                continue
            theirs = f"{rate.theirs:>12,.0f}{rate.ratio:>8.1f}×" if rate.theirs else ""
            goal = f"  ≥ {rate.goal:>3.0f}×" if rate.theirs and rate.goal else " " * 8
            name = f"  {rate.peer}" if rate.theirs else ""
            print(f"{rate.search:<60}{rate.ours:>12,.0f}{theirs}{goal}{name}".rstrip(), flush=True)
    openings, sizes = opening_entropies(), memory()
    if as_json:
        sections: dict[str, list[Any]] = {"searches": rates, "openings": openings, "memory": sizes}
        print(json.dumps({name: [asdict(row) for row in rows] for name, rows in sections.items()}))
        return
    print(f"\n{'first moves of gomoku9, 1000 games':<60}{'most played':>12}{'entropy':>12}")
    for opening in openings:
        print(
            f"{opening.search:<60}{opening.most_played:>11.1%}{opening.entropy:>8.2f} bits".replace("%", " %")
        )
    print(f"\n{'trees':<60}{'bytes/node':>12}{'MiB':>12}{'goal':>9}")
    for size in sizes:
        goal = f"  ≤ {size.goal:>5,.0f}" if size.goal else ""
        print(f"{size.trees:<60}{size.bytes_per_node:>12,}{size.mebibytes:>12,.0f}{goal}")


@app.command(cls=Command)
def latency(
    player: Annotated[list[str] | None, typer.Argument(help="Players; without: all that search.")] = None,
    seconds: Annotated[float, typer.Option(min=0.01, help="The limit of each move.")] = 0.2,
    moves: Annotated[int, typer.Option(min=0, help="Moves of each player; 0: none.")] = 1000,
    processes: Annotated[
        int, typer.Option(min=0, help="New processes, each with an empty kernel cache.")
    ] = 10,
    stops: Annotated[int, typer.Option(min=0, help="Searches that are stopped at a random moment.")] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Milliseconds that players take under a time limit: warm, in new processes, and after stop()."""
    from tengen.bench.latency import cases_of, measure
    from tengen.players.limit import Limit

    cases = cases_of(player or [])
    if not as_json:
        print(f"milliseconds; moves with seconds={seconds:g}\n")
        print(f"{'player':<20}{'game':<10}{'what':<11}{'count':>6}{'median':>9}{'99 %':>9}{'largest':>9}")
    rows = []
    for row in measure(cases, Limit(seconds=seconds), moves, processes, stops):
        rows.append(row)
        if not as_json:
            times = "".join(f"{1000 * time:>9,.1f}" for time in (row.median, row.p99, row.largest))
            print(f"{row.player:<20}{row.game:<10}{row.what:<11}{row.count:>6}{times}", flush=True)
    if as_json:
        print(json.dumps([asdict(row) for row in rows]))


@app.command(cls=Command)
def start(
    game: Annotated[list[str] | None, typer.Argument(help="Games; without: connect4 gomoku15.")] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Starts of each kind; the median counts.")] = 3,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Seconds from `tengen play` to the first move: with an empty kernel cache, and the second time."""
    from tengen import games
    from tengen.bench.start import starts

    names = game or ["connect4", "gomoku15"]
    for name in names:
        games.find(name)
    if not as_json:
        print(f"seconds from `tengen play GAME` to the opponent's first move; {rounds} starts of each kind\n")
        print(f"{'game':<12}{'empty cache':>12}{'longest':>10}{'second time':>13}{'longest':>10}")
    rows = []
    for row in starts(names, rounds):
        rows.append(row)
        if not as_json:
            cold, warm = (
                f"{row.cold:>12.1f}{row.longest_cold:>10.1f}",
                f"{row.warm:>13.2f}{row.longest_warm:>10.2f}",
            )
            print(f"{row.game:<12}{cold}{warm}", flush=True)
    if as_json:
        print(json.dumps([asdict(row) for row in rows]))


@app.command(cls=Command)
def serve(
    game: Annotated[str, typer.Option(help="The game.")] = "gomoku9",
    level: Annotated[int, typer.Option(min=1, max=10, help="Of the opponents.")] = 5,
    people: Annotated[int, typer.Option(min=1, max=1000, help="Who play at once.")] = 20,
    idle: Annotated[int, typer.Option(min=0, max=900, help="Who only have the page open.")] = 200,
    seconds: Annotated[float, typer.Option(min=1, help="How long.")] = 120,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """How long people wait for a reply when many use `tengen serve` at once."""
    from importlib.util import find_spec

    from tengen import games
    from tengen.bench.serve import crowd
    from tengen.cli.serve import NEEDED
    from tengen.errors import MissingExtraError

    if any(find_spec(package) is None for package in NEEDED):
        raise MissingExtraError("tengen bench serve", "web")
    found = crowd(games.find(game).name, level, people, idle, seconds)
    if as_json:
        print(json.dumps(asdict(found)))
        return
    print(f"{people} people play {game} at level {level} for {seconds:g} s, {idle} more pages are open\n")
    print(f"replies {found.replies:,}, games {found.games:,}, errors {found.errors}")
    times = (("median", found.median), ("95 %", found.p95), ("longest", found.longest))
    print("reply " + ", ".join(f"{name} {1000 * value:,.0f} ms" for name, value in times))
    print(f"memory of the server {found.megabytes:,.0f} MB")


@app.command(cls=Command)
def memory(
    player: Annotated[str, typer.Option(metavar="SPEC", help="The player.")] = "zero:memory=128",
    game: Annotated[str, typer.Option(help="The game.")] = "gomoku15",
    seconds: Annotated[float, typer.Option(min=0.01, help="The limit of each of three moves.")] = 1.0,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Megabytes of unique memory (USS) that a process takes, with and without compiled kernels."""
    from tengen.bench.memory import footprints

    if not as_json:
        print(f"unique megabytes of a process, {player} playing {game}, moves with seconds={seconds:g}\n")
        print(f"{'kernels':<12}{'imported':>10}{'prepared':>10}{'3 moves':>10}")
    rows = []
    for row in footprints(player, game, seconds):
        rows.append(row)
        if not as_json:
            kernels = "compiled now" if row.is_cold else "cached"
            print(f"{kernels:<12}{row.imported:>10.0f}{row.prepared:>10.0f}{row.moved:>10.0f}", flush=True)
    if as_json:
        print(json.dumps([asdict(row) for row in rows]))


@app.command(cls=Command)
def learner(
    game: Annotated[str, typer.Argument(help="The game whose network and settings are used.")] = "connect4",
    parts: Annotated[
        int,
        typer.Option(min=1, max=64, help="Parts of a batch; also the number of processes and of threads."),
    ] = 2,
    busy: Annotated[
        int, typer.Option(min=0, max=64, help="Other programs that keep one core each busy.")
    ] = 2,
    steps: Annotated[int, typer.Option(min=1, help="Learning steps per round.")] = 40,
    rounds: Annotated[int, typer.Option(min=1, help="Alternations; the median counts.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """The time of a learning step: processes and threads alternately, alone and next to busy programs."""
    from tengen.cli.train import can_train
    from tengen.errors import MissingExtraError

    if not can_train():
        raise MissingExtraError("tengen bench learner", "train")

    from tengen.bench.learner import step_times

    rows = []
    if not as_json:
        print(f"milliseconds per learning step of {game}; medians of {rounds} rounds of {steps} steps\n")
        print(f"{'busy programs':<16}{'computed by':<16}{'median':>10}{'least':>10}{'most':>10}")
    for row in step_times(game, parts, busy, steps, rounds, lambda line: print(line, file=sys.stderr)):
        rows.append(row)
        if not as_json:
            times = f"{row.milliseconds:>10.1f}{row.least:>10.1f}{row.most:>10.1f}"
            print(f"{row.busy_programs:<16}{row.how:<16}{times}", flush=True)
    if as_json:
        print(json.dumps([asdict(row) for row in rows]))


@app.command(cls=Command)
def alphabeta(
    positions: Annotated[int, typer.Option(min=1, help="Mid-game positions of gomoku15.")] = 100,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Alpha-beta's nodes per second and time to depth 6, mid-game, on one core."""
    from tengen.bench.alphabeta import thinking

    rows = thinking(positions)
    if as_json:
        print(json.dumps({"alphabeta": [asdict(row) for row in rows]}))
        return
    print(f"gomoku15, {positions} positions of 20 to 40 stones, one core\n")
    print(f"{'depth':<8}{'nodes/s':>12}{'median s':>12}{'95 % s':>10}{'most s':>10}{'goal':>10}")
    for row in rows:
        goal = f"  ≤ {row.goal:.1f} s" if row.goal else ""
        print(
            f"{row.depth:<8}{row.nodes_per_second:>12,.0f}{row.median_seconds:>12.3f}"
            f"{row.seconds_95:>10.3f}{row.most_seconds:>10.3f}{goal:>10}"
        )


@app.command(cls=Command)
def solver(
    positions: Annotated[int, typer.Option(min=1, help="Positions per group.")] = 50,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random positions.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """The Connect 4 solver on one core: nodes per second and milliseconds per position."""
    from tengen.bench.search import one_core
    from tengen.bench.solver import solver_speeds

    with one_core():
        speeds = []
        if not as_json:
            print(f"exact scores of {positions} random positions of connect4, one core; milliseconds each\n")
            print(f"{'':<24}{'nodes/s':>12}{'nodes':>16}{'median':>12}{'mean':>12}{'slowest':>12}")
        for speed in solver_speeds(positions, seed):
            speeds.append(speed)
            if not as_json:
                name = f"{speed.group}, {speed.plies[0]}-{speed.plies[1]} plies"
                times = f"{speed.median_ms:>12,.2f}{speed.mean_ms:>12,.2f}{speed.slowest_ms:>12,.1f}"
                print(f"{name:<24}{speed.nodes_per_second:>12,.0f}{speed.nodes:>16,}{times}", flush=True)
    if as_json:
        print(json.dumps([asdict(speed) for speed in speeds]))
