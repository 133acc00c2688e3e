"""An ablation: what a setting brings. The same training with the setting and without it, and a match.

    seed 1   runs/NAME-1  ◄── match ──►  runs/NAME-1-selfplay.fours-0
    seed 2   runs/NAME-2  ◄── match ──►  runs/NAME-2-selfplay.fours-0

Every run is one `tengen train` in a process of its own, on one core; as many train at the same time as there
are cores. The runs of a seed begin together, so that both have the same machine. What is complete is kept:
the same ablation continues where it was stopped.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from tengen import players
from tengen.arena.match import Match, Tally, finite, percent, signed, tally
from tengen.arena.played import PlayedGame
from tengen.arena.score import elo_of, interval, pair_counts
from tengen.command_line import command
from tengen.errors import UserError
from tengen.games.game import Game
from tengen.training import checks, config_files
from tengen.training.changes import in_force
from tengen.training.config import Config
from tengen.training.folders import RUNS, plain
from tengen.training.run import Run

ONE_CORE = ("learner.parts=1", "measure.every=0")  # nothing but games and learning, in one process


@dataclass(frozen=True)
class Ablation:
    """What to compare. A change is one or more settings, separated by spaces."""

    game: Game
    name: str
    changes: tuple[str, ...]
    seeds: tuple[int, ...]
    settings: tuple[str, ...]  # of all runs, and their length
    preset: str | None
    player: str  # the settings of the players in the matches: sims=64
    num_games: int  # of each match

    def runs(self) -> list["AblationRun"]:
        """All runs, those of a seed together. UserError if a run cannot be as asked."""
        found = [self.run(seed, change) for seed in self.seeds for change in ("", *self.changes)]
        names = [run.name for run in found]
        if len(set(names)) < len(names):
            raise UserError("two changes or two seeds are the same: name each once")
        for run in found:
            run.check()
        for change in self.changes:
            if self.run(self.seeds[0], change).config == self.run(self.seeds[0]).config:
                raise UserError(f"{change} changes nothing: {self.game.name} is configured so")
        players.settings_of(f"zero:{found[0].folder}:{self.player}")
        return found

    def run(self, seed: int, change: str = "") -> "AblationRun":
        """The run of a seed with a change, or as configured."""
        suffix = "-" + re.sub(r"[^\w.+-]+", "-", change).strip("-") if change else ""
        settings = (*ONE_CORE, *self.settings, *change.split())
        return AblationRun(self.game.name, plain(f"{self.name}-{seed}{suffix}"), seed, settings, self.preset)

    def match(self, seed: int, change: str) -> Match:
        """The match of the network as configured against the one with the change."""
        configured, changed = (f"zero:{self.run(seed, one).folder}:{self.player}" for one in ("", change))
        return Match(self.game, configured, changed, seed)

    def match_folder(self, seed: int, change: str) -> Path:
        """Where the games of a match are kept."""
        return RUNS / f"{self.name}-matches" / self.run(seed, change).name


@dataclass(frozen=True)
class AblationRun:
    """One training of an ablation."""

    game: str
    name: str
    seed: int
    settings: tuple[str, ...]
    preset: str | None

    @property
    def folder(self) -> Path:
        return RUNS / self.name

    @property
    def config(self) -> Config:
        return config_files.load(self.game, list(self.settings), self.seed, self.preset)

    @property
    def is_started(self) -> bool:
        return (self.folder / "config.toml").is_file()

    @property
    def is_finished(self) -> bool:
        return self.is_started and Run.open(self.folder).is_finished

    def check(self) -> None:
        """UserError if a setting is refused, or if there is another run of this name."""
        if not self.is_started:
            checks.check(self.config)
            return
        asked_for = in_force(Run.open(self.folder).config, -1)  # before the run chose its precisions
        if replace(asked_for, changes=()) != self.config:
            raise UserError(
                f"{self.folder} was trained with other settings: choose another --name, or remove it with "
                f"{command('runs', 'rm', self.name)}"
            )

    def arguments(self) -> list[str]:
        """The words of the command that trains it, or continues it."""
        one_core = ["--workers", "1", "--plain"]
        if self.is_started:
            return ["train", "--resume", self.name, *one_core]
        settings = [word for setting in self.settings for word in ("--set", setting)]
        preset = ["--preset", self.preset] if self.preset else []
        return ["train", self.game, "-n", self.name, "--seed", str(self.seed), *preset, *settings, *one_core]

    def done(self) -> float:
        """Its progress, from 0 to 1."""
        if not self.is_started:
            return 0.0
        run = Run.open(self.folder)
        return 1.0 if run.is_finished else min(1.0, self.config.length.progress(run.generation, run.elapsed))


@dataclass(frozen=True)
class Row:
    """The result of the settings as configured against a change, for one seed or for all of them."""

    change: str
    seed: int | None  # None: all
    generations: tuple[int, int] | None  # of the two runs; None: all seeds
    total: Tally
    score: float
    score_interval: tuple[float, float]  # 95 %
    elo: float
    elo_interval: tuple[float, float]

    def to_json(self) -> dict[str, object]:
        fields = asdict(self)
        fields["elo"] = finite(self.elo)
        fields["elo_interval"] = [finite(bound) for bound in self.elo_interval]
        return fields


def row_of(
    change: str,
    seed: int | None,
    generations: tuple[int, int] | None,
    matches: Sequence[Sequence[PlayedGame]],
) -> Row:
    """The row for one match, or for the matches of all seeds together."""
    total = tally(game for played in matches for game in played)
    pairs = [sum(counts) for counts in zip(*(pair_counts(played) for played in matches), strict=True)]
    low, high = interval(pairs)
    low, high = min(low, total.score), max(high, total.score)  # half a pair may lie outside
    elos = elo_of(total.score), (elo_of(low), elo_of(high))
    return Row(change, seed, generations, total, total.score, (low, high), *elos)


def rows_of(ablation: Ablation, played: Mapping[tuple[str, int], Sequence[PlayedGame]]) -> list[Row]:
    """The rows of all matches, by change and seed; with several seeds, also one for all together."""
    rows = []
    for change in ablation.changes:
        for seed in ablation.seeds:
            both = (Run.open(ablation.run(seed, one).folder).generation for one in ("", change))
            first, second = both
            rows.append(row_of(change, seed, (first, second), [played[change, seed]]))
        if len(ablation.seeds) > 1:
            rows.append(row_of(change, None, None, [played[change, seed] for seed in ablation.seeds]))
    return rows


def to_text(ablation: Ablation, rows: Sequence[Row]) -> str:
    """The table."""
    starts = ablation.match(ablation.seeds[0], ablation.changes[0]).starts.in_words
    length = ablation.run(ablation.seeds[0]).config.length
    width = max(len("changed"), *(len(row.change) for row in rows))
    lines = [
        f"{ablation.game.name}: as configured against a change, {length} on one core each; "
        f"{ablation.num_games} games with {ablation.player}, from {starts}; 95 % intervals\n",
        f"{'changed':<{width}}  {'seed':>4}  {'generations':>11}  {'won':>4} {'drawn':>5} {'lost':>4}  "
        f"{'score as configured':<23}  Elo",
    ]
    for row in rows:
        low, high = (100 * bound for bound in row.score_interval)
        trained = f"{row.generations[0]}, {row.generations[1]}" if row.generations else ""
        elo = f"{signed(row.elo)} ({signed(row.elo_interval[0])} to {signed(row.elo_interval[1])})"
        lines.append(
            f"{row.change:<{width}}  {'all' if row.seed is None else row.seed:>4}  {trained:>11}  "
            f"{row.total.wins:>4} {row.total.draws:>5} {row.total.losses:>4}  "
            f"{f'{percent(row.score)} ({low:.1f}-{high:.1f})':<23}  {elo}"
        )
    return "\n".join(lines)


def to_json(ablation: Ablation, rows: Sequence[Row]) -> str:
    """The rows and what was compared, as JSON."""
    found = {
        "game": ablation.game.name,
        "player": ablation.player,
        "length": str(ablation.run(ablation.seeds[0]).config.length),
        "rows": [row.to_json() for row in rows],
    }
    return json.dumps(found, ensure_ascii=False)
