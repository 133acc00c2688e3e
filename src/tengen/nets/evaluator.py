"""An evaluator that runs a network with PyTorch, for GPUs, where it is faster than ONNX Runtime on the CPU.

Tested only on the CPU, against ONNX. We have no GPU: CUDA (with pinned memory and autocast) and MPS were
never run. On CUDA, convolutions use TF32 if the GPU supports it (10 bits instead of 23), PyTorch's default.
"""

import copy
from contextlib import AbstractContextManager, nullcontext
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from tengen.errors import UserError
from tengen.evaluators.evaluator import Evaluation, Floats
from tengen.games.batch import lift
from tengen.games.game import Game, Mask, Planes, State
from tengen.nets.net import Net

HALVES = {"fp16": torch.float16, "bf16": torch.bfloat16}


class TorchEvaluator:
    """Priors and values of a network. It uses a copy, so the network may continue to learn."""

    def __init__(
        self,
        game: Game,
        net: Net,
        device: torch.device,
        autocast: Literal["fp16", "bf16"] | None = None,
    ) -> None:
        """autocast: half precision where PyTorch considers it safe; faster on newer GPUs, CUDA only."""
        if autocast and device.type != "cuda":
            raise UserError(f"{autocast} is for cuda, and the device is {device}: leave it out")
        self._device, self._half = device, autocast
        self._is_cuda = device.type == "cuda"
        # Channels last is faster, but on MPS it gave wrong results (PyTorch issue 174345).
        self._layout = torch.contiguous_format if device.type == "mps" else torch.channels_last
        self._net: Net = copy.deepcopy(net).eval().to(device, memory_format=self._layout)  # type: ignore[call-overload]
        self._batched = lift(game)
        self._planes: Planes = np.zeros((0, *game.planes_shape), np.float32)
        self._seen = torch.zeros((0, len(net.planes), game.rows, game.cols))

    def evaluate(self, states: State, legal: Mask) -> Evaluation:
        if len(states) > len(self._planes):
            self._make_room(len(states))
        planes, seen = self._planes[: len(states)], self._seen[: len(states)]
        self._batched.planes(states, planes)
        seen.numpy()[:] = planes[:, self._net.planes]
        with torch.inference_mode(), self._autocast():
            # Only pinned memory is copied asynchronously. It can be reused when the results have arrived.
            inputs = seen.to(self._device, non_blocking=self._is_cuda)
            output = self._net(inputs.contiguous(memory_format=self._layout))
        plies_left = None if output.plies_left is None else _to_numpy(output.plies_left)
        return Evaluation(_to_numpy(output.logits), _to_numpy(output.value), plies_left)

    def _make_room(self, count: int) -> None:
        self._planes = np.zeros((count, *self._planes.shape[1:]), np.float32)
        self._seen = torch.zeros((count, *self._seen.shape[1:]), pin_memory=self._is_cuda)

    def _autocast(self) -> AbstractContextManager[object]:
        return torch.autocast("cuda", HALVES[self._half]) if self._half else nullcontext()


def find_device(name: str) -> torch.device:
    """The device for "auto", "cpu", "cuda", "cuda:1" or "mps". auto: a GPU if there is one."""
    has_cuda, has_mps = torch.cuda.is_available(), torch.backends.mps.is_available()
    kind, _, number = name.partition(":")
    if name == "auto":
        return torch.device("cuda" if has_cuda else "mps" if has_mps else "cpu")
    if name not in ("cpu", "cuda", "mps") and not (kind == "cuda" and number.isdecimal()):
        raise UserError(f"unknown device '{name}': expected auto, cpu, cuda, cuda:1 or mps")
    if kind == "cuda" and not has_cuda:
        raise UserError(f"device {name} was given, but PyTorch finds no GPU: use cpu")
    if kind == "mps" and not has_mps:
        instead = "cuda" if has_cuda else "cpu"
        raise UserError(f"device mps was given, but PyTorch finds no Apple GPU: use {instead}")
    if number and int(number) >= torch.cuda.device_count():
        last = torch.cuda.device_count() - 1
        raise UserError(f"device {name} was given, but the last GPU that PyTorch finds is cuda:{last}")
    return torch.device("cuda", int(number)) if number else torch.device(name)


def _to_numpy(tensor: Tensor) -> Floats:
    """The tensor as an array in C order, which the kernels expect."""
    array: Floats = tensor.float().cpu().contiguous().numpy()
    return array
