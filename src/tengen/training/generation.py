"""The metrics of a generation: dataclasses while it is made, one line of metrics.jsonl on disk.

Lines that are read back are plain dictionaries, because older versions did not write every key.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from tengen.arena.match import Tally
from tengen.training.gate import Standing
from tengen.training.selfplay import ShardStats

if TYPE_CHECKING:  # needs PyTorch
    from tengen.training.learner import Losses

Line = dict[str, Any]  # of metrics.jsonl

SUMS = ("games", "moves", "simulations", "first_wins", "draws", "positions")  # summed over the shards
MEANS = ("hit_rate", "entropy")
RATES = ("games", "positions", "simulations")


@dataclass(frozen=True)
class SelfPlayMetrics:
    """Statistics over all shards of a generation."""

    counts: dict[str, float]  # sums and means over the shards; empty if an older version wrote them
    per_second: dict[str, float]  # of the shards played now; the others were already on disk
    seconds: float

    @classmethod
    def of(
        cls, shards: Sequence[ShardStats], played: Sequence[ShardStats], seconds: float
    ) -> "SelfPlayMetrics":
        """The metrics of all `shards`; the rates are of those `played` now, which took `seconds`."""
        sums = {key: sum(getattr(shard, key) for shard in shards) for key in SUMS}
        means = {
            key: round(sum(getattr(shard, key) for shard in shards) / max(len(shards), 1), 3) for key in MEANS
        }
        counts = {key: sum(getattr(shard, key) for shard in played) for key in RATES}
        rates = {key: round(count / max(seconds, 1e-9), 2) for key, count in counts.items()}
        return cls(sums | means if shards else {}, rates, seconds)

    def to_line(self) -> Line:
        rates = {f"{key}_per_second": rate for key, rate in self.per_second.items()}
        return self.counts | rates | {"seconds": round(self.seconds, 2)}


@dataclass(frozen=True)
class ReanalysisMetrics:
    """The number of old positions that were searched again, and of them those that are proven now."""

    positions: int = 0
    proven: int = 0
    seconds: float = 0.0

    def to_line(self) -> Line:
        return asdict(self) | {"seconds": round(self.seconds, 2)}


@dataclass(frozen=True)
class ReplayMetrics:
    """The number of positions in the window, and of all so far."""

    window: int
    total: int


@dataclass(frozen=True)
class ExportMetrics:
    """The precision that plays, and how well int8 agrees with fp32, if there is int8."""

    precision: str
    agreement: dict[str, float]

    def to_line(self) -> Line:
        return {**self.agreement, "precision": self.precision}


@dataclass(frozen=True)
class Generation:
    """All metrics of a complete generation."""

    number: int
    elapsed: float  # seconds of work since the run began
    selfplay: SelfPlayMetrics
    reanalysis: ReanalysisMetrics
    losses: "Losses"
    learning_seconds: float
    replay: ReplayMetrics
    export: ExportMetrics
    standing: Standing
    match: Tally | None  # of the gate, if it played one
    strength: dict[str, Any]  # see measure.py; {} if it was not measured

    def to_line(self) -> Line:
        match = asdict(self.match) | {"score": self.match.score} if self.match else {}
        return {
            "generation": self.number,
            "elapsed": round(self.elapsed, 2),
            "selfplay": self.selfplay.to_line(),
            "reanalysis": self.reanalysis.to_line(),
            "learner": asdict(self.losses) | {"seconds": round(self.learning_seconds, 2)},
            "replay": asdict(self.replay),
            "export": self.export.to_line(),
            "gate": asdict(self.standing) | match,
            "strength": self.strength,
        }
