"""A generation in numbers: its line of metrics.jsonl, typed while it is made.

Lines that are read back are plain dictionaries: those of older versions may lack some of this.
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

SUMS = ("games", "moves", "simulations", "first_wins", "draws", "positions")  # over the shards
MEANS = ("hit_rate", "entropy")
RATES = ("games", "positions", "simulations")


@dataclass(frozen=True)
class SelfPlayMetrics:
    """What happened in the shards of a generation, all together."""

    counts: dict[str, float]  # sums and means over the shards; empty if they are of an older version
    per_second: dict[str, float]  # of those that were played now: the others were on the disk already
    seconds: float

    @classmethod
    def of(
        cls, shards: Sequence[ShardStats], played: Sequence[ShardStats], seconds: float
    ) -> "SelfPlayMetrics":
        """played: those of the shards that took the seconds."""
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
class ReplayMetrics:
    """How many positions there are."""

    window: int
    total: int


@dataclass(frozen=True)
class ExportMetrics:
    """Which precision plays; and how far int8 agrees with fp32, if there is int8."""

    precision: str
    agreement: dict[str, float]

    def to_line(self) -> Line:
        return {**self.agreement, "precision": self.precision}


@dataclass(frozen=True)
class Generation:
    """Everything that is known of a generation when it is complete."""

    number: int
    elapsed: float  # seconds of work since the run began
    selfplay: SelfPlayMetrics
    losses: "Losses"
    learning_seconds: float
    replay: ReplayMetrics
    export: ExportMetrics
    standing: Standing
    match: Tally | None  # that the gate had played
    strength: dict[str, Any]  # see measure.py; {} if it was not measured

    def to_line(self) -> Line:
        match = asdict(self.match) | {"score": self.match.score} if self.match else {}
        return {
            "generation": self.number,
            "elapsed": round(self.elapsed, 2),
            "selfplay": self.selfplay.to_line(),
            "learner": asdict(self.losses) | {"seconds": round(self.learning_seconds, 2)},
            "replay": asdict(self.replay),
            "export": self.export.to_line(),
            "gate": asdict(self.standing) | match,
            "strength": self.strength,
        }
