"""Starts or reopens a run, before the coach trains it; for the command line and for scripts."""

from tengen import games
from tengen.training import checks
from tengen.training.changes import changed
from tengen.training.config import Config
from tengen.training.folders import new_folder, run_folder
from tengen.training.lock import locked
from tengen.training.run import Run


def create_run(name: str | None, config: Config) -> Run:
    """A new run. If the settings are refused, no file is left behind."""
    games.find(config.game)
    folder = new_folder(name, config.game)
    Run.refuse_if_there(folder)
    checks.check(config)
    with locked(folder):
        return Run.create(folder, config)


def reopen_run(name: str, settings: list[str], limits: list[str]) -> Run:
    """An existing run; new settings apply from its next generation."""
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
    """The requested length of a run as settings; a limit that is not given means no limit."""
    if minutes is None and generations is None:
        return []
    return [f"length.minutes={minutes or 0.0}", f"length.generations={generations or 0}"]
