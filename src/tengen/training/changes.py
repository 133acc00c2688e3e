"""Settings that change in the middle of a run, each with its first generation: the run stays repeatable.

config.toml holds the current settings, and the earlier values under [[changes]]. Settings that stored files
depend on cannot change.
"""

from collections.abc import Iterable
from dataclasses import replace

from tengen.errors import UserError
from tengen.training.config import Change, Config
from tengen.training.config_files import with_setting

FIXED = {  # what cannot change, and why
    "network.": "the stored weights have this shape",
    "network.start": "the run has begun with it",
    "network.teacher": "the run has begun with it",
    "network.teacher_generations": "it says who played the stored games",
    "selfplay.games_per_shard": "the stored games were divided by it",
    "selfplay.discount": "the stored values were discounted by it",
    "selfplay.precision": "it was chosen when the run began",
    "replay.": "the window of the stored generations was chosen by it",
    "learner.optimizer": "the stored optimiser state is of another kind",
}


def changed(config: Config, settings: Iterable[str], generation: int, why: str = "--set") -> Config:
    """The settings of a run, some changed by `section.key=value` starting with a generation; UserError if one
    cannot change."""
    for setting in settings:
        name = setting.partition("=")[0].strip()
        new = with_setting(config, setting)  # UserError if there is no such setting
        before, after = _value(config, name), _value(new, name)
        if before == after:
            continue
        reason = FIXED.get(name) or FIXED.get(name.partition(".")[0] + ".")
        if reason and (name, before) != ("selfplay.precision", "auto"):
            raise UserError(f"{name} cannot change in the middle of a run: {reason}; it stays {before}")
        config = replace(new, changes=(*new.changes, Change(generation, name, before, after, why)))
    return config


def in_force(config: Config, generation: int) -> Config:
    """The settings that were used for a generation."""
    for change in reversed(config.changes):
        if change.generation > generation:
            config = with_setting(config, f"{change.setting}={change.before}")
    return config


def changes_games(before: Config, after: Config) -> bool:
    """True if self-play would play different games with the new settings."""
    return before.selfplay != after.selfplay


def _value(config: Config, name: str) -> str:
    section, _, key = name.partition(".")
    return str(getattr(getattr(config, section), key))
