"""fp32 or bf16 for learning: what a child process answers decides, whatever it answers."""

import json
import sys

import numpy as np
import pytest

from tengen import games, nets
from tengen.errors import UserError
from tengen.nets.learning_precision import COMMAND, Trial, choose
from tengen.training.gradients import Batch, GradientTask, GradientWork, flatten, statistics_of

SIZES = {"channels": 16, "blocks": 2}


def answering(code: str) -> tuple[str, ...]:
    """A command that does this instead of a trial."""
    return (sys.executable, "-c", code)


def saying(cosine: float, speed: float) -> tuple[str, ...]:
    return answering(f"print('{json.dumps({'cosine': cosine, 'speed': speed})}')")


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (saying(0.996, 1.5), Trial("bf16", "bf16 is 1.50 × as fast as fp32")),
        (saying(0.996, 1.02), Trial("fp32", "bf16 is 1.02 × as fast as fp32")),
        (saying(0.3, 2.0), Trial("fp32", "bf16 gives other gradients than fp32: cosine 0.300")),
        (saying(float("nan"), 2.0), Trial("fp32", "bf16 gives other gradients than fp32: cosine nan")),
        (answering("print('{}')"), Trial("fp32", "bf16 does not run here: the process answered '{}\\n'")),
        (
            answering("import os, signal; os.kill(os.getpid(), signal.SIGILL)"),
            Trial("fp32", "bf16 does not run here: the process ended with code -4"),
        ),
    ],
)
def test_the_answer_decides(command: tuple[str, ...], expected: Trial) -> None:
    assert choose(32, 5, 15, 15, command) == expected


def test_a_trial_that_cannot_be_made_is_no_answer() -> None:
    with pytest.raises(UserError, match=r"could not test whether bf16 works .*learner.precision=fp32"):
        choose(32, 5, 15, 15, ("/no/such/program",))


def test_small_networks_are_not_tried() -> None:
    assert choose(32, 5, 3, 3, ("/no/such/program",)).precision == "fp32"


def test_a_real_trial() -> None:
    trial = choose(16, 1, 9, 9, COMMAND)
    assert "× as fast" in trial.reason or "does not run" in trial.reason or "other gradients" in trial.reason


def test_gradients_in_bf16_are_close_to_those_in_fp32() -> None:
    """On any processor: without its own instructions, PyTorch computes bf16 slowly but correctly."""
    game, random = games.find("connect4"), np.random.default_rng(0)
    net = nets.make("anysize", game, SIZES, 0)
    num = 64
    batch = Batch(
        (random.random((num, len(net.planes), game.rows, game.cols)) < 0.3).astype(np.float32),
        random.dirichlet(np.ones(game.num_actions), num).astype(np.float32),
        random.uniform(-1, 1, num).astype(np.float32),
        random.dirichlet(np.ones(3), num).astype(np.float32),
        random.uniform(0, 40, num).astype(np.float32),
    )
    task = GradientTask(flatten([*net.parameters(), *statistics_of(net)]), batch)
    found = {}
    for precision in ("fp32", "bf16"):
        with GradientWork("connect4", "anysize", SIZES, precision).open() as compute:
            found[precision] = compute(task)
    a, b = found["fp32"], found["bf16"]
    assert not np.array_equal(a.gradients, b.gradients) and b.gradients.dtype == np.float32
    cosine = a.gradients @ b.gradients / np.linalg.norm(a.gradients) / np.linalg.norm(b.gradients)
    assert cosine > 0.99
    np.testing.assert_allclose(a.losses, b.losses, rtol=0.02)
    np.testing.assert_allclose(a.statistics, b.statistics, rtol=0.05, atol=0.02)
