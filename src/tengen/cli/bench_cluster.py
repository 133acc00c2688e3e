"""`tengen bench cluster`: what a cluster needs, what it brings, and what saturates first."""

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from tengen.bench.cluster import Sizes

MODES = (False, True)  # overlapped?


def cluster(
    game: Annotated[str, typer.Argument(help="The game whose network and settings are used.")] = "connect4",
    games_per_shard: Annotated[int, typer.Option("--games", min=1, help="Games per shard.")] = 64,
    workers: Annotated[
        list[int] | None,
        typer.Option(min=1, help="Workers to measure with; may be repeated. Default: 1, 2, 4."),
    ] = None,
    cores: Annotated[
        list[int] | None,
        typer.Option(min=1, max=10_000, help="Cores to simulate; may be repeated. Default: 10, 100, 1000."),
    ] = None,
    step: Annotated[
        float | None,
        typer.Option(min=0.001, help="Milliseconds per step of another learner, such as a GPU, to simulate."),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Alternations; the median counts.")] = 2,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Size a cluster: bytes, speeds, what saturates first; local and Ray by turns; many cores simulated."""
    from importlib.util import find_spec

    from tengen.cli.train import can_train
    from tengen.errors import MissingExtraError

    if not can_train():
        raise MissingExtraError("tengen bench cluster", "train")
    if find_spec("ray") is None:
        raise MissingExtraError("tengen bench cluster", "ray")

    from tengen.bench.cluster import rates, sizes, whole_generation
    from tengen.bench.simulated_cluster import modelled, simulated

    def show(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    def say(line: str = "") -> None:
        if not as_json:
            print(line, flush=True)

    one = sizes(game, games_per_shard, rounds, show)
    costs = one.costs(None if step is None else step / 1000)
    for line in _sizes_text(game, one, costs.learning):
        say(line)
    say(f"\n{'':<14}{'games per second':>30}{'positions per second':>32}")
    say(f"{'':<14}{'local':>12}{'Ray':>10}{'ratio':>8}{'with learning':>22}{'model':>10}")
    found: dict[str, Any] = {"game": game, "sizes": asdict(one), "measured": [], "simulated": []}
    for rate in rates(game, games_per_shard, workers or (1, 2, 4), rounds, show):
        whole = whole_generation(game, games_per_shard, rate.workers, show)
        expected = 1 / (1 / (rate.ray * rate.positions_per_game) + one.step / one.positions_per_step)
        found["measured"].append({**asdict(rate), "ratio": rate.ratio, "whole": whole, "modelled": expected})
        name = f"{rate.workers} worker{'' if rate.workers == 1 else 's'}"
        line = f"{name:<14}{rate.local:>12.1f}{rate.ray:>10.1f}{rate.ratio:>8.2f}"
        say(f"{line}{whole:>22,.0f}{expected:>10,.0f}")
    say("\nsimulated, games per second")
    say(f"{'cores':<14}{'synchronous':>12}{'model':>10}{'overlapped':>14}{'model':>10}")
    for number in cores or (10, 100, 1000):
        line = f"{number:<14,}"
        for is_overlapped in MODES:
            show(f"simulating {number} cores")
            games = games_per_shard * simulated(costs, number, is_overlapped).shards_per_second
            expected = games_per_shard * modelled(costs, number, is_overlapped)
            found["simulated"].append(
                {"cores": number, "overlap": int(is_overlapped), "games": games, "modelled": expected}
            )
            line += f"{games:>{14 if is_overlapped else 12},.1f}{expected:>10,.1f}"
        say(line)
    if as_json:
        print(json.dumps(found))


def _sizes_text(game: str, one: "Sizes", learning: float) -> list[str]:
    """One core, the learner and the coach; and at how many cores the last two have no time left."""
    by_learner, by_coach = one.seconds / learning, one.seconds / one.receiving
    first, last = sorted([(by_learner, "the learner"), (by_coach, "the coach, which receives games")])
    return [
        f"{game}, shards of {one.games} games",
        f"  a position    {one.bytes_per_position:,.0f} bytes",
        f"  the network   {one.network_bytes / 1000:,.0f} KB, once per machine and generation",
        f"  one core      {one.games / one.seconds:.2f} games, {one.positions / one.seconds:,.0f} positions "
        f"a second; a shard takes {one.seconds:.1f} s",
        f"  the learner   {1000 * one.step:.1f} ms a step on this machine, for {one.positions_per_step:,.0f} "
        f"new positions",
        f"  the coach     {1000 * one.receiving:.1f} ms to receive and write a shard",
        f"  saturated     {first[1]} by {first[0]:,.1f} cores, {last[1]} by {last[0]:,.0f}",
    ]
