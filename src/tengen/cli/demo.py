"""`tengen demo`: trains Connect 4 from random weights in three minutes, then shows a game."""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tengen.cli.train import can_train, run_to_end
from tengen.command_line import command
from tengen.terminal import has_color
from tengen.training.folders import RUNS

if TYPE_CHECKING:
    from tengen.games.position import Position
    from tengen.training.run import Run

GAME = "connect4"
OPPONENT = "uct:sims=1000"  # a search with random rollouts, without a network
SETTINGS = (  # short generations, each measured: a first result within a minute, even on a busy machine
    "selfplay.games=256",
    "selfplay.games_per_shard=64",
    "measure.every=1",
    "measure.positions=200",
    "measure.games=0",
)
MOST_ROWS = 8  # of the table at the end


def demo(
    minutes: Annotated[float, typer.Option(min=0.1, help="Minutes of training.")] = 3.0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the run.")] = 1,
    pause: Annotated[float, typer.Option(min=0.0, help="Seconds between moves, in a terminal.")] = 0.4,
    plain: Annotated[
        bool, typer.Option("--plain", help="Print a line per generation, also in a terminal.")
    ] = False,
) -> None:
    """Train a network on Connect 4 for three minutes, from random weights, and watch it play."""
    if can_train():
        print(
            f"Connect 4 from random weights and the rules alone, {minutes:g} minutes. Watch how often it\n"
            "finds the perfect move (the fastest win, the slowest loss) or a good one (it keeps the result)\n"
            "in positions that it never learns from.\n",
            flush=True,
        )
        run = _new_run(minutes, seed)
        run_to_end(run, plain=plain)
        network = str(run.folder)
        print("\n" + _progress(run))
    else:
        network = f"zoo/{GAME}"
        print(
            "To train you need: pip install '.[train]' in the clone. Here is a game of the bundled network.",
            flush=True,
        )
    last = _show_game(f"zero:{network}:sims=200", pause)
    print(f"\n{len(last.moves)} moves: {''.join(last.moves)}; {last.outcome}.")
    print(f"\nPlay it:    {command('play', GAME, '--opponent', f'zero:{network}')}")
    if can_train():
        again = command("train", "--resume", Path(network).name, "--minutes", f"{10 * minutes:g}")
        print(f"Continue:   {again}")
        print(f"Curves:     {command('report', Path(network).name)}")
    print(f"Stronger:   {command('play', GAME)}        (the bundled network)")


def _new_run(minutes: float, seed: int) -> "Run":
    """A new run: runs/demo, or runs/demo-2, … if that exists."""
    from tengen.training import config_files
    from tengen.training.run import Run

    name, number = "demo", 1
    while (RUNS / name).exists():
        number += 1
        name = f"demo-{number}"
    settings = config_files.load(GAME, [*SETTINGS, f"length.minutes={minutes}"], seed, preset="minutes")
    return Run.create(RUNS / name, settings)


def _progress(run: "Run") -> str:
    """The strength after each generation, and with random weights, as a table."""
    from tengen import games
    from tengen.training.measure import measure
    from tengen.workers.local import LocalWorkers, available_cores

    with LocalWorkers(available_cores()) as run_tasks:
        at_first = measure(run.config.measure, games.find(GAME), run.load_checkpoint(0), run_tasks)
    measured = [(0.0, at_first), *((line["elapsed"], line["strength"]) for line in run.metrics())]
    every = -(-len(measured) // MOST_ROWS)
    rows = [
        f"{'':>8}{'network alone':>22}{'with 64 simulations':>22}",
        f"{'minutes':>8}" + 2 * f"{'perfect':>14}{'good':>8}",
    ]
    for seconds, strength in (*measured[:-1:every], measured[-1]):
        cells = "".join(
            f"{100 * strength[how]['perfect']['rate']:>12.1f} %{100 * strength[how]['good']['rate']:>6.1f} %"
            for how in ("alone", "sims=64")
        )
        rows.append(f"{seconds / 60:>8.1f}{cells}")
    return "\n".join(rows)


def _show_game(network: str, pause: float) -> "Position":
    """The last position of a game that is shown; the network plays first."""
    from tengen import games, players
    from tengen.games.position import Position

    in_terminal = sys.stdout.isatty()
    color = has_color(sys.stdout)
    game = games.find(GAME)
    position = Position.start(game)
    print(f"\nX is the network, O {OPPONENT}.")
    with players.find(network, game) as one, players.find(OPPONENT, game) as other:
        for player in (one, other):
            player.new_game(seed=0)
        while not position.is_over:
            choice = (one, other)[position.to_move - 1].choose(position)
            mover = "XO"[position.to_move - 1]
            position = position.play(choice.action)
            expects = "" if choice.value is None else f" (expects {choice.value:+.2f})"
            print(f"\n{len(position.moves)}. {mover} plays column {position.last_move}{expects}")
            print(position.text(color=color), flush=True)
            if in_terminal:
                time.sleep(pause)
    return position
