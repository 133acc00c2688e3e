"""Fresh targets as values: positions in, what a new search says about them out. Nothing here touches a disk.

run_tasks(Reanalysis(…, the champion), [ReanalysisTask(…), …])  ──►  FreshTargets, FreshTargets, …

The search has no noise: noise makes games differ, and here no move is played. So nothing is random, and a
task needs no seed.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from tengen import games
from tengen.evaluators.evaluator import Evaluator
from tengen.games.game import Game, State
from tengen.search.mcts import Search
from tengen.search.tree import UNKNOWN
from tengen.training import targets
from tengen.training.checkpoint import Checkpoint
from tengen.training.config import SelfPlayConfig
from tengen.training.evaluating import evaluators
from tengen.training.record import FreshTargets, join, keys_of
from tengen.training.selfplay import selection


@dataclass(frozen=True)
class ReanalysisTask:
    """A shard of positions to be searched again."""

    generation: int
    number: int  # in its generation
    states: State  # [N, S]
    simulations: int  # for each position

    def __str__(self) -> str:
        return f"shard {self.number} of the reanalysis of generation {self.generation}"


@dataclass(frozen=True)
class Reanalysis:
    """Work: searches positions again with one network."""

    game: str
    config: SelfPlayConfig
    network: Checkpoint

    @contextmanager
    def open(self) -> Iterator[Callable[[ReanalysisTask], FreshTargets]]:
        game = games.find(self.game)
        new_evaluator = evaluators(game, self.config, self.network)

        def search(task: ReanalysisTask) -> FreshTargets:
            evaluator, _ = new_evaluator()
            return search_again(game, evaluator, self.config, task.simulations, task.states)

        yield search


def search_again(
    game: Game, evaluator: Evaluator, settings: SelfPlayConfig, simulations: int, states: State
) -> FreshTargets:
    """What a full search without noise finds in each position, `settings.at_once` of them in a batch."""
    firsts = range(0, len(states), settings.at_once)
    batches = [states[first : first + settings.at_once] for first in firsts]
    return join([_search_batch(game, evaluator, settings, simulations, batch) for batch in batches])


def _search_batch(
    game: Game, evaluator: Evaluator, settings: SelfPlayConfig, simulations: int, states: State
) -> FreshTargets:
    search = Search(
        game,
        evaluator,
        selection(settings, has_noise=False),
        len(states),
        simulations,
        discount=settings.discount,
    )
    search.begin(states)
    search.run(simulations)
    result = search.result()
    policies = targets.policies(result)
    return FreshTargets(
        keys=keys_of(states),
        policies=policies.astype(np.float16),
        values=targets.root_values(result, policies),
        is_proven=result.root_proven != UNKNOWN,
    )
