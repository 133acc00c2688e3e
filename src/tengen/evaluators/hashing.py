"""A state as 64 random-looking bits: Σ entry · weight mod 2⁶⁴, then mixed.

Multilinear hashing (Lemire & Kaser, Strongly universal string hashing is fast, 2014). The weights are odd, so
states that differ in one entry never collide; others collide with a probability of about 2⁻⁶³.
"""

import numpy as np
import numpy.typing as npt
from numba import njit

from tengen.games.game import State
from tengen.games.randomness import MIX_1, MIX_2

Bits = npt.NDArray[np.uint64]


def new_weights(seed: int, count: int) -> Bits:
    """uint64[count], random and odd; the same for the same seed, on every machine."""
    return np.random.PCG64(seed).random_raw(count) | np.uint64(1)


@njit(cache=True, forceinline=True)
def weighted_sum(states: State, b: int, weights: Bits, k: int) -> np.uint64:
    """Σ states[b] · weights[k];  [B, S], [K, S]. Indices, not views: views are reference-counted, slower."""
    total = np.uint64(0)
    for i in range(states.shape[1]):
        total += np.uint64(states[b, i]) * weights[k, i]
    return total


@njit(cache=True, forceinline=True)
def mix(bits: np.uint64) -> np.uint64:
    """A one-to-one mix: every bit depends on every bit. Last steps of SplitMix64 (games/randomness.py)."""
    bits = (bits ^ (bits >> np.uint64(30))) * MIX_1
    bits = (bits ^ (bits >> np.uint64(27))) * MIX_2
    return bits ^ (bits >> np.uint64(31))
