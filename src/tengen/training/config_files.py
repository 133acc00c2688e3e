"""Settings: read from files and the command line, with one clear line if one is wrong; and written to a file.

defaults  ◄  configs/gomoku15.toml  ◄  configs/renju15.toml, which is like it
          ◄  --preset night  ◄  --set learner.batch_size=512
"""

import inspect
import json
import math
import re
import tomllib
from collections.abc import Iterable
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any, get_args, get_type_hints

from tengen.errors import UserError
from tengen.games.spec import did_you_mean
from tengen.training.config import (
    EARLIER,
    LEAST,
    MOST,
    MOST_ANYWHERE,
    MOST_SEED,
    PRESETS,
    RENAMED,
    SECTIONS,
    SHARES,
    Change,
    Config,
)

CONFIGS = Path(__file__).parent.parent / "configs"


def load(game: str, settings: Iterable[str] = (), seed: int = 0, preset: str | None = None) -> Config:
    """The defaults, then the file of the game if there is one, a preset, and each `section.key=value`."""
    config = Config(game, _seed(seed))
    for text, name in _files_of(game):
        config = from_toml(text, config, name)
    if preset is not None and preset not in PRESETS:
        hint = did_you_mean(preset, PRESETS)
        raise UserError(f"no preset '{preset}'{hint or ': there are ' + ', '.join(PRESETS)}")
    for name, value in PRESETS.get(preset or "", {}).items():
        section, _, key = name.partition(".")
        config = _with(config, section, key, value)
    for setting in settings:
        config = with_setting(config, setting)
    return config


def _files_of(game: str) -> list[tuple[str, str]]:
    """Name and text of the files that say what differs for a game; the file it is `like` comes first."""
    file = CONFIGS / f"{game}.toml"
    if not file.is_file():
        return []
    text = file.read_text(encoding="utf-8")
    like = tomllib.loads(text).get("like")
    return [*(_files_of(like) if like else []), (text, file.name)]


def with_setting(config: Config, setting: str) -> Config:
    """The settings, one of them changed by `section.key=value`."""
    name, equals, text = setting.partition("=")
    section, dot, key = name.strip().partition(".")
    if not (equals and dot):
        raise UserError(f"--set is section.key=value, got '{setting}'")
    return _with(config, section, key, text.strip())


def from_toml(text: str, base: Config, name: str) -> Config:
    """The settings of a file, the others from `base`."""
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # not only TOMLDecodeError: numbers of 5,000 digits too
        raise UserError(f"{name}: {error}") from None
    for section, entries in tables.items():
        if section == "like":  # load has read that file
            continue
        if section == "game":
            base = replace(base, game=str(entries))
            continue
        if section == "seed":
            base = replace(base, seed=_seed(entries))
            continue
        if section == "changes":
            base = replace(base, changes=_changes(name, entries))
            continue
        if not isinstance(entries, dict):
            raise UserError(f"{name}: expected [{section}], got {section} = {entries}")
        for key, value in entries.items():
            base = _with_stored(base, section, key, value)
    return base


def is_complete(text: str) -> bool:
    """True if the config file of a run contains the last setting; one that is cut short does not."""
    section, kind = list(SECTIONS.items())[-1]
    return text.endswith("\n") and fields(kind)[-1].name in tomllib.loads(text).get(section, {})


def earlier() -> Config:
    """The settings of a run that names none: it is older than they are, and was made without them."""
    config = Config("")
    for name, value in EARLIER.items():
        section, _, key = name.partition(".")
        config = _with(config, section, key, value)
    return config


def from_dict(settings: dict[str, Any]) -> Config:
    """The settings from a dictionary made by dataclasses.asdict, as cards keep them."""
    config = replace(earlier(), game=str(settings["game"]), seed=_seed(settings["seed"]))
    for section in SECTIONS:
        for key, value in settings[section].items():
            config = _with_stored(config, section, key, value)
    return replace(config, changes=_changes("the card", list(settings.get("changes", []))))


def to_toml(config: Config) -> str:
    """All settings as the text of a TOML file, each with its comment."""
    lines = [f"game = {_literal(config.game)}", f"seed = {config.seed}"]
    for section, kind in SECTIONS.items():
        lines += ["", f"[{section}]"]
        settings, why = asdict(getattr(config, section)), reasons(kind)
        lines += [f"{key} = {_literal(value)}  # {why[key]}" for key, value in settings.items()]
    for change in config.changes:
        lines += ["", "[[changes]]"]
        lines += [f"{key} = {_literal(value)}" for key, value in asdict(change).items()]
    return "\n".join(lines) + "\n"


def reasons(kind: type) -> dict[str, str]:
    """The comment of each setting of a section, read from its source code."""
    return dict(re.findall(r"^    (\w+): .+?  # (.+)$", inspect.getsource(kind), re.MULTILINE))


def _with_stored(config: Config, section: str, key: str, value: Any) -> Config:
    """The settings with one from a file, which may use an old name."""
    section_now, _, key_now = RENAMED.get(f"{section}.{key}", f"{section}.{key}").partition(".")
    return _with(config, section_now, key_now, value)


def _with(config: Config, section: str, key: str, value: Any) -> Config:
    if section not in SECTIONS:
        hint = did_you_mean(section, SECTIONS)
        raise UserError(f"no section '{section}'{hint or ': there are ' + ', '.join(SECTIONS)}")
    kind = SECTIONS[section]
    names = [one.name for one in fields(kind)]
    if f"{section}.{key}" in RENAMED:
        raise UserError(f"{section}.{key} is {RENAMED[f'{section}.{key}']} now")
    if key not in names:
        hint = did_you_mean(key, names)
        raise UserError(f"[{section}] has no setting '{key}'{hint or ': it has ' + ', '.join(names)}")
    checked = _checked(f"{section}.{key}", value, get_type_hints(kind)[key])
    return replace(config, **{section: replace(getattr(config, section), **{key: checked})})


def _checked(name: str, value: Any, kind: Any) -> Any:
    """The value, converted to its type and checked."""
    if choices := get_args(kind):
        if value not in choices:
            hint = did_you_mean(str(value), choices)
            raise UserError(f"{name} is one of {', '.join(choices)}, got '{value}'{hint}")
        return value
    if kind is bool:
        if str(value).lower() not in ("true", "false"):
            raise UserError(f"{name} is true or false, got '{value}'")
        return str(value).lower() == "true"
    least, most = LEAST.get(name, 0), 1 if name in SHARES else MOST.get(name, MOST_ANYWHERE)
    wanted = {int: "a whole number", float: "a number", str: "text"}[kind]
    try:
        if isinstance(value, bool) or (kind is int and isinstance(value, float)):
            raise ValueError
        number = kind(value)
    except (TypeError, ValueError):
        raise UserError(f"{name} is {wanted}, got '{value}'") from None
    if kind is str:
        if not str(number).isprintable():
            raise UserError(f"{name} is {wanted} on one line, got {number!r}")
    elif not number >= least or (math.isinf(number) and most > 1):  # not "number < least": NaN is neither
        raise UserError(f"{name} is {wanted} from {least} {'to 1' if most == 1 else 'up'}, got {value}")
    elif number > most:
        raise UserError(f"{name} is {wanted} from {least} to {most:,}, got {value}")
    return number


def _seed(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_SEED:
        raise UserError(f"seed is a whole number from 0 to {MOST_SEED:,}, got {value}")
    return value


def _changes(name: str, entries: Any) -> tuple[Change, ...]:
    kinds = get_type_hints(Change)
    if not isinstance(entries, list) or not all(
        isinstance(entry, dict)
        and entry.keys() == kinds.keys()
        and all(isinstance(entry[key], kind) for key, kind in kinds.items())
        for entry in entries
    ):
        raise UserError(f"{name}: expected [[changes]] with {', '.join(kinds)}")
    return tuple(Change(**entry) for entry in entries)


def _literal(value: object) -> str:
    """The value as TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)
