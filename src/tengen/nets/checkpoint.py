"""Reads and writes weights as safetensors files, which cannot execute code. The files of a checkpoint:

weights.safetensors    the weights that learn, their average and the optimiser state
net.onnx, int8.onnx    the average, for playing
card.json              which game and network
"""

from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from torch import Tensor

from tengen import files, games, nets, sealed
from tengen.errors import UserError
from tengen.evaluators.card import WEIGHTS, Card, find_file, read_card
from tengen.nets.net import Net

ADVICE = "restore it from a copy if you have one"
UNNAMED = Path("the weights")


def load_net(folder: Path) -> Net:
    """The network of a run's checkpoint with the averaged weights, which play."""
    card, path = read_card(folder), find_file(folder, WEIGHTS)
    if not path.is_file():
        raise UserError(
            f"no weights in {folder}: a run keeps only those of its newest networks and its champion"
        )
    return net_of(card, files.read_bytes(path), path)


def net_of(card: Card, weights: bytes, path: Path = UNNAMED) -> Net:
    """The network with the averaged weights, from its card and the file's bytes; the path is for messages."""
    settings = dict(card.network)
    net = nets.make(settings.pop("name", ""), games.find(card.game), settings)
    tensors = tensors_of(weights, path)
    try:
        # "module": where PyTorch's AveragedModel keeps the network, next to a counter. Exported weights are
        # the average alone, without a prefix.
        net.load_state_dict(without_prefix("average.module", tensors) or tensors)
    except RuntimeError:
        raise UserError(f"{path} does not fit the network that its card describes: {card.network}") from None
    return net.eval()


def to_bytes(tensors: dict[str, Tensor]) -> bytes:
    """The tensors as the bytes of a safetensors file, with its hash in the header."""
    whole = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    return sealed.seal(safetensors.torch.save(whole, {"sha256": sealed.BLANK}))


def load_tensors(path: Path) -> dict[str, Tensor]:
    """The tensors in a file; UserError if it is damaged."""
    return tensors_of(files.read_bytes(path), path)


def tensors_of(data: bytes, path: Path = UNNAMED) -> dict[str, Tensor]:
    """The tensors from the bytes that to_bytes made; the path is for messages."""
    sealed.check(path, data, ADVICE)
    try:
        return safetensors.torch.load(data)
    except safetensors.SafetensorError as error:
        raise UserError(f"{path} is damaged ({error}): {ADVICE}") from None


def with_prefix(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {f"{prefix}.{name}": tensor for name, tensor in tensors.items()}


def without_prefix(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {
        name.removeprefix(f"{prefix}."): tensor
        for name, tensor in tensors.items()
        if name.startswith(f"{prefix}.")
    }


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The state of an optimiser, by the number of the parameter."""
    found = {}
    for number, memory in optimizer.state_dict()["state"].items():
        for name, value in memory.items():
            found[f"{number}.{name}"] = value if isinstance(value, Tensor) else torch.tensor(float(value))
    return found


def restore_optimizer(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    state: dict[int, dict[str, Any]] = {}
    for name, tensor in tensors.items():
        number, _, key = name.partition(".")
        state.setdefault(int(number), {})[key] = tensor
    whole = optimizer.state_dict()
    whole["state"] = state
    optimizer.load_state_dict(whole)
