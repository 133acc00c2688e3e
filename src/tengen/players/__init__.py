"""The players: each registered by one line, found by spec.  `uct:sims=2000`, `engine:cmd=./pbrain-x`"""

import inspect
import math
from collections.abc import Callable
from importlib import import_module

from tengen.errors import UserError
from tengen.evaluators.zoo import nearest
from tengen.games.game import Game
from tengen.games.spec import did_you_mean, parse_spec
from tengen.players.player import Player

REGISTRY = {  # name: where its class is; imported on first use
    "uniform": "tengen.players.uniform:Uniform",
    "greedy": "tengen.players.greedy:Greedy",
    "minimax": "tengen.players.minimax:Minimax",
    "alphabeta": "tengen.players.alphabeta:AlphaBeta",
    "uct": "tengen.players.uct:UctPlayer",
    "zero": "tengen.players.zero:Zero",
    "level": "tengen.players.level:Level",
    "perfect": "tengen.players.perfect:Perfect",
    "human": "tengen.players.human:Human",
    "engine": "tengen.players.engine:Engine",
}

# The allowed range of a number, by the name of the setting. A player may allow less, and then says so itself.
RANGES = {
    "n": (1, 10),
    "sims": (1, 100_000_000),
    "seconds": (0, 1_000_000),
    "match": (0, 1_000_000),
    "depth": (1, 40),
    "c": (-1_000, 1_000),
    "temperature": (0.01, 100),
    "lcb": (0, 100),
    "rollouts": (1, 10_000),
    "leaves": (1, 256),
    "fours": (0, 1_000_000),
    "memory": (0, 1_000_000),
    "threads": (1, 256),
}

RENAMED = {"table_mib": "memory"}  # settings that had another name before


def names() -> list[str]:
    """The names of all registered players."""
    return list(REGISTRY)


def summary(name: str) -> str:
    """The description of a player, in one line."""
    return _class(name).summary


def name_of(spec: str) -> str:
    """The name of the player in a spec; UserError if there is no such player."""
    name = spec.strip().partition(":")[0]
    if name not in REGISTRY:
        hint = did_you_mean(name, REGISTRY)
        raise UserError(f"unknown player '{name}'{hint or ': there are ' + ', '.join(REGISTRY)}")
    return name


def takes(spec: str, setting: str) -> bool:
    """Does the player that a spec names have this setting?"""
    return setting in inspect.signature(_class(name_of(spec))).parameters


def find(spec: str, game: Game) -> Player:
    """The player a spec names, for a game: `alphabeta:depth=6`. UserError if it does not play that game."""
    make: Callable[..., Player] = _class(name_of(spec))
    return make(game, **settings_of(spec))


def settings_of(spec: str) -> dict[str, object]:
    """The settings in a spec, as the arguments of the player. UserError if the player has no such setting."""
    name = name_of(spec)
    before, is_command, command = spec.strip().partition("cmd=")  # a command line may hold anything:
    parsed = parse_spec(before.rstrip(":,") if is_command else spec)  # it takes the rest
    if is_command:
        parsed.settings["cmd"] = command
    parameters = dict(inspect.signature(_class(name)).parameters)
    del parameters["game"]
    settings: dict[str, object] = {}
    if parsed.path is not None:
        if "path" not in parameters:
            raise UserError(f"player '{name}' takes settings as key=value, got '{parsed.path}'")
        settings["path"] = parsed.path
    for key, text in parsed.settings.items():
        if key not in parameters:
            takes = f"it takes {', '.join(parameters)}" if parameters else "it takes none"
            renamed = f": it is called {RENAMED[key]} now" if RENAMED.get(key) in parameters else ""
            hint = renamed or did_you_mean(key, parameters) or ": " + takes
            raise UserError(f"player '{name}' has no setting '{key}'{hint}")
        settings[key] = _value(name, key, text, parameters[key].annotation)
    return settings


def opponent(game: Game) -> str:
    """The spec of the default opponent in a game: the nearest bundled network, else uct."""
    found = nearest(game)
    return f"zero:zoo/{found.name}" if found else "uct:seconds=1"


def analyst(game: Game) -> str:
    """The spec of the default player for analysis: as `opponent`, but with a search that shows every move it
    looked at."""
    found = nearest(game)
    return f"zero:zoo/{found.name}:search=puct" if found else "uct"


def _class(name: str) -> type[Player]:
    module, _, attribute = REGISTRY[name].partition(":")
    kind: type[Player] = getattr(import_module(module), attribute)
    return kind


def _value(player: str, key: str, text: str, kind: object) -> object:
    """A setting's text converted to the type of its parameter; numbers are finite and in their range."""
    wanted = {int: "a whole number", float: "a number", bool: "yes or no"}
    base = next((one for one in (bool, int, float, str) if kind in (one, one | None)), None)
    assert base is not None, f"{player}: the type of {key} is {kind}, expected bool, int, float or str"
    if base is str:
        return text
    try:
        if base is bool:
            return {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}[text]
        value = int(text) if base is int else float(text)
    except (KeyError, ValueError):
        raise UserError(f"player '{player}': {key} is {wanted[base]}, got '{text[:40]}'") from None
    low, high = RANGES[key]
    if not math.isfinite(value):
        raise UserError(f"player '{player}': {key} is a finite number, got '{text}'")
    if value < low:
        raise UserError(f"player '{player}': {key} is {low} or more, got {text[:40]}")
    if value > high:
        raise UserError(f"player '{player}': {key} is {high:,} or less, got {text[:40]}")
    return value
