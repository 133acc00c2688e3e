"""Watchers, which are told about the progress of a run: the terminal, TensorBoard, or your own. They change
nothing.

generation 7:  begin(7, "playing", 512)    played(shard) played(shard) …
               begin(7, "refreshing")      with selfplay.reanalyse, unless all of it is on disk
               begin(7, "learning", 96)    learned(losses) learned(losses) …
               begin(7, "exporting")
               begin(7, "measuring")
               finished(metrics)

With `selfplay.overlap`, the next generation reports meanwhile, from another thread:

generation 8:  begin(8, "playing ahead", 512)    played(shard) played(shard) …
               begin(8, "playing", 128)          the coach waits for the games that are left
"""

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from tengen.errors import UserError

if TYPE_CHECKING:  # a watcher needs no PyTorch
    from tengen.training.learner import Losses
    from tengen.training.selfplay import ShardStats

Phase = Literal["playing", "refreshing", "learning", "exporting", "measuring", "playing ahead"]


class Watcher(Protocol):
    """What the coach reports."""

    def begin(self, generation: int, phase: Phase, total: int = 0) -> None:
        """A phase begins; `total` is its number of games or steps, 0 if it has none."""

    def played(self, shard: "ShardStats") -> None:
        """A shard was played."""

    def learned(self, losses: "Losses") -> None:
        """The learner took a step."""

    def finished(self, metrics: dict[str, Any]) -> None:
        """A generation is complete and on disk; metrics is its line of metrics.jsonl."""


class Watchers:
    """A watcher that passes every report on to several others, or to none; one report at a time."""

    def __init__(self, *watchers: Watcher) -> None:
        self._watchers, self._lock = watchers, threading.Lock()

    def begin(self, generation: int, phase: Phase, total: int = 0) -> None:
        with self._lock:
            for watcher in self._watchers:
                watcher.begin(generation, phase, total)

    def played(self, shard: "ShardStats") -> None:
        with self._lock:
            for watcher in self._watchers:
                watcher.played(shard)

    def learned(self, losses: "Losses") -> None:
        with self._lock:
            for watcher in self._watchers:
                watcher.learned(losses)

    def finished(self, metrics: dict[str, Any]) -> None:
        with self._lock:
            for watcher in self._watchers:
                watcher.finished(metrics)


def rate(played: dict[str, Any], what: str) -> float:
    """Games, positions or simulations per second of self-play, from a line; 0 if all were already on disk."""
    if f"{what}_per_second" in played:
        return float(played[f"{what}_per_second"])
    return float(played[what] / max(played["seconds"], 1e-9))  # a line from an older version


@dataclass(frozen=True)
class Share:
    """A share from 0 to 1, such as of perfect moves, with its 95 % interval if known."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{100 * self.value:.1f} %"


def strengths(metrics: dict[str, Any]) -> dict[str, dict[str, Share]]:
    """The measured shares in a line: {"alone": {"perfect": …, "good": …}, "uct:sims=200": {"score": …}}."""
    found: dict[str, dict[str, Share]] = {}
    try:
        for group, numbers in metrics["strength"].items():
            for name, number in numbers.items():
                if isinstance(number, dict):
                    share = Share(*(float(number[key]) for key in ("rate", "low", "high")))
                    found.setdefault(group, {})[name] = share
                elif name == "score":
                    found.setdefault(group, {})[name] = Share(*3 * [float(number)])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"a line of metrics is damaged: its strength cannot be read ({error})") from None
    return found
