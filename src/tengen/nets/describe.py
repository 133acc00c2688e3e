"""The layers of a network in the order they run, with shapes, parameters and multiply-adds.

Found by running it once on real positions with hooks. A convolution or a fully connected layer is a row,
batch normalisation and activations belong to the layer before them, and a residual block is one row that
contains its layers. A multiply-add is one product that is added to a sum. Biases are not counted, and batch
normalisation is folded into its layer when a network plays.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from tengen import nets
from tengen.errors import UserError
from tengen.games.game import Game, Planes
from tengen.nets.anysize import PoolingBlock
from tengen.nets.lines import LineConv
from tengen.nets.net import Net, ResidualBlock, pool
from tengen.nets.policy import PairProducts

Part = Literal["trunk", "policy", "value"]
Kind = Literal["conv", "linear", "pool", "product", "block"]

LARGEST_SETTING = 4096
MOST_PARAMETERS = 100_000_000  # a larger network would need too much memory when it is measured
POSITIONS = 8  # to run it on; several, so that two tensors with equal numbers are surely the same tensor

NAMES: dict[type[nn.Module], str] = {
    nn.BatchNorm1d: "batch norm",
    nn.BatchNorm2d: "batch norm",
    nn.LeakyReLU: "leaky ReLU",
    nn.AdaptiveMaxPool2d: "max pool",
}
BLOCKS: dict[type[nn.Module], str] = {ResidualBlock: "residual block", PoolingBlock: "pooling block"}


@dataclass(frozen=True)
class Layer:
    """One layer, or one residual block."""

    part: Part
    kind: Kind
    name: str  # "conv 3×3, batch norm, ReLU"
    shape: tuple[int, ...]  # of its output for one position: C, H, W or features
    parameters: int
    multiply_adds: int  # for one position
    source: int  # index of the layer whose output is its input, in the same list; -1: the input of the list
    inside: tuple["Layer", ...] = ()  # a block's layers


@dataclass(frozen=True)
class Description:
    """A network, layer by layer."""

    planes: tuple[int, ...]  # which of the game's planes are its input
    input_shape: tuple[int, ...]
    layers: tuple[Layer, ...]
    num_actions: int
    says_plies: bool  # it has an output for the plies left
    says_chances: bool  # its value is made of the probabilities of win, draw and loss
    parameters: int

    @property
    def multiply_adds(self) -> int:
        return sum(layer.multiply_adds for layer in self.layers)


def fitting(name: str, game: Game, given: dict[str, str]) -> tuple[Net, dict[str, Any]]:
    """The network for the game, and all its settings; UserError if it does not fit the game."""
    parameters = inspect.signature(type(outline(name, game))).parameters
    settings = {key: _value(key, text, parameters) for key, text in given.items()}
    outline(name, game, settings)
    defaults = {key: parameter.default for key, parameter in parameters.items() if key != "game"}
    return nets.make(name, game, settings), defaults | settings


def outline(name: str, game: Game, settings: dict[str, Any] | None = None) -> Net:
    """The network without weights, which needs no memory. UserError if it does not fit or is too large."""
    try:
        with torch.device("meta"):
            found = nets.make(name, game, settings)
    except AssertionError as error:
        raise UserError(f"network '{name}' does not fit {game.name}: {error}") from None
    if max(found.planes) >= game.num_planes:
        needs = f"it needs {max(found.planes) + 1} planes and the game has {game.num_planes}"
        raise UserError(f"network '{name}' does not fit {game.name}: {needs}")
    if found.num_parameters > MOST_PARAMETERS:
        size = f"{found.num_parameters:,} parameters, at most {MOST_PARAMETERS:,} are allowed"
        raise UserError(f"network '{name}' would have {size}: lower its settings")
    return found


def _value(key: str, text: str, parameters: Mapping[str, inspect.Parameter]) -> int | float | str:
    """A setting, converted to the type that the network expects."""
    kind = parameters[key].annotation if key in parameters else str  # an unknown one is refused by nets.make
    if kind not in (int, float):
        return text
    lowest, most, wanted = (1, LARGEST_SETTING, "a whole number") if kind is int else (0, 1, "a number")
    try:
        number: int | float = kind(text)
    except ValueError:
        raise UserError(f"{key} is {wanted}, got '{text}'") from None
    if not lowest <= number <= most:
        raise UserError(f"{key} is {wanted} from {lowest} to {most}, got {text}")
    return number


def describe(net: Net, planes: Planes) -> Description:
    """The layers of a network, found by running it on positions [B, C, H, W] of its game."""
    seen = torch.from_numpy(np.ascontiguousarray(planes[:POSITIONS, net.planes]))
    watch = _Watch(seen)
    hooks = []
    for path, module in net.named_modules():
        if type(module) in BLOCKS:
            hooks.append(module.register_forward_pre_hook(lambda *_: watch.enter_block()))
            hooks.append(module.register_forward_hook(watch.leave_block))
        elif not any(module.children()):
            top = path.split(".")[0]
            part: Part = "policy" if top == "policy" else "value" if top == "value" else "trunk"
            hooks.append(module.register_forward_hook(watch.hook(part)))
    was_training = net.training
    try:
        with torch.inference_mode():
            output = net.eval()(seen)
    finally:
        net.train(was_training)
        for hook in hooks:
            hook.remove()
    return Description(
        planes=net.planes,
        input_shape=tuple(seen.shape[1:]),
        layers=tuple(watch.layers),
        num_actions=output.logits.shape[1],
        says_plies=output.plies_left is not None,
        says_chances=output.outcomes is not None,
        parameters=net.num_parameters,
    )


class _Watch:
    """Collects layers as they run."""

    def __init__(self, seen: Tensor) -> None:
        self.layers: list[Layer] = []
        self._outputs: list[Tensor] = []  # of each layer
        self._seen = seen
        self._block_begins = 0
        self._blocks = 0

    def hook(self, part: Part) -> Callable[[nn.Module, Any, Any], None]:
        """The hook to call after each layer of a part."""
        return lambda module, inputs, output: self._leaf(part, module, inputs[0], output)

    def enter_block(self) -> None:
        self._block_begins = len(self.layers)

    def leave_block(self, module: nn.Module, _: Any, output: Tensor) -> None:
        """Replaces the layers since the block began by one layer that contains them."""
        begins = self._block_begins
        inside = tuple(replace(layer, source=layer.source - begins) for layer in self.layers[begins:])
        del self.layers[begins:], self._outputs[begins:]
        self._blocks += 1
        self._add(
            Layer(
                part="trunk",
                kind="block",
                name=f"{BLOCKS[type(module)]} {self._blocks}",
                shape=tuple(output.shape[1:]),
                parameters=sum(layer.parameters for layer in inside),
                multiply_adds=sum(layer.multiply_adds for layer in inside),
                source=begins - 1,
                inside=inside,
            ),
            output,
        )

    def _leaf(self, part: Part, module: nn.Module, x: Tensor, y: Tensor) -> None:
        name = NAMES.get(type(module), type(module).__name__)
        parameters = sum(parameter.numel() for parameter in module.parameters())
        shape, outputs = tuple(y.shape[1:]), y.numel() // len(self._seen)
        if isinstance(module, nn.Conv2d):
            rows, cols = module.kernel_size
            products = outputs * rows * cols * module.in_channels // module.groups
            source = self._source(x, part)
            self._add(Layer(part, "conv", f"conv {rows}×{cols}", shape, parameters, products, source), y)
        elif isinstance(module, LineConv):
            products = outputs * module.multiply_adds
            source = self._source(x, part)
            self._add(Layer(part, "conv", module.name, shape, parameters, products, source), y)
        elif isinstance(module, nn.Linear):
            products = outputs * module.in_features
            source = self._source(x, part)
            self._add(Layer(part, "linear", "linear", shape, parameters, products, source), y)
        elif isinstance(module, PairProducts):
            products = outputs * x.shape[1] // 2
            source = self._source(x, part)
            self._add(Layer(part, "product", "from · to, by pairs", shape, parameters, products, source), y)
        elif isinstance(module, nn.AdaptiveMaxPool2d):
            self._add(Layer(part, "pool", name, shape, parameters, 0, self._source(x, part)), y)
        elif not isinstance(module, nn.Flatten):
            last = self.layers[-1]
            self.layers[-1] = replace(
                last, name=f"{last.name}, {name}", parameters=last.parameters + parameters
            )
            self._outputs[-1] = y

    def _source(self, x: Tensor, part: Part) -> int:
        """The layer whose output is x; if x was pooled in between, the pooling becomes a layer too."""
        for number in range(len(self.layers) - 1, -1, -1):
            if _same(x, self._outputs[number]):
                return number
        if any(_same(x, planes) for planes in (self._seen, self._seen[:, :2], self._seen[:, 2:])):
            return -1
        for number in range(len(self.layers) - 1, -1, -1):
            y = self._outputs[number]
            if y.dim() != 4:
                continue
            for name, pooled in (("board", pool(y)), ("columns", _pool_columns(y))):
                if _same(x, pooled):
                    name = f"means and maxima of the {name}"
                    self._add(Layer(part, "pool", name, tuple(x.shape[1:]), 0, 0, number), x)
                    return len(self.layers) - 1
        return len(self.layers) - 1

    def _add(self, layer: Layer, output: Tensor) -> None:
        self.layers.append(layer)
        self._outputs.append(output)


def _same(a: Tensor, b: Tensor) -> bool:
    """True if both have the same numbers, flattened or not."""
    return a.numel() == b.numel() and torch.equal(a.flatten(1), b.flatten(1))


def _pool_columns(x: Tensor) -> Tensor:
    """Means and maxima over each column, as in the policy for columns;  [B, C, H, W] → [B, W, 2C]"""
    return torch.cat((x.mean(dim=2), x.amax(dim=2)), dim=1).transpose(1, 2)
