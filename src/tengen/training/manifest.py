"""A checkpoint's manifest: the hashes of its files and its line of metrics, in a file with its own hash.

    checkpoints/0007/manifest.json   {"metrics": {…}, "files": {"card.json": "3fa9…", …}, "sha256": "…"}

Written before the card. Weights are not in it: they contain their own hash, and old ones are removed.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tengen import files, sealed
from tengen.errors import UserError
from tengen.evaluators.card import read_card

FILE, GATE = "manifest.json", "gate.json"


def write(checkpoint: Path, metrics: dict[str, Any] | None, contents: Mapping[str, bytes]) -> None:
    """Writes the manifest of a checkpoint with these files, which may not be on disk yet."""
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in contents.items()}
    text = json.dumps({"metrics": metrics, "files": hashes, "sha256": sealed.BLANK}, ensure_ascii=False)
    files.write_bytes(checkpoint / FILE, sealed.seal(text.encode("utf-8") + b"\n"))


def check(checkpoint: Path) -> None:
    """UserError if a file of the checkpoint is damaged or missing. Older versions wrote no manifest."""
    for name, wanted in _read(checkpoint).get("files", {}).items():
        path = checkpoint / name
        if not path.is_file():
            raise UserError(f"{path} is missing: {advice(checkpoint)}")
        if hashlib.sha256(files.read_bytes(path)).hexdigest() != wanted:
            raise UserError(f"{path} is damaged or was edited: {advice(checkpoint)}")


def metrics_of(checkpoint: Path) -> dict[str, Any] | None:
    """The generation's line of metrics; None if the checkpoint does not keep it."""
    line: dict[str, Any] | None = _read(checkpoint).get("metrics")
    return line


def advice(checkpoint: Path) -> str:
    """What to do about a damaged checkpoint."""
    number, best = int(checkpoint.name), checkpoint.parent.parent / "best"
    if not any(card.parent.name > checkpoint.name for card in checkpoint.parent.glob("[0-9]*/card.json")):
        then = f"the run continues from generation {number - 1}" if number else "it is made again"
        return f"remove the folder {checkpoint}, and {then}"
    if (best / "card.json").is_file() and read_card(best).generation == number:
        return f"copy the files of {best} there, which are the same"
    return f"restore {checkpoint} from a copy if you have one"


def _read(checkpoint: Path) -> dict[str, Any]:
    """The manifest; {} if there is none, as in runs of older versions."""
    path = checkpoint / FILE
    if not path.is_file():
        return {}
    data = files.read_bytes(path)
    try:
        found = json.loads(data)
        if not (isinstance(found, dict) and sealed.is_sealed(data)):
            raise ValueError
    except ValueError:
        raise UserError(f"{path} is damaged: {advice(checkpoint)}") from None
    sealed.check(path, data, advice(checkpoint))
    return found
