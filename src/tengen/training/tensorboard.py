"""A run's curves for TensorBoard, in runs/NAME/tensorboard: `tensorboard --logdir runs`.

Losses are plotted against learning steps since the run began, everything else against generations. A run
that is resumed opens a new file. Its first event is a session start (SessionLog) at the step where it
continues, so TensorBoard drops the steps of a generation that was cut short. Needs neither PyTorch nor
TensorFlow: the package `tensorboard` can write its records itself.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from tensorboard.compat.proto.event_pb2 import Event, SessionLog  # type: ignore[import-untyped]
from tensorboard.compat.proto.summary_pb2 import Summary  # type: ignore[import-untyped]
from tensorboard.summary.writer.record_writer import RecordWriter  # type: ignore[import-untyped]

from tengen.errors import UserError
from tengen.training.run import Run
from tengen.training.watch import Phase, rate

if TYPE_CHECKING:
    from tengen.training.learner import Losses
    from tengen.training.selfplay import ShardStats


class TensorBoard:
    """A watcher that writes the events of a run during the with statement."""

    def __init__(self, run: Run) -> None:
        self._step = sum(line["learner"]["steps"] for line in run.metrics())
        name = f"events.out.tfevents.{time.time():017.6f}.{run.generation + 1:04}.{os.getpid()}"
        self._file = run.folder / "tensorboard" / name
        with self._on_disk():
            self._file.parent.mkdir(exist_ok=True)
            self._records = RecordWriter(self._file.open("xb"))

    def __enter__(self) -> Self:
        self._write(file_version="brain.Event:2")
        self._write(step=self._step + 1, session_log=SessionLog(status=SessionLog.START))
        self._flush()
        return self

    def __exit__(self, *error: object) -> None:
        with self._on_disk():
            self._records.close()

    def begin(self, generation: int, phase: Phase, total: int = 0) -> None:
        self._flush()

    def played(self, shard: "ShardStats") -> None:
        pass

    def learned(self, losses: "Losses") -> None:
        self._step += 1
        self._scalars(
            self._step,
            {
                "loss/policy": losses.policy,
                "loss/value": losses.value,
                "loss/plies_left": losses.plies_left,
            },
        )

    def finished(self, metrics: dict[str, Any]) -> None:
        self._scalars(metrics["generation"], scalars(metrics))
        self._flush()

    def _scalars(self, step: int, numbers: dict[str, float]) -> None:
        values = [Summary.Value(tag=tag, simple_value=number) for tag, number in numbers.items()]
        self._write(step=step, summary=Summary(value=values))

    def _write(self, **fields: Any) -> None:
        with self._on_disk():
            self._records.write(Event(wall_time=time.time(), **fields).SerializeToString())

    def _flush(self) -> None:
        with self._on_disk():
            self._records.flush()

    @contextmanager
    def _on_disk(self) -> Iterator[None]:
        """Turns errors of the disk, such as a full one, into UserError."""
        try:
            yield
        except OSError as error:
            raise UserError(f"cannot write {self._file}: {error.strerror}") from error


def scalars(metrics: dict[str, Any]) -> dict[str, float]:
    """The numbers of a generation that are plotted, by their tags."""
    played, replay = metrics["selfplay"], metrics["replay"]
    found = {"replay/window": replay["window"], "replay/total": replay["total"]}
    if played.get("games") and rate(played, "games"):  # no rate if all games were already on disk
        found |= {f"selfplay/{what}_per_second": rate(played, what) for what in ("games", "simulations")}
    if games := played.get("games"):
        found |= {
            "selfplay/positions": played["positions"],
            "selfplay/first_player_wins": played["first_wins"] / games,
            "selfplay/draws": played["draws"] / games,
            "cache/hit_rate": played["hit_rate"],
        }
    if metrics.get("reanalysis", {}).get("positions"):
        found |= {f"reanalysis/{key}": metrics["reanalysis"][key] for key in ("positions", "proven")}
    if "entropy" in played:
        found["policy/entropy"] = played["entropy"]
    return found | dict(_flat("gate", metrics.get("gate", {}))) | dict(_flat("strength", metrics["strength"]))


def _flat(path: str, numbers: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """Every number with its path; for a rate with an interval, only the rate."""
    for name, number in numbers.items():
        if isinstance(number, dict) and "rate" in number:
            yield f"{path}/{name}", number["rate"]
        elif isinstance(number, dict):
            yield from _flat(f"{path}/{name}", number)
        elif isinstance(number, int | float):
            yield f"{path}/{name}", number
