"""The networks: each is registered by one line, and created by name for a game. Needs PyTorch."""

import inspect
from importlib import import_module
from typing import Any

import torch

from tengen.errors import UserError
from tengen.games.game import Game
from tengen.games.spec import did_you_mean
from tengen.nets.net import Net

REGISTRY = {  # name: where its class is
    "anysize": "tengen.nets.anysize:AnySize",
    "lines": "tengen.nets.lines:Lines",
    "gobang": "tengen.nets.gobang:Gobang",
    "gomoku": "tengen.nets.gomoku:Gomoku",
    "connect4": "tengen.nets.connect4:Connect4",
    "mnk": "tengen.nets.mnk:Mnk",
}


def make(name: str, game: Game, settings: dict[str, Any] | None = None, seed: int = 0) -> Net:
    """A network with random weights for a game: `make("anysize", game, {"channels": 64, "blocks": 5})`."""
    if name not in REGISTRY:
        hint = did_you_mean(name, REGISTRY)
        raise UserError(f"unknown network '{name}'{hint or ': there are ' + ', '.join(REGISTRY)}")
    module, _, attribute = REGISTRY[name].partition(":")
    kind: type[Net] = getattr(import_module(module), attribute)
    parameters = dict(inspect.signature(kind).parameters)
    del parameters["game"]
    for key in settings or {}:
        if key not in parameters:
            takes = f"it takes {', '.join(parameters)}" if parameters else "it takes none"
            raise UserError(
                f"network '{name}' has no setting '{key}'{did_you_mean(key, parameters) or ': ' + takes}"
            )
    for plane in kind.needs:
        if plane not in game.plane_names:
            has = f"it needs the plane '{plane}', the game has {', '.join(game.plane_names)}"
            raise UserError(f"network '{name}' does not fit {game.name}: {has}")
    torch.manual_seed(seed)
    return kind(game, **(settings or {}))
