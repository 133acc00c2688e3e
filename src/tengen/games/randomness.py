"""Random numbers for kernels: one uint64 of state in an array, passed in and advanced in place.

SplitMix64 (Steele, Lea & Flood, OOPSLA 2014): 1 ns per number, any seed is a good seed, and the whole
state fits in one array entry, so that each tree or shard has its own.
"""

import numpy as np
import numpy.typing as npt
from numba import njit

STEP = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)


def new_random(seed: int) -> npt.NDArray[np.uint64]:
    """A generator's state, uint64[1]."""
    return np.array([seed % 2**64], np.uint64)


@njit(cache=True)
def next_random(random: npt.NDArray[np.uint64]) -> np.uint64:
    """The next 64 random bits."""
    random[0] += STEP
    z: np.uint64 = random[0]
    z = (z ^ (z >> np.uint64(30))) * MIX_1
    z = (z ^ (z >> np.uint64(27))) * MIX_2
    return z ^ (z >> np.uint64(31))


@njit(cache=True)
def random_below(random: npt.NDArray[np.uint64], limit: int) -> int:
    """A number from 0 to limit - 1; limit below 2**31. Its bias is below limit / 2**32."""
    scaled = (next_random(random) >> np.uint64(32)) * np.uint64(limit)
    return np.int64(scaled >> np.uint64(32))  # type: ignore[return-value]  # Numba's int() would stay unsigned
