"""Starts a run, or goes on with one: what comes before the coach, for the command line and for scripts."""

from tengen import games
from tengen.training import checks
from tengen.training.changes import changed
from tengen.training.config import Config
from tengen.training.folders import new_folder, run_folder
from tengen.training.lock import locked
from tengen.training.run import Run


def create_run(name: str | None, config: Config) -> Run:
    """A new run. What is refused leaves nothing behind."""
    games.find(config.game)
    folder = new_folder(name, config.game)
    Run.refuse_if_there(folder)
    checks.check(config)
    with locked(folder):
        return Run.create(folder, config)


def reopen_run(name: str, settings: list[str], limits: list[str]) -> Run:
    """A run that is there, with other settings from the next generation on."""
    folder = Run.open(run_folder(name)).folder
    with locked(folder):
        run = Run.open(folder)
        following = max(1, run.generation + 1)
        config = changed(run.config, settings, following)
        config = changed(config, limits, following, why="--minutes or --generations")
        if config != run.config:
            checks.check(config)
            run.reconfigure(config)
    return run


def limits(minutes: float | None, generations: int | None) -> list[str]:
    """The end that was asked for, as settings; the limit that is not named is none."""
    if minutes is None and generations is None:
        return []
    return [f"length.minutes={minutes or 0.0}", f"length.generations={generations or 0}"]
