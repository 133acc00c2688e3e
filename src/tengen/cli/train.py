"""`tengen train GAME`: trains a network by self-play."""

import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from tengen.cli.cluster import ClusterAddress, ClusterName
from tengen.command_line import command
from tengen.errors import MissingExtraError, UserError

if TYPE_CHECKING:
    from tengen.training.config import Config, LengthConfig
    from tengen.training.run import Run
    from tengen.training.watch import Watcher
    from tengen.workers.place import Place

DIED, STOPPED = 1, 130  # exit codes: a worker was killed; Ctrl-C


def train(
    game: Annotated[str | None, typer.Argument(help="A game; not with --resume.")] = None,
    name: Annotated[
        str | None, typer.Option("-n", "--name", help="Name of the run; default: the game's.")
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(min=0.01, help="Length of the run in minutes of work, over all commands.")
    ] = None,
    generations: Annotated[int | None, typer.Option(min=1, help="Length of the run in generations.")] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            help="minutes, hour, night (two cores) or gpu: sets the length, the network's size and more."
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="SECTION.KEY=VALUE",
            help="May be repeated. With --resume: from the next generation.",
        ),
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Continue a run to its end, or to a new one."),
    ] = None,
    curriculum: Annotated[
        bool, typer.Option("--curriculum", help="Learn on smaller boards first; the same command continues.")
    ] = False,
    overlap: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=1,
            help="1: play the next generation while this one is learned from; like --set selfplay.overlap=1.",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1, help="Number of processes; default: one per core. With an overlap, as many again play."
        ),
    ] = None,
    cluster: ClusterName = None,
    address: ClusterAddress = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="The same seed gives the same run; default: 0.")
    ] = None,
    plain: Annotated[
        bool, typer.Option("--plain", help="Print a line per generation, also in a terminal.")
    ] = False,
) -> None:
    """Train a network from random weights and the rules alone."""
    if not can_train():
        raise MissingExtraError("tengen train", "train")

    from tengen.training.start import create_run, limits, reopen_run
    from tengen.workers.place import Place

    place = Place(workers, cluster, address)
    settings = [*(settings or []), *([] if overlap is None else [f"selfplay.overlap={overlap}"])]
    if resume is not None:
        if game or name or preset or curriculum or seed is not None:
            raise UserError("--resume keeps the game, the name and the seed: leave them out")
        run = reopen_run(resume, settings, limits(minutes, generations))
    elif game is None:
        example, again = command("train", "connect4"), command("train", "--resume", "NAME")
        raise UserError(f"which game? {example}, or {again}")
    else:
        from tengen.training import config_files as configs

        config = configs.load(game, settings, seed or 0, preset)
        for limit in limits(minutes, generations):
            config = configs.with_setting(config, limit)
        if curriculum:
            _run_stages(config, name, settings, place, plain)
            return
        run = create_run(name, config)
    run_to_end(run, place, plain)


def _run_stages(config: "Config", name: str | None, settings: list[str], place: "Place", plain: bool) -> None:
    """Trains the runs of a curriculum, one after another; continues where it was stopped."""
    from tengen.training.curriculum import stages
    from tengen.training.run import Run
    from tengen.training.start import create_run

    for stage in stages(config, name, settings):
        run = Run.open(stage.folder) if stage.is_started else create_run(stage.folder.name, stage.config)
        run_to_end(run, place, plain)


def can_train() -> bool:
    """True if the extra `train` is installed."""
    from importlib.util import find_spec

    return all(find_spec(package) is not None for package in ("torch", "onnx", "tensorboard"))


def run_to_end(run: "Run", place: "Place | None" = None, plain: bool = False) -> None:
    """Trains a run to its end, with progress in the terminal."""
    from tengen.training.coach import train as coach
    from tengen.training.lock import locked
    from tengen.training.watch import Watchers
    from tengen.workers.local import reraise_swallowed_signals
    from tengen.workers.place import Place
    from tengen.workers.tasks import WorkerDiedError

    config = run.config
    resuming = command("train", "--resume", run.folder.name)
    if run.is_finished:
        more = command("train", "--resume", run.folder.name, *_more(config.length))
        print(f"{run.folder} is finished: {config.length}; {more} continues")
        return
    is_live = sys.stderr.isatty() and not plain
    if not is_live:
        print(
            f"{run.folder}: {config.game}, {config.length}; Ctrl-C stops, {resuming} continues",
            file=sys.stderr,
        )
    try:
        with locked(run.folder), reraise_swallowed_signals(), ExitStack() as stack:
            hands = stack.enter_context((place or Place()).for_training())
            watcher = Watchers(*_watchers(run, is_live, hands.describe, stack))
            for _ in coach(run, hands.run_tasks, watcher, hands.run_beside, hands.run_gradients):
                pass
    except KeyboardInterrupt:
        print(
            f"tengen: stopped in generation {max(1, run.generation + 1)}, {resuming} continues",
            file=sys.stderr,
        )
        raise typer.Exit(STOPPED) from None
    except WorkerDiedError as error:
        print(f"tengen: {error}; {resuming} continues", file=sys.stderr)
        raise typer.Exit(DIED) from None
    network = f"zero:{run.folder}"
    print(
        f"{run.folder}: finished, {run.generation} generations in {run.elapsed / 60:.1f} minutes\n"
        f"play it:   {command('play', config.game, '--opponent', network)}\n"
        f"match it:  {command('match', config.game, network, 'uct:sims=1000', '-n', '40')}\n"
        f"curves:    {command('report', run.folder.name)}",
        file=sys.stderr,
    )


def _watchers(
    run: "Run", is_live: bool, describe: Callable[[], str] | None, stack: ExitStack
) -> "list[Watcher]":
    """The watchers: TensorBoard; the panel if `is_live`; lines without a panel, or if stdout is a file."""
    from tengen.cli.live import Lines, LivePanel
    from tengen.training.tensorboard import TensorBoard

    watchers: list[Watcher] = [stack.enter_context(TensorBoard(run))]
    if not is_live or not sys.stdout.isatty():
        watchers.append(Lines(run, describe))
    if is_live:
        watchers.append(stack.enter_context(LivePanel(run, describe=describe)))
    return watchers


def _more(length: "LengthConfig") -> list[str]:
    """The options for a run that is twice as long."""
    limits = ["--minutes", f"{2 * length.minutes:g}"] if length.minutes else []
    return limits + (["--generations", f"{2 * length.generations}"] if length.generations else [])
