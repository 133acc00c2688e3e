"""The networks that the bench of self-play plays with, in both precisions."""

from dataclasses import dataclass, field, replace

import numpy as np

from tengen.bench import residual
from tengen.errors import UserError
from tengen.evaluators.card import Card, Precision, hash_of, read_card, read_onnx
from tengen.evaluators.network import Network
from tengen.evaluators.samples import random_planes
from tengen.evaluators.zoo import find_network
from tengen.games import find
from tengen.games.game import Game
from tengen.nets.export import to_int8
from tengen.training.config import SelfPlayConfig

CALIBRATION = 1024  # positions for int8


@dataclass(frozen=True)
class Candidate:
    """A network to play with, in both precisions."""

    name: str
    multiply_adds: int  # per position
    data: dict[Precision, bytes]
    planes: tuple[int, ...]
    discount: float  # with which its values were learned
    c_scale: float  # of Gumbel search
    weights: residual.Weights = field(default_factory=dict)  # for a peer, if it can use this network

    def card(self, game: Game, precision: Precision) -> Card:
        return Card(
            game=game.name,
            network={"name": self.name},
            planes=self.planes,
            generation=0,
            discount=self.discount,
            precision=precision,
            c_scale=self.c_scale,
            hashes={precision: hash_of(data) for precision, data in self.data.items()},
        )

    def network(self, game: Game, precision: Precision) -> Network:
        return Network(self.card(game, precision), self.data[precision])


def plain_network(channels: int, blocks: int) -> Candidate:
    """A residual network with random weights, which the peer can use too."""
    connect4 = find("connect4")
    weights = residual.random_weights(connect4, channels, blocks)
    data = residual.to_onnx(connect4, weights)
    network = network_of(f"residual {channels} × {blocks}", connect4, data, residual.PLANES)
    return replace(network, weights=weights)


def trained_network(path: str) -> Candidate:
    """The network of a run or of a folder with a card. It is exported to int8 again, because not all are."""
    folder = find_network(path)
    card = read_card(folder)
    if card.game != "connect4":
        raise UserError(f"expected a network for connect4, the one in {folder} plays {card.game}")
    name, fp32 = f"{path}, generation {card.generation}", read_onnx(folder, card, "fp32")
    network = network_of(name, find("connect4"), fp32, card.planes)
    return replace(network, discount=card.discount, c_scale=card.c_scale)


def network_of(name: str, game: Game, fp32: bytes, planes: tuple[int, ...]) -> Candidate:
    seen = np.ascontiguousarray(random_planes(game, CALIBRATION)[:, planes])
    defaults = SelfPlayConfig()
    return Candidate(
        name,
        residual.multiply_adds(fp32, game),
        {"fp32": fp32, "int8": to_int8(fp32, seen)},
        planes,
        defaults.discount,
        defaults.c_scale,
    )
