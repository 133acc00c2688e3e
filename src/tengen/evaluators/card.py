"""A checkpoint's card: what the network in a folder is for. Needs neither PyTorch nor its training run."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from tengen import files
from tengen.errors import UserError

Precision = Literal["fp32", "int8", "lookup"]  # how a network plays; lookup: by a table (lookup.py)
FILES: dict[Precision, str] = {"fp32": "net.onnx", "int8": "int8.onnx", "lookup": "lookup.safetensors"}
WEIGHTS = "weights.safetensors"
SHARED = {  # the names in a folder of `tengen export`, as Hugging Face and its users expect them
    "net.onnx": "model.onnx",
    "int8.onnx": "model_int8.onnx",
    "lookup.safetensors": "lookup.safetensors",
    WEIGHTS: "model.safetensors",
}


@dataclass(frozen=True)
class Card:
    """What is known about a network."""

    game: str
    network: dict[str, Any]  # name and sizes
    planes: tuple[int, ...]  # which of the game's planes it sees
    generation: int
    discount: float  # per ply, as used in training
    precision: Precision  # the one it plays with
    search: Literal["gumbel", "puct"] = "gumbel"  # the search used in training
    c_scale: float = 0.1  # of Gumbel search
    sees_wins: bool = False  # its search sees a win in one move by the rules
    any_size: bool = False  # it plays boards of every size: its files leave height and width free
    hashes: dict[str, str] = field(default_factory=dict)  # of each precision's file: SHA-256
    strength: dict[str, Any] = field(default_factory=dict)  # as measured; see training/measure.py
    training: dict[str, Any] = field(default_factory=dict)  # minutes, positions, and every setting of the run

    def to_text(self) -> str:
        return json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n"


def hash_of(data: bytes) -> str:
    """The SHA-256 hash of a file's content."""
    return hashlib.sha256(data).hexdigest()


def find_file(folder: Path, name: str) -> Path:
    """The path of a network's file (a name in FILES, or WEIGHTS), which exported folders name differently."""
    shared = folder / SHARED[name]
    return shared if shared.is_file() else folder / name


def read_card(folder: Path) -> Card:
    """The card of the network in a folder; UserError if there is none."""
    path = folder / "card.json"
    if not path.is_file():
        raise UserError(f"no network in {folder}: expected a folder with card.json and net.onnx")
    try:
        fields = json.loads(files.read_bytes(path))
        fields["planes"] = tuple(fields["planes"])
        card = Card(**fields)
    except (ValueError, TypeError, KeyError) as error:
        raise UserError(f"{path} is not a network's card: {error}") from None
    if wrong := [name for name, is_right in _checks(card).items() if not is_right]:
        raise UserError(f"{path} is not a network's card: {wrong[0]} cannot be {getattr(card, wrong[0])!r}")
    return card


def _checks(card: Card) -> dict[str, bool]:
    """For each field, whether its value is valid. Fields about the game are checked with the game."""
    return {
        "game": isinstance(card.game, str),
        "network": isinstance(card.network, dict),
        "planes": bool(card.planes) and all(type(plane) is int and plane >= 0 for plane in card.planes),
        "generation": type(card.generation) is int and card.generation >= 0,
        "discount": isinstance(card.discount, int | float) and 0 < card.discount <= 1,
        "precision": card.precision in FILES,
        "search": card.search in ("gumbel", "puct"),
        "c_scale": isinstance(card.c_scale, int | float) and 0 < card.c_scale < 1e6,
        "sees_wins": isinstance(card.sees_wins, bool),
        "any_size": isinstance(card.any_size, bool),
        "hashes": isinstance(card.hashes, dict),
        "strength": isinstance(card.strength, dict),
        "training": isinstance(card.training, dict),
    }


def read_onnx(folder: Path, card: Card, precision: Precision) -> bytes:
    """The content of the network's file; UserError if it is not the one that the card describes."""
    path = find_file(folder, FILES[precision])
    data = files.read_bytes(path)
    if hash_of(data) != card.hashes.get(precision):
        raise UserError(f"{path} is damaged: it is not the file that card.json describes")
    return data
