"""Every setting of a training run, with its unit and its default; a TOML file per game overrides them."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Network:
    name: str = "anysize"
    channels: int = 64
    blocks: int = 5


@dataclass(frozen=True)
class SelfPlay:
    search: str = "gumbel"  # or puct
    simulations: int = 32  # a move that is learned from
    fast_simulations: int = 8  # the others
    full_share: float = 0.5  # of the rounds
    games_at_once: int = 256  # in one batch
    random_opening_plies: int = 12  # 0 to this many
    discount: float = 0.97
    considered: int = 16
    c_visit: float = 50.0
    c_scale: float = 0.1
    c_puct: float = 1.5
    dirichlet_alpha: float = 0.3
    dirichlet_fraction: float = 0.25
    temperature_plies: int = 10
    cache_positions: int = 200_000


@dataclass(frozen=True)
class Learner:
    batch_size: int = 256
    passes: float = 3.0  # over each new position
    learning_rate: float = 2e-3
    weight_decay: float = 1e-4
    clip: float = 1.0
    q_share: float = 0.5  # of the value's target that is the search's opinion; the rest is the game's end
    average: float = 0.999  # of the weights, for playing


@dataclass(frozen=True)
class Config:
    game: str
    network: Network = field(default_factory=Network)
    selfplay: SelfPlay = field(default_factory=SelfPlay)
    learner: Learner = field(default_factory=Learner)
