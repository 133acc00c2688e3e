"""Every setting of a training run, with its default, its unit and its reason.

This is the one complete, explained config: `tengen config` prints it, a file per game in configs/ says what
differs there and why, and the file that a run keeps repeats the comments (config_files.py).
"""

import math
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class NetworkConfig:
    name: str = "anysize"  # or gobang, gomoku, connect4, mnk, which have their own sizes
    channels: int = 48  # width of anysize
    blocks: int = 5  # its depth
    value: Literal["scalar", "wdl"] = "scalar"  # of anysize; wdl: chances of win, draw and loss, and how soon
    start: str = ""  # a run or a network whose weights it begins with, of any board size; else random ones


@dataclass(frozen=True)
class SelfPlayConfig:
    games: int = 512  # per generation: many short generations learn faster than few long ones
    games_per_shard: int = 256  # played in one batch by one worker; the records depend on the shard alone
    at_once: int = 128  # games per batch: more make a CPU hardly faster, and the end of a shard slower
    search: Literal["gumbel", "puct"] = "gumbel"  # gumbel learns from few simulations; puct as in AlphaZero
    simulations: int = 32  # of a full search, whose position is learned from
    simulations_rise: float = 0.0  # added per generation, up to four times as many in all
    fast_simulations: int = 8  # of a fast search: its move is played, not learned from
    full_share: float = 0.5  # of the moves get a full search, the others a fast one (playout caps)
    random_opening_plies: int = 12  # each game begins with 0 to this many random moves, for variety
    see_wins: bool = True  # a win in one move is found by the rules, not by the network
    discount: float = 0.97  # per ply: a sooner win is worth more
    td_lambda: float = 0.9  # per ply; 1 = only the final result, 0 = only the search's value
    considered: int = 16  # Gumbel: candidates at the root
    noise: float = 1.0  # Gumbel: scale of the noise in full searches; fast ones have none
    c_visit: float = 50.0  # Gumbel: σ(q) = (c_visit + max N) · c_scale · q
    c_scale: float = 0.5  # with 0.1 it learns slower, and 0.02 hardly
    c_puct: float = 1.5  # PUCT: what a prior is worth against a value
    dirichlet_alpha: float = 0.3  # PUCT: of the noise at the root, about 10 / the number of legal moves
    dirichlet_fraction: float = 0.25  # PUCT: share of the noise in the root's priors
    temperature_plies: int = 10  # PUCT: the first moves are drawn in proportion to visits
    cache_positions: int = 200_000  # evaluations cached per worker, at most 256 MiB
    precision: Literal["auto", "fp32", "int8"] = "auto"  # a probe decides when the run begins
    device: str = "cpu"  # for the network: cpu (ONNX Runtime), cuda, mps or auto (PyTorch)

    @property
    def num_shards(self) -> int:
        """Of a generation."""
        return -(-self.games // self.games_per_shard)


@dataclass(frozen=True)
class ReplayConfig:
    least_positions: int = 20_000  # in the window, at least
    share: float = 0.5  # of all positions so far that the window holds, once that is more


@dataclass(frozen=True)
class LearnerConfig:
    batch_size: int = 256  # positions per step
    passes: float = 4.0  # over each new position: about as much time as its game took
    optimizer: Literal["muon", "adamw", "sgd"] = "muon"  # muon learns faster than adamw; sgd as in AlphaZero
    learning_rate: float = 0.002  # for muon and adamw; sgd needs ten times as much
    final_share: float = 0.3  # of the run in which the learning rate falls to a twentieth
    weight_decay: float = 0.05  # the L2 term, times the learning rate, per step
    clip: float = 1.0  # the gradient's norm at most
    average: float = 0.99  # decay per step of the average of weights, which is what plays
    parts: int = 2  # of a batch, each computed by a process of one thread; results depend on it
    device: str = "cpu"  # or cuda, mps, auto


@dataclass(frozen=True)
class GateConfig:
    """Which network plays for the run, and plays the next generation's games."""

    kind: Literal["always", "champion", "rising"] = "always"  # gate.py tells them apart
    games: int = 40  # of the match that decides; an even number
    win_rate: float = 0.55  # champion: at least this, draws counting half
    simulations: int = 64  # per move, of the networks in it
    rollouts: int = 1000  # rising: the opponent's simulations at first, and how many are added when it loses


@dataclass(frozen=True)
class MeasureConfig:
    """How strong the network has become. Nothing of it is learned from."""

    every: int = 5  # generations; 0: never
    positions: int = 300  # with exact scores (Connect 4)
    simulations: int = 64  # per move
    opponents: str = "uct:sims=200"  # players to meet, separated by spaces
    games: int = 20  # against each of them, and against the network of the last measurement


@dataclass(frozen=True)
class LengthConfig:
    """Of a run, which ends at whichever limit comes first; with minutes, where a generation ends nearest."""

    minutes: float = 0.0  # of work, all commands together; 0: no limit
    generations: int = 100  # 0: no limit

    def progress(self, generations: int, seconds: float) -> float:
        """The share of the run that is over after so much."""
        by_time = seconds / (60 * self.minutes) if self.minutes else 0.0
        by_generations = generations / self.generations if self.generations else 0.0
        return max(by_time, by_generations)

    def seconds_left(self, seconds: float) -> float:
        """After so much work; infinity if only generations count."""
        return 60 * self.minutes - seconds if self.minutes else math.inf

    def is_over(self, generations: int, seconds: float, pace: float) -> bool:
        """After so much, when the last generation took `pace` seconds? More than half of the next one would
        be too late."""
        return self.progress(generations, seconds + pace / 2) >= 1

    def __str__(self) -> str:
        limits = [f"{self.minutes:g} minute{'s' * (self.minutes != 1)}"] if self.minutes else []
        limits += (
            [f"{self.generations} generation{'s' * (self.generations != 1)}"] if self.generations else []
        )
        return " or ".join(limits) or "no end"


@dataclass(frozen=True)
class Change:
    """A setting that is not what the run began with; changes.py makes them."""

    generation: int  # the first that is made with it
    setting: str  # section.key
    before: str
    after: str
    why: str


@dataclass(frozen=True)
class Config:
    game: str
    seed: int = 0
    length: LengthConfig = field(default_factory=LengthConfig)
    network: NetworkConfig = field(default_factory=NetworkConfig)
    selfplay: SelfPlayConfig = field(default_factory=SelfPlayConfig)
    replay: ReplayConfig = field(default_factory=ReplayConfig)
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    gate: GateConfig = field(default_factory=GateConfig)
    measure: MeasureConfig = field(default_factory=MeasureConfig)
    changes: tuple[Change, ...] = ()  # oldest first


SECTIONS: dict[str, Any] = {
    "length": LengthConfig,
    "network": NetworkConfig,
    "selfplay": SelfPlayConfig,
    "replay": ReplayConfig,
    "learner": LearnerConfig,
    "gate": GateConfig,
    "measure": MeasureConfig,
}

PRESETS: dict[str, dict[str, Any]] = {  # over a game's file: for how long, and on what
    "minutes": {"length.minutes": 10, "length.generations": 0, "network.channels": 32, "network.blocks": 4},
    "hour": {"length.minutes": 60, "length.generations": 0, "network.channels": 32, "network.blocks": 5},
    "night": {
        "length.minutes": 480,
        "length.generations": 0,
        "network.channels": 64,
        "network.blocks": 6,
        "selfplay.simulations": 48,
    },
    "gpu": {
        "length.minutes": 480,
        "length.generations": 0,
        "network.channels": 128,
        "network.blocks": 10,
        "selfplay.simulations": 64,
        "selfplay.games": 4096,
        "selfplay.games_per_shard": 2048,
        "selfplay.at_once": 1024,
        "selfplay.device": "auto",
        "learner.device": "auto",
        "learner.batch_size": 1024,
        "learner.parts": 1,
    },
}

LEAST = {  # where 0 makes no sense
    "network.channels": 1,
    "network.blocks": 1,
    "selfplay.games": 1,
    "selfplay.games_per_shard": 1,
    "selfplay.at_once": 1,
    "selfplay.simulations": 2,
    "selfplay.fast_simulations": 2,
    "selfplay.full_share": 0.01,
    "selfplay.discount": 0.01,
    "selfplay.considered": 2,
    "selfplay.cache_positions": 1,
    "learner.batch_size": 2,
    "learner.passes": 0.01,
    "learner.parts": 1,
    "gate.games": 2,
    "gate.simulations": 1,
    "gate.rollouts": 1,
    "measure.simulations": 2,
}
RENAMED = {  # what runs made before say, and what it is now
    "learner.threads": "learner.parts",
    "selfplay.games_a_shard": "selfplay.games_per_shard",
    "selfplay.trust": "selfplay.td_lambda",
}
MOST = {  # where more would crash, or never end
    "length.minutes": 10_000_000,
    "length.generations": 1_000_000,
    "network.channels": 4096,
    "network.blocks": 1000,
    "selfplay.games": 10_000_000,
    "selfplay.games_per_shard": 1_000_000,
    "selfplay.at_once": 65_536,
    "selfplay.simulations": 1_000_000,
    "selfplay.simulations_rise": 1_000_000,
    "selfplay.fast_simulations": 1_000_000,
    "selfplay.random_opening_plies": 10_000,
    "selfplay.considered": 100_000,
    "selfplay.temperature_plies": 1_000_000,
    "selfplay.cache_positions": 100_000_000,
    "replay.least_positions": 1_000_000_000,
    "learner.batch_size": 65_536,
    "learner.passes": 10_000,
    "learner.learning_rate": 100,
    "learner.parts": 1024,
    "gate.games": 100_000,
    "gate.simulations": 1_000_000,
    "gate.rollouts": 100_000_000,
    "measure.every": 1_000_000,
    "measure.positions": 1_000_000,
    "measure.simulations": 1_000_000,
    "measure.games": 100_000,
}
MOST_ANYWHERE = 1_000_000_000  # of settings that are not in the table
MOST_SEED = 2**31 - 1
SHARES = (  # at most 1
    "selfplay.full_share",
    "selfplay.discount",
    "selfplay.td_lambda",
    "selfplay.dirichlet_fraction",
    "replay.share",
    "learner.final_share",
    "learner.average",
    "gate.win_rate",
)
