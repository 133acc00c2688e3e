"""The trial at the end of `tengen check`: a game that can be learned passes, one that cannot is found."""

from dataclasses import replace

import numpy as np
from numba import njit

from tengen import games
from tengen.games import mnk
from tengen.games.game import Planes, State
from tengen.training.trial import try_training

TICTACTOE = games.find("tictactoe")


@njit(cache=False)
def endless_planes(state: State, out: Planes) -> None:
    mnk.planes(state, out)
    out[3] = np.inf


def test_a_game_that_can_be_learned() -> None:
    findings = list(try_training(TICTACTOE, seed=0))
    assert [one.problem for one in findings] == [None, None, None]
    assert findings[0].check == "anysize, the default network, plays itself" and findings[0].positions > 4


def test_a_game_that_cannot_be_learned_is_found_and_ends_the_trial() -> None:
    findings = list(try_training(replace(TICTACTOE, planes=endless_planes), seed=0))
    assert len(findings) == 1 and "not finite" in (findings[0].problem or "")
