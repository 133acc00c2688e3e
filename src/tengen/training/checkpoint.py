"""A checkpoint as a value, and the one place that writes it to a folder.

weights.safetensors    to go on learning; in an exported network only what plays
net.onnx, int8.onnx    to play, in one precision or both
card.json              what it is; comes last: a folder with a card is whole
"""

from dataclasses import dataclass, replace
from pathlib import Path

from tengen import files, sealed
from tengen.arena.contestants import NetworkPlayer
from tengen.errors import UserError
from tengen.evaluators.card import FILES, Card, Precision, read_card, read_onnx
from tengen.evaluators.network import Network

WEIGHTS, CARD = "weights.safetensors", "card.json"
ADVICE = "put a copy back if you have one, or export with --no-weights"
AVERAGE = "average."  # of the names of the weights that play


@dataclass(frozen=True)
class Checkpoint:
    """A network: to play with and, if it has weights, to learn on."""

    card: Card
    networks: dict[Precision, bytes]  # ONNX
    weights: bytes | None = None  # safetensors

    @property
    def playing(self) -> Network:
        """The network, in the precision that the card says is played."""
        return Network(self.card, self.networks[self.card.precision])

    def player(self, name: str, simulations: int) -> NetworkPlayer:
        """The network with a search, for matches."""
        return NetworkPlayer(name, self.card, self.networks[self.card.precision], simulations)

    def to_send(self, has_weights: bool = False) -> "Checkpoint":
        """What a worker needs of it: the network that is played, in one precision."""
        played = {self.card.precision: self.networks[self.card.precision]}
        return replace(self, networks=played, weights=self.weights if has_weights else None)

    def average(self, folder: Path) -> bytes:
        """The weights that play, without the learner's memory, which is three times as large; the folder is
        for messages."""
        import safetensors.numpy

        path = folder / WEIGHTS
        if self.weights is None:
            raise UserError(f"no such file: {path}")
        sealed.check(path, self.weights, ADVICE)
        try:
            tensors = safetensors.numpy.load(self.weights)
        except safetensors.SafetensorError as error:
            raise UserError(f"{path} is damaged ({error}): export with --no-weights") from None
        kept = {name: tensor for name, tensor in tensors.items() if name.startswith(AVERAGE)}
        return sealed.seal(safetensors.numpy.save(kept, {"sha256": sealed.BLANK}))

    def contents(self) -> dict[str, bytes]:
        """Every file by its name, the card last."""
        weights = {} if self.weights is None else {WEIGHTS: self.weights}
        networks = {FILES[precision]: data for precision, data in self.networks.items()}
        return weights | networks | {CARD: self.card.to_text().encode("utf-8")}


def write(folder: Path, checkpoint: Checkpoint) -> None:
    """Writes all its files into a folder, which is made if it is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot make {folder}: {error.strerror}") from error
    for name, data in checkpoint.contents().items():
        files.write_bytes(folder / name, data)


def read(folder: Path) -> Checkpoint:
    """The checkpoint in a folder; UserError if a network is not what the card says. Weights may be gone."""
    card, weights = read_card(folder), folder / WEIGHTS
    precisions: tuple[Precision, ...] = ("fp32", "int8")
    return Checkpoint(
        card,
        {one: read_onnx(folder, card, one) for one in precisions if one in card.hashes},
        files.read_bytes(weights) if weights.is_file() else None,
    )
