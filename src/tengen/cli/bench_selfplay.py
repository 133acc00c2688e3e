"""`tengen bench selfplay`: the speed of self-play with a network, beside other systems."""

import json
import sys
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from tengen.bench.selfplay_goals import AlphaZeroGomokuRate, Scaling, SelfPlayRate

PEERS = Path(".venv-peers")
BUSY = 0.9  # of a core: a process with less had to share it (a moment at the end is allowed)


def selfplay(
    part: Annotated[
        Literal["peers", "scaling", "alphazero-gomoku", "all"],
        typer.Option(help="Next to mctx + pgx; one process and two; AlphaZero_Gomoku's network."),
    ] = "all",
    rounds: Annotated[int, typer.Option(min=1, help="Alternations; the median counts.")] = 3,
    seconds: Annotated[
        float, typer.Option(min=0.01, help="For each measurement of the peer and of an empty loop.")
    ] = 5.0,
    games: Annotated[int, typer.Option(min=1, help="Games per shard; we measure whole shards.")] = 256,
    opening_plies: Annotated[
        int, typer.Option(min=0, help="Our games begin with at most this many random moves; in training, 12.")
    ] = 0,
    net: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Play with the network of a run or of a folder.")
    ] = None,
    channels: Annotated[int, typer.Option(min=1, help="Width of the random network.")] = 64,
    blocks: Annotated[int, typer.Option(min=1, help="Depth of the random network.")] = 4,
    peers: Annotated[Path, typer.Option(help="The environment that `make peers` makes; or none.")] = PEERS,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Self-play with a network: alternately with mctx + pgx on JAX, with two processes, and on 8×8 gomoku."""
    from importlib.util import find_spec

    from tengen.errors import MissingExtraError

    if find_spec("torch") is None or find_spec("onnx") is None:
        raise MissingExtraError("tengen bench selfplay", "train")

    from tengen.bench import selfplay as bench
    from tengen.bench import selfplay_goals as goals
    from tengen.bench.peer import Peer
    from tengen.bench.search import one_core
    from tengen.bench.selfplay_networks import plain_network, trained_network

    effort = bench.Effort(rounds, seconds, games, opening_plies)
    theirs = plain_network(channels, blocks)
    ours = trained_network(net) if net else theirs
    rates: list[SelfPlayRate] = []
    scaling: Scaling | None = None
    gomoku: list[AlphaZeroGomokuRate] = []

    def show(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    if part in ("peers", "all"):
        alone = str(peers) == "none"
        with one_core(), nullcontext() if alone else Peer(peers, "mctx_pgx_selfplay.py") as peer:
            if not alone:
                show("mctx first compiles its search for several batch sizes: a minute or two")
            rates = bench.compare(ours, theirs, peer, effort, show)
    if part in ("scaling", "all"):
        scaling = bench.scale(ours, effort, show)
    if part in ("alphazero-gomoku", "all"):
        with one_core():
            gomoku = bench.alphazero_gomoku(effort, show)
    targets = goals.targets(rates, scaling, gomoku)
    if as_json:
        sizes = [{"name": one.name, "multiply_adds": one.multiply_adds} for one in (ours, theirs)]
        found = {
            "network": sizes[0],
            "peer_network": sizes[1],
            "selfplay": [asdict(rate) for rate in rates],
            "scaling": asdict(scaling) if scaling else None,
            "alphazero-gomoku": [asdict(rate) for rate in gomoku],
            "targets": [asdict(target) for target in targets],
        }
        print(json.dumps(found, ensure_ascii=False))
        return
    millions = [f"{one.multiply_adds / 1e6:.1f}M multiply-adds per position" for one in (ours, theirs)]
    if rates or scaling:
        print(f"connect4, Gumbel, {bench.SIMULATIONS} simulations per move; rounds: {rounds}, medians")
        peers_network = f"; the peer's: {theirs.name}, {millions[1]}" if net else ""
        print(f"network: {ours.name}, {millions[0]}{peers_network}")
    if rates:
        _print_selfplay(rates, goals.GOALS)
    if scaling:
        print(
            f"\ntwo shards, one process {scaling.one_seconds:.1f} s, two {scaling.two_seconds:.1f} s:"
            f" {scaling.ratio:.2f} ×  (≥ {goals.GOAL_SCALING} ×)"
        )
        if scaling.core_share < BUSY:
            print(f"the machine was busy: each process had {_percent(scaling.core_share)} of a core")
    if gomoku:
        _print_alphazero_gomoku(gomoku)
    if targets:
        print()
    for target in targets:
        verdict = "reached" if target.is_reached else "missed"
        print(f"{verdict:<9}{target.what:<62}{target.value:>6.2f}  (≥ {target.goal:.2f})")


def _print_selfplay(rates: "list[SelfPlayRate]", goal: dict[str, tuple[float, float]]) -> None:
    print(
        f"\n{'':<12}{'simulations/s':>15}{'games/s':>9}{'moves':>7}{'× peer':>8}"
        f"{'in the network':>20}{'loop/s':>10}{'× empty loop':>17}{'cache hits':>12}"
    )
    for rate in rates:
        line = f"{rate.who:<12}{rate.simulations_per_second:>15,.0f}"
        line += f"{rate.games_per_second:>9.2f}{rate.moves_per_game:>7.1f}"
        if rate.who in goal:
            share, times_loop = goal[rate.who]
            line += f"{rate.times_peer:>8.2f}" if rate.times_peer is not None else " " * 8
            line += f"{_percent(rate.network_share):>11} (≥ {share:.0%})".replace("%)", " %)")
            line += f"{rate.loop_per_second:>10,.0f}{rate.times_loop:>9.2f} (≥ {times_loop})"
            line += f"{_percent(rate.hit_rate):>12}"
        print(line.rstrip())


def _print_alphazero_gomoku(rates: "list[AlphaZeroGomokuRate]") -> None:
    print("\ngomoku of five on 8×8, AlphaZero_Gomoku's network, PUCT, 400 simulations per move, one core\n")
    print(
        f"{'':<12}{'games/min':>15}{'× peer':>9}{'moves':>7}{'simulations/s':>15}{'× peer':>8}"
        f"{'in the network':>16}{'cache hits':>12}"
    )
    for rate in rates:
        line = (
            f"{rate.who:<12}{rate.games_per_minute:>15.1f}{rate.times_peer:>9.1f}{rate.moves_per_game:>7.1f}"
        )
        line += f"{rate.simulations_per_second:>15,.0f}{rate.times_peer_simulations:>8.1f}"
        print(f"{line}{_percent(rate.network_share):>16}{_percent(rate.hit_rate):>12}".rstrip())


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"
