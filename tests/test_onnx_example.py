"""examples/onnx_connect4.py and docs/onnx.md: a network without Tengen gives the answers of the one inside it."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime

from tengen import games
from tengen.evaluators.network import open_network
from tengen.evaluators.zoo import ZOO, bundled
from tengen.games.position import Position

REPOSITORY = Path(__file__).parents[1]
EXAMPLE = REPOSITORY / "examples" / "onnx_connect4.py"


def play(typed: str, *arguments: str) -> str:
    """What it prints. The imports of Tengen are blocked."""
    code = f"import runpy, sys; sys.modules['tengen'] = None; sys.argv = {[str(EXAMPLE), *arguments]!r}; runpy.run_path({str(EXAMPLE)!r}, run_name='__main__')"
    done = subprocess.run([sys.executable, "-I", "-c", code], input=typed, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_plays_a_whole_game_with_the_moves_of_the_network() -> None:
    said = play("9\nx\n4\n4\n4\n1\n2\n3\n5\n5\n6\n6\n")
    assert said.startswith("your column: columns that are not full: 1 2 3 4 5 6 7\n")
    replies = re.findall(r"it plays (\d), value ([+-]\d\.\d\d)", said)
    position = Position.start("connect4")
    network = open_network("zoo/connect4", "fp32").direct(position.game)
    for mine, (reply, value) in zip("444123556", replies, strict=False):
        position = position.play(mine)
        found = network.evaluate(position.state[None], position.legal_mask[None])
        best = int(np.where(position.legal_mask, found.logits[0], -np.inf).argmax())
        assert (reply, value) == (str(best + 1), f"{found.values[0]:+.2f}")
        position = position.play(reply)
    assert position.is_over and said.endswith(f"{'XO'[(position.winner or 0) - 1]} wins\n")


def test_it_takes_another_file() -> None:
    said = play(
        "9\n" + "".join(f"{column}\n" * 6 for column in range(1, 8)), str(ZOO / "connect4" / "int8.onnx")
    )
    assert "it plays" in said and said.rstrip().endswith(("wins", "a draw"))


def test_it_is_short_and_needs_only_two_packages() -> None:
    lines = [line for line in EXAMPLE.read_text().splitlines() if line and not line.startswith('"""')]
    assert sum(not line.startswith(("import", "from")) for line in lines) <= 25
    assert "tengen" not in "".join(line for line in lines if line.startswith(("import", "from")))


def test_inputs_and_outputs_are_as_documented() -> None:
    """docs/onnx.md has a row per bundled network: its planes by name, in order."""
    page = (REPOSITORY / "docs" / "onnx.md").read_text(encoding="utf-8")
    for name in bundled():
        network = open_network(f"zoo/{name}", "fp32")
        game, card = games.find(network.card.game), network.card
        session = onnxruntime.InferenceSession(network.data)
        (planes,), outputs = session.get_inputs(), session.get_outputs()
        assert planes.name == "planes" and planes.shape == ["batch", len(card.planes), "height", "width"]
        assert [(one.name, one.shape) for one in outputs] == [
            ("logits", ["batch", "actions"]),
            ("value", ["batch"]),
            ("plies_left", ["batch"]),
        ]
        shown = ", ".join(f"`{game.plane_names[plane]}`" for plane in card.planes)
        assert re.search(rf"\| `zoo/{name}` .*\| {re.escape(shown)} \|", page), name
