"""Small parts the kernels share: the exponential by series, and Gumbel noise."""

import numpy as np
import pytest

from tengen.search.edges import exp
from tengen.search.gumbel import gumbel_noise
from tengen.search.tree import LOWEST


def test_exponential_is_exact_at_zero_and_close_below() -> None:
    assert exp(np.float32(0.0)) == 1.0  # the best of a position's moves is found by this
    for x in np.linspace(-87, 0, 5001, dtype=np.float32):
        assert exp(x) == pytest.approx(np.exp(np.float64(x)), rel=5e-6)
    assert 0 < exp(np.float32(-88.0)) < 1e-37 and 0 < exp(LOWEST) < 1e-37


def test_gumbel_noise_is_of_the_standard_gumbel_distribution() -> None:
    noise = gumbel_noise((400, 500), np.random.default_rng(1))
    assert noise.dtype == np.float32
    assert noise.mean() == pytest.approx(0.5772, abs=0.01)  # Euler's constant
    assert noise.var() == pytest.approx(np.pi**2 / 6, rel=0.02)
    for x in (-1.0, 0.0, 1.0, 3.0):  # the distribution function is exp(-exp(-x))
        assert (noise <= x).mean() == pytest.approx(np.exp(-np.exp(-x)), abs=0.005)
