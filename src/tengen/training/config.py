"""Every setting of a training run. A TOML file per game overrides the defaults, `--set section.key=value` it.

The comments say the unit and the reason; a run keeps all its settings in config.toml.
"""

import tomllib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

from tengen.errors import UserError
from tengen.games.spec import did_you_mean

CONFIGS = Path(__file__).parent.parent / "configs"


@dataclass(frozen=True)
class Network:
    name: str = "anysize"  # or gobang, gomoku, connect4, mnk, which take no sizes
    channels: int = 48  # width of anysize
    blocks: int = 5  # its depth
    value: Literal["scalar", "wdl"] = "scalar"  # of anysize; wdl: chances of win, draw and loss, and how soon


@dataclass(frozen=True)
class SelfPlay:
    games: int = 512  # a generation: many short generations learn faster than few long ones
    games_a_shard: int = 256  # played in one batch by one worker; the records depend on the shard alone
    at_once: int = 128  # games in a batch: more make a CPU hardly faster, and the end of a shard slower
    search: Literal["gumbel", "puct"] = "gumbel"  # gumbel learns from few simulations; puct as in the papers
    simulations: int = 32  # of a move that is learned from
    simulations_rise: float = 0.0  # more of them a generation, up to four times as many
    fast_simulations: int = 8  # of the other moves, which only get the game on
    full_share: float = 0.5  # of the rounds are of the first kind (playout-cap randomisation)
    random_opening_plies: int = 12  # 0 to this many random moves first, so that every position is met
    discount: float = 0.97  # a ply: a sooner win is worth more
    trust: float = 0.9  # a ply, in what came later, for the value's target; 1: the game's end alone
    considered: int = 16  # Gumbel: candidates at the root
    c_visit: float = 50.0  # Gumbel: σ(q) = (c_visit + max N) · c_scale · q
    c_scale: float = 0.1  # 0.02 hardly learns
    c_puct: float = 1.5  # PUCT
    dirichlet_alpha: float = 0.3  # PUCT: noise at the root
    dirichlet_fraction: float = 0.25
    temperature_plies: int = 10  # PUCT: moves drawn by visits
    cache_positions: int = 200_000  # remembered evaluations, a worker
    precision: Literal["auto", "fp32", "int8"] = "auto"  # a probe decides when the run begins
    device: str = "cpu"  # where its network is evaluated: cpu (ONNX Runtime), cuda, mps or auto (PyTorch)

    @property
    def num_shards(self) -> int:
        """Of a generation."""
        return -(-self.games // self.games_a_shard)


@dataclass(frozen=True)
class Replay:
    least_positions: int = 20_000  # the window, at first
    share: float = 0.5  # of all positions so far, later


@dataclass(frozen=True)
class Learner:
    batch_size: int = 256  # positions
    passes: float = 4.0  # over each new position: about as much time as its game took
    optimizer: Literal["adamw", "sgd"] = "adamw"
    learning_rate: float = 2e-3
    final_share: float = 0.3  # of the run in which the learning rate falls to a twentieth
    weight_decay: float = 1e-4  # the L2 term
    clip: float = 1.0  # norm of the gradient
    average: float = 0.99  # of the weights, a step: the network that plays
    threads: int = 2  # of the CPU; results depend on it, so it is a setting
    device: str = "cpu"  # or cuda, mps, auto


@dataclass(frozen=True)
class Gate:
    """Which network plays for the run, and plays the next generation's games."""

    kind: Literal["always", "champion", "rising"] = "always"  # gate.py tells them apart
    games: int = 40  # of the match that decides; an even number
    win_rate: float = 0.55  # champion: at least this, draws counting half
    simulations: int = 64  # a move, of the networks in it
    rollouts: int = 1000  # rising: the opponent's simulations at first, and how many are added when it loses


@dataclass(frozen=True)
class Measure:
    """How strong the network has become. Nothing of it is learned from."""

    every: int = 5  # generations; 0: never
    positions: int = 300  # scored ones (Connect 4)
    simulations: int = 64  # a move
    opponents: str = "uct:sims=200"  # players to meet, apart by spaces
    games: int = 20  # against each of them, and against the network of the last measurement


@dataclass(frozen=True)
class Length:
    """Of a run, which ends at whichever limit comes first."""

    minutes: float = 0.0  # of work, all commands together; 0: no limit
    generations: int = 100  # 0: no limit

    def progress(self, generations: int, seconds: float) -> float:
        """The share of the run that is over after so much."""
        by_time = seconds / (60 * self.minutes) if self.minutes else 0.0
        by_generations = generations / self.generations if self.generations else 0.0
        return max(by_time, by_generations)

    def __str__(self) -> str:
        limits = [f"{self.minutes:g} minutes"] if self.minutes else []
        limits += [f"{self.generations} generations"] if self.generations else []
        return " or ".join(limits) or "no end"


@dataclass(frozen=True)
class Config:
    game: str
    seed: int = 0
    length: Length = field(default_factory=Length)
    network: Network = field(default_factory=Network)
    selfplay: SelfPlay = field(default_factory=SelfPlay)
    replay: Replay = field(default_factory=Replay)
    learner: Learner = field(default_factory=Learner)
    gate: Gate = field(default_factory=Gate)
    measure: Measure = field(default_factory=Measure)


SECTIONS = {
    "length": Length,
    "network": Network,
    "selfplay": SelfPlay,
    "replay": Replay,
    "learner": Learner,
    "gate": Gate,
    "measure": Measure,
}


def load(game: str, settings: Iterable[str] = (), seed: int = 0) -> Config:
    """The defaults, then the file of the game if there is one, then `section.key=value`."""
    config = Config(game, seed)
    file = CONFIGS / f"{game}.toml"
    if file.is_file():
        config = from_toml(file.read_text(encoding="utf-8"), config, file.name)
    for setting in settings:
        name, equals, text = setting.partition("=")
        section, dot, key = name.strip().partition(".")
        if not (equals and dot):
            raise UserError(f"--set is section.key=value, got '{setting}'")
        config = _with(config, section, key, text.strip())
    return config


def from_toml(text: str, base: Config, name: str) -> Config:
    """A file's settings over others."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{name}: {error}") from None
    for section, entries in tables.items():
        if section in ("game", "seed"):
            base = replace(base, **{section: entries})
            continue
        if not isinstance(entries, dict):
            raise UserError(f"{name}: expected [{section}], got {section} = {entries}")
        for key, value in entries.items():
            base = _with(base, section, key, value)
    return base


def to_toml(config: Config) -> str:
    """All settings, as a file."""
    lines = [f'game = "{config.game}"', f"seed = {config.seed}"]
    for section in SECTIONS:
        lines += ["", f"[{section}]"]
        lines += [f"{key} = {_literal(value)}" for key, value in asdict(getattr(config, section)).items()]
    return "\n".join(lines) + "\n"


def _with(config: Config, section: str, key: str, value: Any) -> Config:
    if section not in SECTIONS:
        hint = did_you_mean(section, SECTIONS)
        raise UserError(f"no section '{section}'{hint or ': there are ' + ', '.join(SECTIONS)}")
    kind = SECTIONS[section]
    names = [one.name for one in fields(kind)]
    if key not in names:
        hint = did_you_mean(key, names)
        raise UserError(f"[{section}] has no setting '{key}'{hint or ': it has ' + ', '.join(names)}")
    checked = _checked(f"{section}.{key}", value, get_type_hints(kind)[key])
    return replace(config, **{section: replace(getattr(config, section), **{key: checked})})


def _checked(name: str, value: Any, kind: Any) -> Any:
    """The value as its type; text is taken apart."""
    if choices := get_args(kind):
        if value not in choices:
            hint = did_you_mean(str(value), choices)
            raise UserError(f"{name} is one of {', '.join(choices)}, got '{value}'{hint}")
        return value
    wanted = {int: "a whole number", float: "a number", str: "text"}[kind]
    try:
        if isinstance(value, bool) or (kind is int and isinstance(value, float)):
            raise ValueError
        number = kind(value)
    except (TypeError, ValueError):
        raise UserError(f"{name} is {wanted}, got '{value}'") from None
    if kind is not str and not 0 <= number < 1e12:
        raise UserError(f"{name} is {wanted} from 0 up, got {value}")
    return number


def _literal(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)
