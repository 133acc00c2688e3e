"""Which precision a network plays with on this machine: tried once for networks of its size, then remembered.

A network that was trained in int8 elsewhere may run on a processor where int8 is slow, wrong, or crashes.
"""

import json
import platform
from pathlib import Path

import numpy as np
import onnxruntime

from tengen import files, kernel_cache, notices
from tengen.errors import UserError
from tengen.evaluators.card import Card, Precision, read_onnx
from tengen.evaluators.onnx import OnnxEvaluator
from tengen.evaluators.probe import probe
from tengen.evaluators.samples import played_planes
from tengen.evaluators.session import new_session
from tengen.games.game import Game, Planes

POSITIONS = 256  # to try it on


def precision_here(folder: Path, card: Card, game: Game, memory: Path | None = None) -> Precision:
    """int8 if the card says so and a probe agrees, else fp32.

    game: the one it was trained for. memory: a file with earlier results."""
    if card.precision == "fp32":
        return "fp32"
    memory = memory or kernel_cache.parent_folder() / "precision.json"
    known = _remembered(memory)
    machine = [platform.node(), platform.machine(), onnxruntime.__version__]
    key = " ".join([*machine, card.game, str(card.network), "own games"])
    if known.get(key) not in ("int8", "fp32"):
        fp32, int8 = (read_onnx(folder, card, precision) for precision in ("fp32", "int8"))
        try:
            planes = _planes(fp32, card, game)
        except Exception:  # noqa: BLE001  (the errors of ONNX Runtime have no common base class)
            return "fp32"  # it cannot play at all: who opens it says why
        found = probe(fp32, int8, planes)
        if not found.is_conclusive:  # this game is played in fp32; the next one asks again
            return "fp32"
        known[key] = found.precision
        try:
            files.write_text(memory, json.dumps(known, indent=2) + "\n")
        except UserError as error:
            notices.say_once(f"{error}: the faster precision is measured again each time")
    return "int8" if known[key] == "int8" else "fp32"


def _planes(fp32: bytes, card: Card, game: Game) -> Planes:
    """What the network sees in games that it plays itself."""
    session = new_session(fp32, (game.rows, game.cols))
    network = OnnxEvaluator(game, card.planes, lambda planes: session.run(None, {"planes": planes}))
    return np.ascontiguousarray(played_planes(game, network, POSITIONS)[:, card.planes])


def _remembered(memory: Path) -> dict[str, str]:
    """Earlier results; empty if the file cannot be read: then the probe runs again."""
    try:
        found = files.parse_json(files.read_bytes(memory))
    except (UserError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
