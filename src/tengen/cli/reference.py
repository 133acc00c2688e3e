"""`tengen reference …`: measures players on positions in which every move has an exact score."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tengen.cli.arena import Workers
from tengen.cli.cluster import ClusterAddress, ClusterName
from tengen.cli.command import Command, help_without_a_command
from tengen.terminal import has_color

if TYPE_CHECKING:
    from tengen.arena.reference import Answer, Score

app = typer.Typer(invoke_without_command=True)


@app.callback()
def reference(context: typer.Context) -> None:
    """Measure a player on positions with exact scores (Connect 4)."""
    help_without_a_command(context)


@app.command(cls=Command)
def run(
    file: Annotated[Path | None, typer.Argument(help="JSON lines; without, Tengen's own set.")] = None,
    player: Annotated[
        str, typer.Option(help="The player: uct:sims=800, zero:runs/c4:sims=64, …")
    ] = "uct:sims=800",
    mistakes: Annotated[int, typer.Option(min=0, help="Number of mistakes to show.")] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the player.")] = 0,
    workers: Workers = None,
    cluster: ClusterName = None,
    address: ClusterAddress = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Measure how often a player finds the perfect move, and how often a good one."""
    from tengen import games
    from tengen.arena import reference as scored
    from tengen.arena.referee import check_players
    from tengen.cli.progress import progress
    from tengen.workers.place import Place

    positions = scored.read(file or scored.OWN_SET)
    check_players(games.find(scored.GAME), [player])
    with Place(workers, cluster, address).run_tasks() as run_tasks:
        asked = scored.ask(player, positions, run_tasks, seed)
        answers = list(progress(asked, len(positions), "positions"))
    score = scored.score(answers)
    if as_json:
        print(json.dumps(_to_json(player, score)))
    else:
        _print(player, score, mistakes)


@app.command(cls=Command)
def curve(
    name: Annotated[str, typer.Argument(metavar="RUN", help="A training run of Connect 4.")],
    file: Annotated[Path | None, typer.Argument(help="JSON lines; without, Tengen's own set.")] = None,
    simulations: Annotated[
        int, typer.Option("--sims", min=1, help="Simulations per move; 1: the network alone.")
    ] = 800,
    minutes: Annotated[
        str, typer.Option(help="Minutes of training after which to measure.")
    ] = "5,10,20,30,45,60",
    svg: Annotated[Path | None, typer.Option(help="Draw the curve.")] = None,
    workers: Workers = None,
    cluster: ClusterName = None,
    address: ClusterAddress = None,
    beside: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=PERFECT/GOOD", help="Another result for comparison, in percent. May be repeated."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Measure how strong the networks of a run were after some minutes of training."""
    from tengen import files
    from tengen.arena import reference as scored
    from tengen.cli.progress import progress
    from tengen.errors import UserError
    from tengen.training.folders import run_folder
    from tengen.training.run import Run
    from tengen.workers.place import Place

    files.check_can_write(svg)
    trained = Run.open(run_folder(name))
    if trained.config.game != scored.GAME:
        raise UserError(
            f"{name} is a run of {trained.config.game}; positions are scored for {scored.GAME} only"
        )
    lines = [_line(text) for text in beside or []]
    chosen = _generations(trained.metrics(), _numbers(minutes))
    positions = scored.read(file or scored.OWN_SET)
    found: list[tuple[float, int, Score]] = []
    with Place(workers, cluster, address).run_tasks() as run_tasks:
        for elapsed, generation in chosen:
            player = trained.load_checkpoint(generation).player(f"generation {generation}", simulations)
            asked = scored.ask(player, positions, run_tasks)
            answers = progress(asked, len(positions), f"after {elapsed:.1f} minutes")
            found.append((elapsed, generation, scored.score(list(answers))))
    if svg is not None:
        files.write_text(svg, _curve_svg(found, simulations, lines))
    if as_json:
        rows = [
            {"minutes": m, "generation": g, "perfect": asdict(s.perfect), "good": asdict(s.good)}
            for m, g, s in found
        ]
        print(json.dumps({"run": name, "sims": simulations, "positions": len(positions), "curve": rows}))
        return
    how = "the networks alone" if simulations == 1 else f"{simulations} simulations"
    print(f"{name} on {len(positions)} positions, {how} (95 % intervals)\n")
    print(f"{'minutes':>7}{'generation':>12}   {'perfect':<24}good")
    for elapsed, generation, score in found:
        print(f"{elapsed:>7.1f}{generation:>12}   {score.perfect!s:<24}{score.good}")


def _numbers(text: str) -> list[float]:
    from tengen.errors import UserError

    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise UserError(f"--minutes is numbers separated by commas, such as 10,30,60; got '{text}'") from None


def _generations(metrics: list[dict[str, Any]], minutes: list[float]) -> list[tuple[float, int]]:
    """(minutes, generation): the last complete generation at each of the minutes, and its exact time."""
    from tengen.errors import UserError

    found: dict[int, float] = {}
    for limit in minutes:
        before = [line for line in metrics if line["elapsed"] <= 60 * limit + 30]  # a run ends a little later
        if before:
            found[before[-1]["generation"]] = before[-1]["elapsed"] / 60
    if not found:
        raise UserError(f"the run has no generation that was complete within {max(minutes):g} minutes")
    return [(elapsed, generation) for generation, elapsed in found.items()]


def _line(text: str) -> tuple[str, float, float]:
    from tengen.errors import UserError

    name, _, rates = text.rpartition("=")
    perfect, _, good = rates.partition("/")
    try:
        return name, float(perfect) / 100, float(good) / 100
    except ValueError:
        raise UserError(f"--beside is name=perfect/good, such as published=75.4/95.1; got '{text}'") from None


def _curve_svg(
    found: "list[tuple[float, int, Score]]", simulations: int, beside: list[tuple[str, float, float]]
) -> str:
    from tengen.training.curves import Curve, Point, line_chart, percent

    last = found[-1][0]
    curves = [
        Curve(what, [Point(m, r.rate, r.low, r.high, f"generation {g}") for m, g, r in points])
        for what, points in (
            ("good", [(m, g, score.good) for m, g, score in found]),
            ("perfect", [(m, g, score.perfect) for m, g, score in found]),
        )
    ]
    for name, perfect, good in beside:
        for what, rate in (("good", good), ("perfect", perfect)):
            curves.append(Curve(f"{name}, {what}", [Point(m, rate, rate, rate) for m in (0.0, last)]))
    return line_chart(
        "Connect 4 from random weights",
        f"share of perfect and good moves, {simulations} simulations, 95 % intervals",
        curves,
        x_name="minutes of training",
        text=percent,
        size=(760, 380),
        stands_alone=True,
    )


@app.command(cls=Command)
def check(
    file: Annotated[Path | None, typer.Argument(help="JSON lines; without, Tengen's own set.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Compare every score of a set with Tengen's own solver."""
    import time

    from tengen.arena import reference as scored
    from tengen.cli.progress import progress

    positions = scored.read(file or scored.OWN_SET)
    began = time.perf_counter()
    found = list(progress(scored.disagreements(positions), len(positions), "positions"))
    seconds = time.perf_counter() - began
    wrong = sum(map(len, found))
    scores = scored.NUM_COLUMNS * len(positions)
    if as_json:
        print(json.dumps({"scores": scores, "different": wrong, "seconds": round(seconds, 3)}))
    else:
        for line, (one, columns) in enumerate(zip(positions, found, strict=True), start=1):
            for column, ours in columns:
                print(f"position {line}, column {column + 1}: {one.scores[column]} in the set, solved {ours}")
        print(f"{scores - wrong} of {scores} scores agree with the solver, {seconds:.1f} s")
    if wrong:
        raise typer.Exit(1)


@app.command(cls=Command)
def make(
    file: Annotated[Path, typer.Argument(help="Where to write the set (JSON lines).")],
    positions: Annotated[int, typer.Option("-n", min=1, help="Number of positions.")] = 1000,
    plies: Annotated[str, typer.Option(help="Moves played before the position, from-to.")] = "8-18",
    player: Annotated[
        str | None, typer.Option(help="The player of the games: uct:sims=50, …; default: random moves.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the positions.")] = 0,
) -> None:
    """Build a set of positions, scored by Tengen's own solver."""
    from contextlib import ExitStack

    from tengen import files, games, players
    from tengen.arena import reference as scored
    from tengen.cli.progress import progress
    from tengen.errors import UserError

    first, dash, last = plies.partition("-")
    if not (first.isdigit() and dash and last.isdigit() and int(first) <= int(last) < scored.NUM_CELLS):
        raise UserError(f"--plies is from-to, such as 8-18, below {scored.NUM_CELLS}; got '{plies}'")
    files.check_can_write(file)
    wanted = range(int(first), int(last) + 1)
    with ExitStack() as stack:
        chosen = stack.enter_context(players.find(player, games.find(scored.GAME))) if player else None
        if chosen:
            chosen.new_game(seed)
        lines = []
        try:
            for one in progress(scored.make(positions, wanted, seed, chosen), positions, "positions"):
                lines.append(scored.to_line(one))
        finally:  # after Ctrl-C, write the positions made so far
            if lines:
                files.write_text(file, "".join(lines))
                print(f"{len(lines)} positions of {plies} plies written to {file}")


def _to_json(player: str, score: "Score") -> dict[str, object]:
    return {
        "player": player,
        "perfect": asdict(score.perfect),
        "good": asdict(score.good),
        "good_discriminating": asdict(score.good_discriminating),
        "by_ply": [
            {"ply": ply, "perfect": asdict(perfect), "good": asdict(good)}
            for ply, (perfect, good) in score.by_ply.items()
        ],
        "mistakes": [_mistake(answer) for answer in score.mistakes],
    }


def _mistake(answer: "Answer") -> dict[str, object]:
    position = answer.scored.position
    return {
        "board": [int(cell) for cell in position.state[position.game.cells]],
        "move_scores": list(answer.scored.scores),
        "chosen": position.game.moves.name(answer.choice.action),
    }


def _print(player: str, score: "Score", mistakes: int) -> None:
    print(f"{player} on {score.perfect.n} positions (95 % intervals)\n")
    print(f"perfect               {score.perfect}")
    print(f"good                  {score.good}")
    print(f"good, discriminating  {score.good_discriminating}   on {score.good_discriminating.n}\n")
    print(f"{'ply':>3}{'n':>6}  {'perfect':>8}{'good':>9}")
    for ply, (perfect, good) in score.by_ply.items():
        print(f"{ply:>3}{perfect.n:>6}  {100 * perfect.rate:>6.1f} %{100 * good.rate:>7.1f} %")
    for answer in score.mistakes[:mistakes]:
        position = answer.scored.position
        print(f"\n{position.text(color=has_color(sys.stdout))}")
        print("scores " + "  ".join(str(s) if s != -99 else "-" for s in answer.scored.scores), end="")
        print(f"; played {position.game.moves.name(answer.choice.action)}")
    if len(score.mistakes) > mistakes:
        print(f"\n{len(score.mistakes)} mistakes in total: --mistakes N shows more, --json all")
