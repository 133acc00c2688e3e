"""A network as a folder to share: it can be uploaded to Hugging Face as it is, and zero:FOLDER plays it.

README.md                       what it is and how strong, for people; a header in YAML for the website
config.json                     game, layers, inputs and outputs, for programs
model.safetensors               the averaged weights, by their names in the network
model.onnx, model_int8.onnx     to play; docs/onnx.md describes inputs and outputs
card.json                       Tengen's own card, with the hashes of the files above; written last
"""

import json
from dataclasses import dataclass
from typing import Any

from tengen import __version__, games, sealed
from tengen.evaluators.card import FILES, SHARED, WEIGHTS, Card
from tengen.games.game import Game
from tengen.training.checkpoint import CARD, Checkpoint, Numbers

README, CONFIG = "README.md", "config.json"
OUTPUTS = {  # in the order of the ONNX file; some networks lack the last one
    "logits": "[batch, actions] before softmax; only those of legal moves count",
    "value": "[batch] from -1 (lost) to 1 (won) for the player to move",
    "plies_left": "[batch] plies until the end of the game",
}


@dataclass(frozen=True)
class Shared:
    """A network to share."""

    name: str
    network: Checkpoint
    weights: dict[str, Numbers] | None
    license: str = "mit"

    def contents(self) -> dict[str, bytes]:
        """The contents of every file by its name, the card last."""
        card = self.network.card
        game = games.find(card.game)
        found = {SHARED[FILES[precision]]: data for precision, data in self.network.networks.items()}
        if self.weights is not None:
            found[SHARED[WEIGHTS]] = _safetensors(self.weights)
        return {
            README: (_header(self) + _text(self, game, sorted(found))).encode("utf-8"),
            CONFIG: (json.dumps(_config(card, game), indent=2, ensure_ascii=False) + "\n").encode("utf-8"),
            **found,
            CARD: card.to_text().encode("utf-8"),
        }


def _safetensors(weights: dict[str, Numbers]) -> bytes:
    import safetensors.numpy

    return sealed.seal(safetensors.numpy.save(weights, {"format": "pt", "sha256": sealed.BLANK}))


def _config(card: Card, game: Game) -> dict[str, Any]:
    """What another program must know to use the files."""
    size: tuple[object, object] = ("height", "width") if card.any_size else (game.rows, game.cols)
    return {
        "model_type": "tengen",
        "tengen_version": __version__,
        "network": card.network,
        "game": {"name": game.name, "rows": game.rows, "cols": game.cols, "num_actions": game.num_actions},
        "input": {
            "name": "planes",
            "shape": ["batch", len(card.planes), *size],
            "planes": [game.plane_names[plane] for plane in card.planes],
        },
        "outputs": OUTPUTS,
        "any_size": card.any_size,
        "discount": card.discount,
        "search": card.search,
        "generation": card.generation,
        "sha256": {
            SHARED[FILES[precision]]: card.hashes[precision]
            for precision in FILES
            if precision in card.hashes
        },
    }


def _metrics(card: Card) -> list[tuple[str, str, float]]:
    """(type, name, value) of every number on the card: shares from 0 to 1, as in card.json."""
    found = []
    for group, numbers in card.strength.items():
        for what, number in numbers.items():
            if isinstance(number, dict):
                how = "the network alone" if group == "alone" else group
                found.append(("accuracy", f"{what} moves, {how}", number["rate"]))
        if "score" in numbers:
            found.append(("score", f"score against {group}", numbers["score"]))
    return found


def _header(shared: Shared) -> str:
    """The YAML header. Texts are written as in JSON, which YAML contains."""
    card = shared.network.card
    lines = [
        "---",
        f"license: {json.dumps(shared.license)}",
        "library_name: tengen",
        "pipeline_tag: reinforcement-learning",
        "tags:",
        *(f"- {json.dumps(tag)}" for tag in ("tengen", "alphazero", "board-game", card.game, "onnx")),
    ]
    if metrics := _metrics(card):
        lines += [
            "model-index:",
            f"- name: {json.dumps(shared.name)}",
            "  results:",
            "  - task:",
            "      type: reinforcement-learning",
            "      name: board game",
            "    dataset:",
            f"      name: {json.dumps(card.game)}",
            f"      type: {json.dumps(card.game)}",
            "    metrics:",
        ]
        for kind, name, value in metrics:
            lines += [f"    - type: {kind}", f"      name: {json.dumps(name)}", f"      value: {value:g}"]
    return "\n".join([*lines, "---", ""])


def _text(shared: Shared, game: Game, names: list[str]) -> str:
    """The model card for people."""
    card = shared.network.card
    size = "boards of every size" if card.any_size else f"boards of {game.rows}×{game.cols}"
    planes = ", ".join(f"`{game.plane_names[plane]}`" for plane in card.planes)
    rows = [f"| {name} | {result} |" for name, result in _results(card)]
    strength = ["## Strength", "", "| measurement | result |", "|---|---|", *rows, ""] if rows else []
    minutes, positions = card.training.get("minutes"), card.training.get("positions")
    effort = f", {minutes:.0f} minutes, {positions:,} positions" if minutes and positions else ""
    layers = ", ".join(f"{key} {value}" for key, value in card.network.items() if key != "name")
    lines = [
        f"# {shared.name}",
        "",
        f"A network for {card.game} ({game.summary}) by Tengen: AlphaZero for board games. It plays {size} "
        "with a tree search.",
        "",
        "## Play",
        "",
        "Download this folder; with Tengen installed:",
        "",
        "```sh",
        f'tengen play "{card.game}" --opponent zero:FOLDER',
        "```",
        "",
        *strength,
        "## Training",
        "",
        f"By self-play{effort}, generation {card.generation}. Layers: {card.network.get('name', 'unknown')}, "
        f"{layers}. Every setting is in `card.json`.",
        "",
        "## Files",
        "",
        f"`{'`, `'.join(names)}`. The ONNX files need only ONNX Runtime. Input `planes`, "
        f"float32[batch, {len(card.planes)}, rows, columns]: {planes}; rows from the top. Outputs:",
        "",
        *(f"- `{name}` {what}" for name, what in OUTPUTS.items()),
        "",
    ]
    return "\n".join(lines)


def _results(card: Card) -> list[tuple[str, str]]:
    """The measurements on the card, in words."""
    found = []
    for group, numbers in card.strength.items():
        how = "the network alone" if group == "alone" else group
        for what, number in numbers.items():
            if isinstance(number, dict):
                low, high = (f"{100 * number[end]:.1f}" for end in ("low", "high"))
                share = f"{100 * number['rate']:.1f} % (95 % interval {low}-{high}, {number['n']} positions)"
                found.append((f"{what} moves, {how}", share))
        if "score" in numbers:
            tally = ", ".join(f"{numbers[what]} {what}" for what in ("wins", "draws", "losses"))
            found.append((f"against `{group}`", f"{100 * numbers['score']:.1f} % ({tally})"))
    return found
