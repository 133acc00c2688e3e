"""`tengen bench …`: speed, measured beside other systems in the same run."""

import json
import sys
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

PEERS = Path(".venv-peers")

app = typer.Typer(no_args_is_help=True, help="Measure speed, side by side with other systems.")


@app.callback()
def bench() -> None:
    """Measure speed, side by side with other systems."""


@app.command()
def rules(
    seconds: Annotated[float, typer.Option(min=0.01, help="For each measurement.")] = 0.5,
    rounds: Annotated[int, typer.Option(min=1, help="Alternations; the median counts.")] = 5,
    peers: Annotated[Path, typer.Option(help="The environment that `make peers` makes; or none.")] = PEERS,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Random playouts a second on one core, in alternation with OpenSpiel's C++ rollouts."""
    from tengen.bench.peer import Peer
    from tengen.bench.rules import move_times, playout_rates

    alone = str(peers) == "none"
    with nullcontext() if alone else Peer(peers, "openspiel_rollouts.py") as peer:
        rates = []
        if not as_json:
            print("random playouts a second, one core\n")
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
    print("\nnanoseconds a position with 40 stones\n")
    print(f"{'':<24}{'gomoku15':>10}{'renju15':>10}{'ratio':>9}")
    for row in times:
        print(f"{row.what:<24}{row.gomoku15:>10,.0f}{row.renju15:>10,.0f}{row.ratio:>8.1f}×")


@app.command()
def search(
    seconds: Annotated[float, typer.Option(min=0.01, help="For each measurement.")] = 0.5,
    rounds: Annotated[int, typer.Option(min=1, help="Alternations; the median counts.")] = 5,
    peers: Annotated[Path, typer.Option(help="The environment that `make peers` makes; or none.")] = PEERS,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Simulations a second on one core, in alternation with mctx + pgx on JAX and with OpenSpiel."""
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
            print("simulations a second, one core; connect4 unless named\n")
            print(f"{'search':<60}{'tengen':>12}{'peer':>12}{'ratio':>9}{'asked':>8}")
        for rate in search_rates(seconds, rounds, mctx, openspiel):
            rates.append(rate)
            if as_json:
                print(f"measured: {rate.search}", file=sys.stderr)
                continue
            theirs = f"{rate.theirs:>12,.0f}{rate.ratio:>8.1f}×" if rate.theirs else ""
            asked = f"  ≥ {rate.asked:>3.0f}×" if rate.theirs and rate.asked else " " * 8
            name = f"  {rate.peer}" if rate.theirs else ""
            print(f"{rate.search:<60}{rate.ours:>12,.0f}{theirs}{asked}{name}".rstrip(), flush=True)
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
    print(f"\n{'trees':<60}{'bytes a node':>12}{'MiB':>12}{'asked':>9}")
    for size in sizes:
        asked = f"  ≤ {size.asked:>5,.0f}" if size.asked else ""
        print(f"{size.trees:<60}{size.bytes_per_node:>12,}{size.mebibytes:>12,.0f}{asked}")


@app.command()
def alphabeta(
    positions: Annotated[int, typer.Option(min=1, help="Mid-game positions of gomoku15.")] = 100,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Alpha-beta's nodes a second and time to depth 6, mid-game, on one core."""
    from tengen.bench.alphabeta import thinking

    rows = thinking(positions)
    if as_json:
        print(json.dumps({"alphabeta": [asdict(row) for row in rows]}))
        return
    print(f"gomoku15, {positions} positions of 20 to 40 stones, one core\n")
    print(f"{'depth':<8}{'nodes/s':>12}{'median s':>12}{'95 % s':>10}{'most s':>10}{'asked':>10}")
    for row in rows:
        asked = f"  ≤ {row.asked:.1f} s" if row.asked else ""
        print(
            f"{row.depth:<8}{row.nodes_per_second:>12,.0f}{row.median_seconds:>12.3f}"
            f"{row.seconds_95:>10.3f}{row.most_seconds:>10.3f}{asked:>10}"
        )


@app.command()
def solver(
    positions: Annotated[int, typer.Option(min=1, help="In each group.")] = 50,
    seed: Annotated[int, typer.Option(help="Of the random positions.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """The Connect 4 solver on one core: nodes a second and milliseconds a position."""
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
