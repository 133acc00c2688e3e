"""Trees that grow together are as if each were alone: the same result, bit for bit, in any batch."""

from dataclasses import fields

import numpy as np
import pytest

from tengen.games.game import State
from tengen.search.gumbel import Gumbel
from tengen.search.mcts import Search
from tengen.search.puct import Puct
from tengen.search.result import Result
from tengen.search.tree import UNKNOWN

from .noisy import NoisyEvaluator, find_game, random_positions

NUM_SIMULATIONS = 48
SETTINGS: dict[str, Puct | Gumbel] = {"puct": Puct(fpu_reduction=0.2), "gumbel": Gumbel(noise=0.0)}


def search(name: str, settings: Puct | Gumbel, states: State) -> Result:
    search = Search(find_game(name), NoisyEvaluator(), settings, len(states), NUM_SIMULATIONS, discount=0.97)
    search.begin(states)
    search.run(NUM_SIMULATIONS)
    return search.result()


@pytest.mark.parametrize("name", ["tictactoe", "connect4", "gomoku6", "othello6", "connect6"])
@pytest.mark.parametrize("rule", SETTINGS)
def test_a_result_does_not_depend_on_the_batch(name: str, rule: str) -> None:
    """Some of the games are over, some end soon and are proven early."""
    settings = SETTINGS[rule]
    states = random_positions(find_game(name), 24, seed=1, with_ends=True)
    alone = [search(name, settings, state[None]) for state in states]
    shuffled = np.random.default_rng(2).permutation(len(states))
    for order in (np.arange(len(states)), shuffled, shuffled[:11], np.repeat(shuffled[:3], 3)):
        together = search(name, settings, states[order])
        for place, which in enumerate(order):
            is_proven = together.root_proven[place] != UNKNOWN
            for field in fields(Result):
                if is_proven and field.name == "simulations":  # counts on while others are searched
                    continue
                one, other = getattr(together, field.name)[place], getattr(alone[which], field.name)[0]
                assert np.array_equal(one, other), f"{field.name} of position {which}: {one}, alone {other}"


@pytest.mark.parametrize("rule", SETTINGS)
def test_a_search_begun_anew_forgets_everything(rule: str) -> None:
    game, settings = find_game("connect4"), SETTINGS[rule]
    first, second = random_positions(game, 16, seed=3), random_positions(game, 16, seed=4, with_ends=True)
    search = Search(game, NoisyEvaluator(), settings, len(first), NUM_SIMULATIONS)
    results = []
    for states in (second, first, second):
        search.begin(states)
        search.run(NUM_SIMULATIONS)
        results.append(search.result())
    for field in fields(Result):
        assert np.array_equal(getattr(results[0], field.name), getattr(results[2], field.name)), field.name
