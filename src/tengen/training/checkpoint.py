"""A checkpoint as a value, and the only code that writes it to a folder.

weights.safetensors    to continue learning
net.onnx, int8.onnx    to play, in one precision or both; lookup.safetensors for a network of lines
card.json              describes the network; written last, so a folder with a card is complete

An exported network (sharing.py) has other files, but is read by the same functions.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy.typing as npt

from tengen import files, sealed
from tengen.arena.contestants import NetworkPlayer
from tengen.errors import UserError
from tengen.evaluators.card import FILES, WEIGHTS, Card, Precision, find_file, read_card, read_onnx
from tengen.evaluators.network import Network

Numbers = npt.NDArray[Any]

CARD = "card.json"
ADVICE = "restore it from a copy if you have one, or export with --no-weights"
AVERAGE = "average.module."  # prefix of the names of the averaged weights, which play


@dataclass(frozen=True)
class Checkpoint:
    """A network to play with and, if it has weights, to continue learning."""

    card: Card
    networks: dict[Precision, bytes]  # the files to play with
    weights: bytes | None = None  # safetensors

    @property
    def playing(self) -> Network:
        """The network, in the precision that its card chooses for play."""
        return Network(self.card, self.networks[self.card.precision])

    def player(self, name: str, simulations: int) -> NetworkPlayer:
        """A player for matches: the network with a search."""
        return NetworkPlayer(name, self.card, self.networks[self.card.precision], simulations)

    def to_send(self, has_weights: bool = False) -> "Checkpoint":
        """The part that a worker needs: the network in the precision that plays."""
        played = {self.card.precision: self.networks[self.card.precision]}
        return replace(self, networks=played, weights=self.weights if has_weights else None)

    def average(self, folder: Path) -> dict[str, Numbers]:
        """The averaged weights by their names in the network, without the state of the learner. The folder
        is only named in error messages."""
        import safetensors.numpy

        path = find_file(folder, WEIGHTS)
        if self.weights is None:
            raise UserError(f"no such file: {path}")
        sealed.check(path, self.weights, ADVICE)
        try:
            tensors = safetensors.numpy.load(self.weights)
        except safetensors.SafetensorError as error:
            raise UserError(f"{path} is damaged ({error}): export with --no-weights") from None
        average = {
            name.removeprefix(AVERAGE): array for name, array in tensors.items() if name.startswith(AVERAGE)
        }
        return average or tensors  # exported weights are the average alone, without a prefix

    def contents(self) -> dict[str, bytes]:
        """The contents of every file by its name, the card last."""
        weights = {} if self.weights is None else {WEIGHTS: self.weights}
        networks = {FILES[precision]: data for precision, data in self.networks.items()}
        return weights | networks | {CARD: self.card.to_text().encode("utf-8")}


def write(folder: Path, checkpoint: Checkpoint) -> None:
    """Writes all files of a checkpoint into a folder, which is created if needed."""
    write_files(folder, checkpoint.contents())


def write_files(folder: Path, contents: dict[str, bytes]) -> None:
    """Writes files, in this order, into a folder, which is created if needed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot create {folder}: {error.strerror}") from error
    for name, data in contents.items():
        files.write_bytes(folder / name, data)


def read(folder: Path) -> Checkpoint:
    """The checkpoint in a folder; UserError if a network does not match the card. Weights may be missing."""
    card, weights = read_card(folder), find_file(folder, WEIGHTS)
    return Checkpoint(
        card,
        {one: read_onnx(folder, card, one) for one in FILES if one in card.hashes},
        files.read_bytes(weights) if weights.is_file() else None,
    )
