"""Every setting of a training run: the defaults here, over them a file per game, a preset, and `--set`.

    defaults  ◄  configs/connect4.toml  ◄  --preset night  ◄  --set learner.batch_size=512

Each comment is the setting's unit and reason; the file that a run keeps of its settings repeats them.
"""

import inspect
import json
import math
import re
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
    name: str = "anysize"  # or gobang, gomoku, connect4, mnk, which have their own sizes
    channels: int = 48  # width of anysize
    blocks: int = 5  # its depth
    value: Literal["scalar", "wdl"] = "scalar"  # of anysize; wdl: chances of win, draw and loss, and how soon
    start: str = ""  # a run or a network whose weights it begins with, of any board size; else random ones


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
    see_wins: bool = True  # a win in one move is seen by the rules, not by the network
    discount: float = 0.97  # a ply: a sooner win is worth more
    trust: float = 0.9  # a ply, in what came later, for the value's target; 1: the game's end alone
    considered: int = 16  # Gumbel: candidates at the root
    noise: float = 1.0  # Gumbel: its scale, in moves that are learned from; the others are its best
    c_visit: float = 50.0  # Gumbel: σ(q) = (c_visit + max N) · c_scale · q
    c_scale: float = 0.5  # with 0.1 it learns slower, and 0.02 hardly
    c_puct: float = 1.5  # PUCT: what a prior is worth against a value
    dirichlet_alpha: float = 0.3  # PUCT: noise at the root, about 10 / the number of moves
    dirichlet_fraction: float = 0.25  # PUCT: its share
    temperature_plies: int = 10  # PUCT: the first moves are drawn by visits
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
    batch_size: int = 256  # positions a step
    passes: float = 4.0  # over each new position: about as much time as its game took
    optimizer: Literal["muon", "adamw", "sgd"] = "muon"  # faster than adamw; sgd as in the papers
    learning_rate: float = 0.002  # of muon and adamw; sgd wants ten times as much
    final_share: float = 0.3  # of the run in which the learning rate falls to a twentieth
    weight_decay: float = 0.05  # the L2 term, times the learning rate a step
    clip: float = 1.0  # norm of the gradient
    average: float = 0.99  # of the weights, a step: the network that plays
    parts: int = 2  # of a batch, each computed by a process of one thread; results depend on it
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
        limits = [f"{self.minutes:g} minutes"] if self.minutes else []
        limits += [f"{self.generations} generations"] if self.generations else []
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
    length: Length = field(default_factory=Length)
    network: Network = field(default_factory=Network)
    selfplay: SelfPlay = field(default_factory=SelfPlay)
    replay: Replay = field(default_factory=Replay)
    learner: Learner = field(default_factory=Learner)
    gate: Gate = field(default_factory=Gate)
    measure: Measure = field(default_factory=Measure)
    changes: tuple[Change, ...] = ()  # oldest first


SECTIONS: dict[str, Any] = {
    "length": Length,
    "network": Network,
    "selfplay": SelfPlay,
    "replay": Replay,
    "learner": Learner,
    "gate": Gate,
    "measure": Measure,
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
        "selfplay.games_a_shard": 2048,
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
    "selfplay.games_a_shard": 1,
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
RENAMED = {"learner.threads": "learner.parts"}  # what runs made before say, and what it is now
MOST = {  # where more would crash, or never end
    "length.minutes": 10_000_000,
    "length.generations": 1_000_000,
    "network.channels": 4096,
    "network.blocks": 1000,
    "selfplay.games": 10_000_000,
    "selfplay.games_a_shard": 1_000_000,
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
    "selfplay.trust",
    "selfplay.dirichlet_fraction",
    "replay.share",
    "learner.final_share",
    "learner.average",
    "gate.win_rate",
)


def load(game: str, settings: Iterable[str] = (), seed: int = 0, preset: str | None = None) -> Config:
    """The defaults, then the file of the game if there is one, a preset, and each `section.key=value`."""
    config = Config(game, _seed(seed))
    file = CONFIGS / f"{game}.toml"
    if file.is_file():
        config = from_toml(file.read_text(encoding="utf-8"), config, file.name)
    if preset is not None and preset not in PRESETS:
        hint = did_you_mean(preset, PRESETS)
        raise UserError(f"no preset '{preset}'{hint or ': there are ' + ', '.join(PRESETS)}")
    for name, value in PRESETS.get(preset or "", {}).items():
        section, _, key = name.partition(".")
        config = _with(config, section, key, value)
    for setting in settings:
        config = with_setting(config, setting)
    return config


def with_setting(config: Config, setting: str) -> Config:
    """The settings with one of them changed: `section.key=value`."""
    name, equals, text = setting.partition("=")
    section, dot, key = name.strip().partition(".")
    if not (equals and dot):
        raise UserError(f"--set is section.key=value, got '{setting}'")
    return _with(config, section, key, text.strip())


def from_toml(text: str, base: Config, name: str) -> Config:
    """A file's settings over others."""
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # not only TOMLDecodeError: numbers of 5,000 digits too
        raise UserError(f"{name}: {error}") from None
    for section, entries in tables.items():
        if section == "game":
            base = replace(base, game=str(entries))
            continue
        if section == "seed":
            base = replace(base, seed=_seed(entries))
            continue
        if section == "changes":
            base = replace(base, changes=_changes(name, entries))
            continue
        if not isinstance(entries, dict):
            raise UserError(f"{name}: expected [{section}], got {section} = {entries}")
        for key, value in entries.items():
            section_now, _, key_now = RENAMED.get(f"{section}.{key}", f"{section}.{key}").partition(".")
            base = _with(base, section_now, key_now, value)
    return base


def is_complete(text: str) -> bool:
    """Does a file that a run keeps reach to the last setting? One that is cut short does not."""
    section, kind = list(SECTIONS.items())[-1]
    return text.endswith("\n") and fields(kind)[-1].name in tomllib.loads(text).get(section, {})


def from_dict(settings: dict[str, Any]) -> Config:
    """What dataclasses.asdict made of it, as on a card."""
    config = Config(str(settings["game"]), _seed(settings["seed"]))
    for section in SECTIONS:
        for key, value in settings[section].items():
            config = _with(config, section, key, value)
    return replace(config, changes=_changes("the card", list(settings.get("changes", []))))


def to_toml(config: Config) -> str:
    """All settings, as a file; each with its comment."""
    lines = [f"game = {_literal(config.game)}", f"seed = {config.seed}"]
    for section, kind in SECTIONS.items():
        lines += ["", f"[{section}]"]
        settings, why = asdict(getattr(config, section)), reasons(kind)
        lines += [f"{key} = {_literal(value)}  # {why[key]}" for key, value in settings.items()]
    for change in config.changes:
        lines += ["", "[[changes]]"]
        lines += [f"{key} = {_literal(value)}" for key, value in asdict(change).items()]
    return "\n".join(lines) + "\n"


def reasons(kind: type) -> dict[str, str]:
    """The comment of each setting of a section, from the source above."""
    return dict(re.findall(r"^    (\w+): .+?  # (.+)$", inspect.getsource(kind), re.MULTILINE))


def _with(config: Config, section: str, key: str, value: Any) -> Config:
    if section not in SECTIONS:
        hint = did_you_mean(section, SECTIONS)
        raise UserError(f"no section '{section}'{hint or ': there are ' + ', '.join(SECTIONS)}")
    kind = SECTIONS[section]
    names = [one.name for one in fields(kind)]
    if f"{section}.{key}" in RENAMED:
        raise UserError(f"{section}.{key} is {RENAMED[f'{section}.{key}']} now")
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
    if kind is bool:
        if str(value).lower() not in ("true", "false"):
            raise UserError(f"{name} is true or false, got '{value}'")
        return str(value).lower() == "true"
    least, most = LEAST.get(name, 0), 1 if name in SHARES else MOST.get(name, MOST_ANYWHERE)
    wanted = {int: "a whole number", float: "a number", str: "text"}[kind]
    try:
        if isinstance(value, bool) or (kind is int and isinstance(value, float)):
            raise ValueError
        number = kind(value)
    except (TypeError, ValueError):
        raise UserError(f"{name} is {wanted}, got '{value}'") from None
    if kind is str:
        if not str(number).isprintable():
            raise UserError(f"{name} is {wanted} on one line, got {number!r}")
    elif not number >= least or (math.isinf(number) and most > 1):  # not "number < least": NaN is neither
        raise UserError(f"{name} is {wanted} from {least} {'to 1' if most == 1 else 'up'}, got {value}")
    elif number > most:
        raise UserError(f"{name} is {wanted} from {least} to {most:,}, got {value}")
    return number


def _seed(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_SEED:
        raise UserError(f"seed is a whole number from 0 to {MOST_SEED:,}, got {value}")
    return value


def _changes(name: str, entries: Any) -> tuple[Change, ...]:
    kinds = get_type_hints(Change)
    if not isinstance(entries, list) or not all(
        isinstance(entry, dict)
        and entry.keys() == kinds.keys()
        and all(isinstance(entry[key], kind) for key, kind in kinds.items())
        for entry in entries
    ):
        raise UserError(f"{name}: expected [[changes]] with {', '.join(kinds)}")
    return tuple(Change(**entry) for entry in entries)


def _literal(value: object) -> str:
    """As TOML spells it."""
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)
