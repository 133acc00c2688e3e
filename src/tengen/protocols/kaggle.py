"""Kaggle's Connect X: packs a network into one file that plays there, and asks such files for their moves.

kaggle_agent.py is the player. A submission is a copy of it with the weights of a network at its end:

    a line of JSON     settings, and the names and shapes of the tensors
    numbers            float16, batch normalisation folded into the convolutions
    as text            zlib, base85, 100 characters per line
"""

import base64
import json
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tengen import files
from tengen.arena.reference import Answer, Scored
from tengen.errors import UserError
from tengen.evaluators.card import Card
from tengen.evaluators.family import home_of, planes_for
from tengen.evaluators.zoo import find_network
from tengen.games import connect4
from tengen.games.game import FIRST_TO_MOVE, MINE, THEIRS
from tengen.players.player import Choice
from tengen.training import checkpoint

Floats = npt.NDArray[np.float32]

TEMPLATE = Path(__file__).with_name("kaggle_agent.py")
NO_WEIGHTS = 'WEIGHTS = ""'
PLANES = (MINE, THEIRS, FIRST_TO_MOVE)  # that the agent makes
EPSILON = 1e-5  # of batch normalisation, in PyTorch
LINE = 100  # characters

# Runs a submission as Kaggle does, which calls the last callable of the file; reads boards, writes columns.
RUNNER = """
import json, sys
class Struct(dict):
    __getattr__ = dict.__getitem__
answers, sys.stdout = sys.stdout, sys.stderr
path, found = sys.argv[1], {}
with open(path, encoding="utf-8") as file:
    exec(compile(file.read(), path, "exec"), found)
agent = [value for value in found.values() if callable(value)][-1]
count = getattr(getattr(agent, "__code__", None), "co_argcount", 2)
for line in sys.stdin:
    request = [Struct(part) for part in json.loads(line)]
    print(json.dumps(int(agent(*request[:count]))), file=answers, flush=True)
"""


def pack(path: str) -> str:
    """A submission as text: the agent with the network of a path, such as zoo/connect4 or runs/c4."""
    folder = find_network(path)
    network = checkpoint.read(folder)
    settings = settings_of(network.card, path)
    text = packed(settings, folded(network.average(folder)))
    code = TEMPLATE.read_text(encoding="utf-8")
    assert code.count(NO_WEIGHTS) == 1, "the template has one place for the weights"
    made = f"# Made by tengen kaggle pack from {path!r}, generation {network.card.generation}.\n"
    lines = "\n".join(text[i : i + LINE] for i in range(0, len(text), LINE))
    return made + code.replace(NO_WEIGHTS, f'WEIGHTS = """\n{lines}\n"""')


def settings_of(card: Card, source: str) -> dict[str, Any]:
    """What the agent must know about a network; UserError if the agent cannot play with it."""
    game = home_of(card)
    seen = [game.plane_names[plane] for plane in planes_for(card, game, source)]
    if game.play is not connect4.play:
        raise UserError(f"{source} plays {card.game}: Connect X needs a network for connect4")
    if card.network.get("name") != "anysize" or tuple(seen) != PLANES:
        raise UserError(
            f"{source} is of type '{card.network.get('name')}': only networks of type anysize can be packed"
        )
    distances: tuple[float, ...] = ()
    if card.network.get("value") == "wdl":
        from tengen.nets.anysize import DISTANCES

        distances = DISTANCES
    return {"game": card.game, "inarow": game.header[2], "discount": card.discount, "distances": distances}


def folded(tensors: dict[str, Floats]) -> dict[str, Floats]:
    """The weights for playing: each batch normalisation folded into the convolution before it."""
    found: dict[str, Floats] = {}
    for name, array in tensors.items():
        layer, _, which = name.rpartition(".")
        before, _, number = layer.rpartition(".")
        if f"{before}.1.running_mean" not in tensors:
            found[name] = array
        elif (number, which) == ("0", "weight"):
            scale, bias, mean, variance = (
                tensors[f"{before}.1.{one}"].astype(np.float64)
                for one in ("weight", "bias", "running_mean", "running_var")
            )
            scale /= np.sqrt(variance + EPSILON)
            found[f"{before}.weight"] = (array * scale[:, None, None, None]).astype(np.float32)
            found[f"{before}.bias"] = (bias - mean * scale).astype(np.float32)
    return found


def packed(settings: dict[str, Any], tensors: dict[str, Floats]) -> str:
    """A network as text, which kaggle_agent.unpack reads."""
    names = sorted(tensors)  # the same text each time: their order in a file is not fixed
    header = settings | {"tensors": {name: tensors[name].shape for name in names}}
    numbers = b"".join(tensors[name].astype("<f2").tobytes() for name in names)
    return base64.b85encode(zlib.compress(json.dumps(header).encode() + b"\n" + numbers, 9)).decode()


def ask(submission: Path, positions: Sequence[Scored], seconds: float) -> Iterator[Answer]:
    """The column that a submission plays in each position of Connect 4, in a process of its own, without any
    seconds in the bank."""
    files.read_bytes(submission)  # UserError if it cannot be read
    configuration = {"rows": 6, "columns": 7, "inarow": 4, "actTimeout": seconds, "timeout": seconds}
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            [sys.executable, "-I", "-c", RUNNER, str(submission)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        assert process.stdin is not None and process.stdout is not None
        try:
            for number, scored in enumerate(positions):
                cells = [int(cell) for cell in scored.position.state[scored.position.game.cells]]
                observation = {
                    "board": cells,
                    "mark": scored.position.to_move,
                    "step": scored.ply,
                    "remainingOverageTime": 0,
                }
                answer = _reply(process, json.dumps([observation, configuration]))
                if answer is None:
                    errors.seek(0)
                    reason = (errors.read().strip().splitlines() or ["it ended"])[-1]
                    raise UserError(f"{submission} failed on position {number + 1}: {reason}")
                if answer not in scored.position.legal_actions:
                    where = f"on position {number + 1}: it is not a legal move"
                    raise UserError(f"{submission} played column {answer} {where}")
                yield Answer(scored, Choice(answer))
        finally:
            process.kill()


def _reply(process: "subprocess.Popen[str]", request: str) -> int | None:
    """The column that the process answers with; None if it ended instead."""
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.write(request + "\n")
        process.stdin.flush()
    except BrokenPipeError:
        return None
    line = process.stdout.readline()
    return int(line) if line else None
