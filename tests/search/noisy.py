"""An evaluator without sense but exact: noise that depends on the state and nothing else; and positions."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from tengen import games
from tengen.evaluators.evaluator import Evaluation
from tengen.games.game import Game, Mask, State

Bits = npt.NDArray[np.uint64]

CONNECT6 = Path(__file__).parents[2] / "examples" / "connect6.py"


def mixed(bits: Bits) -> Bits:
    """SplitMix64's last steps, on arrays."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def noise(states: State, count: int, seed: int = 0) -> npt.NDArray[np.float32]:
    """float32[B, count] from -1 to 1, uniform: multiples of 2⁻²³, so the same in any batch."""
    random = np.random.PCG64(seed)
    weights = random.random_raw(states.shape[1]) | np.uint64(1)
    streams = random.random_raw(count)
    hashes = mixed((states.astype(np.int64).astype(np.uint64) * weights).sum(axis=1, dtype=np.uint64))
    bits = mixed(hashes[:, None] ^ streams[None, :]) >> np.uint64(40)
    return bits.astype(np.float32) * np.float32(2.0**-23) - np.float32(1)


class NoisyEvaluator:
    """Logits from -2 to 2 and values from -0.9 to 0.9, without a tie."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def evaluate(self, states: State, legal: Mask) -> Evaluation:
        numbers = noise(states, legal.shape[1] + 1, self.seed)
        return Evaluation(np.float32(2) * numbers[:, :-1], np.float32(0.9) * numbers[:, -1])


def find_game(name: str) -> Game:
    """A game; connect6, where a player moves twice running, comes from its file."""
    if name == "connect6":
        games.load_file(CONNECT6)
    return games.find(name)


def random_positions(game: Game, count: int, seed: int = 0, with_ends: bool = False) -> State:
    """int16[count, S] from as many random games: half of them anywhere, half among the last plies, where
    results can be proven. None is over, or with_ends every eighth is."""
    random = np.random.default_rng(seed)
    found = []
    for i in range(count):
        states = [game.new_state()]
        while not game.outcome(states[-1])[0]:
            states.append(
                game.after(states[-1], int(random.choice(np.flatnonzero(game.legal_mask(states[-1])))))
            )
        last = len(states) - 2  # the last that is not over
        ply = random.integers(0, last + 1) if i % 2 == 0 else last - random.integers(0, min(8, last + 1))
        found.append(states[-1] if with_ends and i % 8 == 7 else states[ply])
    return np.stack(found)
