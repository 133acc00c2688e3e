"""Games played ahead: the next generation plays while the coach learns from this one (`selfplay.overlap`).

    in front   play 1 │ learn 1, export, measure │ learn 2, export, measure │ learn 3, …
    beside            │ play 2 with network 0    │ play 3 with network 1    │ play 4 with network 2

A second thread waits for the games and writes their shards. Which network plays a generation depends on the
generation alone (playing.py), so that a run is the same whether its games are played ahead or not.
"""

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Self

from tengen.training.config import Config
from tengen.training.playing import Played, play
from tengen.training.run import Run
from tengen.training.watch import Phase, Watcher
from tengen.workers.tasks import RunBeside, RunTasks

if TYPE_CHECKING:
    from tengen.training.learner import Losses
    from tengen.training.selfplay import ShardStats


class Ahead:
    """Plays generations, during a with statement. What still plays at its end is stopped; the finished shards
    stay on disk. Without an overlap or `run_beside`, a generation is played when it is asked for."""

    def __init__(
        self, run: Run, config: Config, run_tasks: RunTasks, run_beside: RunBeside | None, watcher: Watcher
    ) -> None:
        self._run, self._config, self._watcher, self._run_tasks = run, config, watcher, run_tasks
        self._run_beside = run_beside if config.selfplay.overlap else None
        self._thread = ThreadPoolExecutor(1)
        self._begun: dict[int, tuple[Future[Played], _Reports]] = {}  # by generation; at most one

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._run_beside and any(not playing.done() for playing, _ in self._begun.values()):
            self._run_beside.stop()
        self._thread.shutdown()

    def begin(self, generation: int, is_awaited: bool = False) -> None:
        """Begins to play a generation in the other thread, if there is one for it."""
        if self._run_beside:
            reports = _Reports(self._watcher, is_awaited)
            playing = self._thread.submit(
                play, self._run, self._config, generation, self._run_beside, reports
            )
            self._begun[generation] = playing, reports

    def shards(self, generation: int) -> Played:
        """The games of a generation. What went wrong in the other thread is raised here."""
        if not self._run_beside:
            return play(self._run, self._config, generation, self._run_tasks, self._watcher)
        if generation in self._begun:
            self._begun[generation][1].await_rest(generation)
        else:
            self.begin(generation, is_awaited=True)
        found = self._begun[generation][0].result()
        del self._begun[generation]
        return found


class _Reports:
    """A watcher of games that are played ahead: it calls them so until the coach waits for them."""

    def __init__(self, watcher: Watcher, is_awaited: bool) -> None:
        self._watcher, self._is_awaited = watcher, is_awaited
        self._left = 0  # games
        self._lock = threading.Lock()

    def await_rest(self, generation: int) -> None:
        """The coach waits from now on: a phase of its own, of the games that are left."""
        with self._lock:
            self._is_awaited = True
            self._watcher.begin(generation, "playing", self._left)

    def begin(self, generation: int, phase: Phase, total: int = 0) -> None:
        with self._lock:
            self._left = total
            self._watcher.begin(generation, phase if self._is_awaited else "playing ahead", total)

    def played(self, shard: "ShardStats") -> None:
        with self._lock:
            self._left -= shard.games
            self._watcher.played(shard)

    def learned(self, losses: "Losses") -> None:
        self._watcher.learned(losses)

    def finished(self, metrics: dict[str, Any]) -> None:
        self._watcher.finished(metrics)
