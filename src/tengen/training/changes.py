"""Settings that change in the middle of a run, and from which generation on: the run stays repeatable.

config.toml holds what is in force now, and under [[changes]] what was before. Settings that the stored files
depend on stay as they are.
"""

from collections.abc import Iterable
from dataclasses import replace

from tengen.errors import UserError
from tengen.training.config import Change, Config
from tengen.training.config_files import with_setting

FIXED = {  # what cannot change, and why
    "network.": "the stored weights have this shape",
    "network.start": "the run has begun with it",
    "selfplay.games_per_shard": "the stored games were divided by it",
    "selfplay.discount": "the stored values were discounted by it",
    "selfplay.precision": "it was chosen when the run began",
    "replay.": "the window of the stored generations was chosen by it",
    "learner.optimizer": "the stored memory of the optimiser is of another kind",
}


def changed(config: Config, settings: Iterable[str], generation: int, why: str = "--set") -> Config:
    """The settings of a run with some `section.key=value` changed, from a generation on; UserError for those
    that cannot change."""
    for setting in settings:
        name = setting.partition("=")[0].strip()
        new = with_setting(config, setting)  # refuses what is no setting at all
        before, after = _value(config, name), _value(new, name)
        if before == after:
            continue
        reason = FIXED.get(name) or FIXED.get(name.partition(".")[0] + ".")
        if reason and (name, before) != ("selfplay.precision", "auto"):
            raise UserError(f"{name} cannot change in the middle of a run: {reason}; it stays {before}")
        config = replace(new, changes=(*new.changes, Change(generation, name, before, after, why)))
    return config


def in_force(config: Config, generation: int) -> Config:
    """The settings that a generation was made with."""
    for change in reversed(config.changes):
        if change.generation > generation:
            config = with_setting(config, f"{change.setting}={change.before}")
    return config


def changes_games(before: Config, after: Config) -> bool:
    """Would self-play play other games?"""
    return before.selfplay != after.selfplay


def _value(config: Config, name: str) -> str:
    section, _, key = name.partition(".")
    return str(getattr(getattr(config, section), key))
