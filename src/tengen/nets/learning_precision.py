"""fp32 or bf16 for learning on this machine: bf16 if it runs, agrees with fp32, and is clearly faster.

bf16 keeps eight bits of a number's fraction instead of 24. Processors that have it (AVX-512 BF16) compute the
gradients of a 15×15 board 1.5 times as fast; on others it is slower, or crashes on an instruction that the
processor advertises and does not have. So a child process tries both on a network of the same size:

    python -m tengen.nets.learning_precision CHANNELS BLOCKS ROWS COLS  ──►  {"cosine": …, "speed": …}

It counts processor time and takes the fastest of several steps, so that a busy machine gives the same answer.
Weights, their averages, batch normalisation's statistics and losses are always float32.
"""

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from tengen.errors import UserError
from tengen.nets.net import ResidualBlock, conv

LearningPrecision = Literal["fp32", "bf16"]

COMMAND = (sys.executable, "-m", "tengen.nets.learning_precision")
PATIENCE = 300.0  # seconds for the child: it needs five
LEAST_COSINE = 0.95  # between the gradients of both: 0.992 to 0.996 where it works
LEAST_SPEED = 1.1  # of fp32's: 1.3 at Connect 4, 1.5 at gomoku15, 1.0 at tic-tac-toe, each with 32 channels
LEAST_SIZE = 1000  # cells · channels: with less it is hardly ever faster, and not tried
BATCH = 64
ROUNDS = 3


@dataclass(frozen=True)
class Trial:
    """The result of trying bf16, and the reason for the choice in words."""

    precision: LearningPrecision
    reason: str


def choose(channels: int, blocks: int, rows: int, cols: int, command: tuple[str, ...] = COMMAND) -> Trial:
    """The precision for a network of about this size on this machine. UserError if it could not be tried."""
    if rows * cols * channels < LEAST_SIZE:
        return Trial("fp32", "the network is too small for bf16 to be faster")
    sizes = [str(number) for number in (channels, blocks, rows, cols)]
    try:
        child = subprocess.run([*command, *sizes], capture_output=True, timeout=PATIENCE)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(
            f"could not test whether bf16 works on this machine ({error}): "
            "try again, or choose with --set learner.precision=fp32"
        ) from None
    if child.returncode != 0:
        return Trial("fp32", f"bf16 does not run here: the process ended with code {child.returncode}")
    try:
        found = json.loads(child.stdout)
        cosine, speed = float(found["cosine"]), float(found["speed"])
    except (ValueError, TypeError, KeyError):
        answer = child.stdout[:40].decode(errors="replace")
        return Trial("fp32", f"bf16 does not run here: the process answered {answer!r}")
    if not cosine >= LEAST_COSINE:  # also if it is not a number
        return Trial("fp32", f"bf16 gives other gradients than fp32: cosine {cosine:.3f}")
    said = f"bf16 is {speed:.2f} × as fast as fp32"
    return Trial("bf16" if speed >= LEAST_SPEED else "fp32", said)


# ---- in the child


class Stack(nn.Module):
    """A residual network like the default one, without its heads."""

    def __init__(self, channels: int, blocks: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            conv(4, channels, size=7), nn.ReLU(), *(ResidualBlock(channels) for _ in range(blocks))
        )

    def forward(self, planes: Tensor) -> Tensor:
        pooled: Tensor = self.layers(planes).mean(dim=(2, 3))
        return pooled


def measure(channels: int, blocks: int, rows: int, cols: int) -> dict[str, float]:
    """The child's answer."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = Stack(channels, blocks).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    planes = torch.rand(BATCH, 4, rows, cols).to(memory_format=torch.channels_last)
    target = torch.randn(BATCH, channels)
    seconds: dict[bool, list[float]] = {False: [], True: []}
    gradients: dict[bool, Tensor] = {}
    for _ in range(1 + ROUNDS):  # the first round sets up
        for in_bf16, times in seconds.items():
            began = time.process_time()
            net.zero_grad(set_to_none=True)
            with torch.autocast("cpu", torch.bfloat16, enabled=in_bf16):
                output = net(planes)
            nn.functional.mse_loss(output.float(), target).backward()  # type: ignore[no-untyped-call]
            times.append(time.process_time() - began)
            gradients[in_bf16] = torch.cat([weights.grad.flatten() for weights in net.parameters()])
    cosine = nn.functional.cosine_similarity(gradients[False], gradients[True], dim=0)
    return {"cosine": float(cosine), "speed": min(seconds[False][1:]) / min(seconds[True][1:])}


if __name__ == "__main__":
    print(json.dumps(measure(*map(int, sys.argv[1:]))))
