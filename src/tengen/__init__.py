"""AlphaZero for board games that runs on the machine you have.

    import tengen

    position = tengen.Position.from_moves("connect4", "44")         # shows itself in a notebook
    for snapshot in tengen.analyse(position, tengen.Limit(seconds=3)):
        print(snapshot.value, snapshot.moves[0].line)
    tengen.play("gomoku15")                                         # in the terminal or a notebook
    tengen.play_match("connect4", "zero:sims=64", "uct:sims=1000", num_games=20)
    for generation in tengen.train("tictactoe", minutes=2): ...     # needs the extra `train`

Everything is imported when it is first used: `import tengen` alone takes a few hundredths of a second.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING

from tengen import kernel_cache

if TYPE_CHECKING:
    from tengen import games
    from tengen.api import Training, analyse, find_game, load, play, play_match, player, train
    from tengen.errors import UserError
    from tengen.games.game import Game
    from tengen.games.position import Position
    from tengen.players.limit import Clock, Limit
    from tengen.players.session import GameSession

__version__ = "0.1.0"
__all__ = [
    "Clock",
    "Game",
    "GameSession",
    "Limit",
    "Position",
    "Training",
    "UserError",
    "analyse",
    "find_game",
    "games",
    "load",
    "play",
    "play_match",
    "player",
    "train",
]

# ONNX Runtime 1.29 and later keep a device id and a queue of telemetry events in the user's home, and send
# them. It reads this when it is first imported, here and in every process that we start.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

kernel_cache.use()

_HOMES = {  # where a name is defined, if not in api.py
    "Clock": "tengen.players.limit",
    "Game": "tengen.games.game",
    "GameSession": "tengen.players.session",
    "Limit": "tengen.players.limit",
    "Position": "tengen.games.position",
    "UserError": "tengen.errors",
}


def __getattr__(name: str) -> object:
    """Imports a public name when it is first asked for."""
    if name not in __all__:
        raise AttributeError(f"module 'tengen' has no attribute '{name}'")
    if name == "games":
        return import_module("tengen.games")
    found = getattr(import_module(_HOMES.get(name, "tengen.api")), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
