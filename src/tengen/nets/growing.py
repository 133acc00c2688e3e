"""Begins a network with the weights of another one, which may be smaller: both then give the same answers.

A wider network has new channels with random weights, but nothing that the old ones compute depends on them:
the weights from new channels to old ones are 0. A deeper network has new blocks that add 0 to their input.
Learning changes both from its first step on (as Net2Net, Chen et al. 2016, but without copies of channels).
Only a value of another kind (network.value) begins with random weights in its last layer.
"""

import torch
from torch import Tensor, nn

from tengen.errors import UserError
from tengen.nets.anysize import AnySize
from tengen.nets.net import Net

LAST_OF_VALUE = "value.2."  # the last layer of the value head of anysize


def begin(net: Net, other: Net) -> None:
    """Gives a network with random weights the answers of another one, which may be for another board size."""
    check_fits(net, other)
    tensors = net.state_dict()
    kept = "" if same_value(net, other) else LAST_OF_VALUE
    with torch.no_grad():
        for name, small in other.state_dict().items():
            if not (kept and name.startswith(kept)):
                _place(tensors[name], small)
        for block in _new_blocks(net, other).values():
            last = [module for module in block.modules() if isinstance(module, nn.BatchNorm2d)][-1]
            last.weight.zero_()


def check_fits(net: Net, other: Net) -> None:
    """UserError if the network cannot begin with the weights of the other one. Needs the shapes alone."""
    here = {name: tuple(tensor.shape) for name, tensor in net.state_dict().items()}
    there = {name: tuple(tensor.shape) for name, tensor in other.state_dict().items()}
    new, sizes = tuple(f"{name}." for name in _new_blocks(net, other)), _sizes_that_grow(net, other)
    if not same_value(net, other):
        new += (LAST_OF_VALUE,)
    for name in here | there:
        large, small = here.get(name, ()), there.get(name, ())
        fits = name in there and len(large) == len(small)
        fits = fits and all(a == b or (a, b) in sizes for a, b in zip(small, large, strict=True))
        if not fits and not name.startswith(new):
            raise UserError(
                "these weights do not fit the network of this run: "
                f"{name} is {there.get(name, 'missing')} there, {here.get(name, 'missing')} here"
            )


def same_value(net: Net, other: Net) -> bool:
    """True unless one predicts a single value, and the other one the chances of the results."""
    return not (isinstance(net, AnySize) and isinstance(other, AnySize)) or net.is_wdl == other.is_wdl


def _place(large: Tensor, small: Tensor) -> None:
    """Copies a small tensor into the first rows and columns of a large one; they ignore other columns."""
    if large.shape == small.shape:
        large.copy_(small)
    elif small.ndim == 1:
        large[: len(small)] = small
    else:  # a linear layer that grows reads the means of all channels, then the maxima (net.pool)
        halves = 2 if small.ndim == 2 else 1
        rows = large[: len(small)].chunk(halves, dim=1)
        for old, new in zip(small.chunk(halves, dim=1), rows, strict=True):
            new.zero_()
            new[:, : old.shape[1]] = old


def _new_blocks(net: Net, other: Net) -> dict[str, nn.Module]:
    """The blocks that only the deeper network has, by the names of their weights."""
    if not (isinstance(net, AnySize) and isinstance(other, AnySize)):
        return {}
    return {f"trunk.{i}": block for i, block in enumerate(net.trunk) if i >= len(other.trunk)}


def _sizes_that_grow(net: Net, other: Net) -> set[tuple[int, int]]:
    """(small, large): channels of the trunk and of the policy head, and means and maxima of them."""
    if not (isinstance(net, AnySize) and isinstance(other, AnySize)):
        return set()
    widths = [(other.channels, net.channels), (other.policy.hidden, net.policy.hidden)]
    return {(a * n, b * n) for a, b in widths for n in (1, 2) if a < b}
