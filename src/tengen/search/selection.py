"""The interface of a variant: how a search chooses. `Puct` and `Gumbel` are two; a third is one more file.

A variant's settings are a frozen dataclass, given to Search. They make a plan of the next simulations, which
finds the leaves of each round and has the last word on the result.
"""

from typing import Protocol

import numpy as np

from tengen.search.result import Result
from tengen.search.tree import Slots, Trees


class Plan(Protocol):
    """A number of simulations of all trees. It may run in parts: what it needs to go on is kept here."""

    def descend(self, slots: Slots, simulation: int) -> None:
        """Finds a leaf for every slot, from the root down. simulation: how many of the plan are done."""

    def improve(self, result: Result) -> None:
        """Changes, in place, the policies and actions of roots that are not proven; as found, by visits."""


class Selection(Protocol):
    """The settings of a variant."""

    @property
    def max_leaves_per_round(self) -> int:
        """How many leaves of one tree can be found before the first of them is evaluated."""

    @property
    def virtual_loss(self) -> float:
        """What a leaf that is being evaluated counts as, where a round has several."""

    @property
    def prior_temperature(self) -> float:
        """What the evaluator's logits are divided by."""

    def explore(self, trees: Trees, random: np.random.Generator) -> None:
        """Adds noise to new roots, before any plan."""

    def plan(self, trees: Trees, num_simulations: int | None, random: np.random.Generator | None) -> Plan:
        """Prepares simulations; None: until the search is stopped. Without `random`, no noise."""
