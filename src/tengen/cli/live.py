"""A training run in the terminal: a live panel, or a line per generation."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from tengen.cli.runs import network_text
from tengen.command_line import command
from tengen.training.config import LengthConfig
from tengen.training.run import Run
from tengen.training.watch import Phase, rate, strengths

if TYPE_CHECKING:
    from tengen.training.learner import Losses
    from tengen.training.selfplay import ShardStats

FRAMES_A_SECOND = 4
LATELY = 5  # last generations, whose mean time predicts the time left
WIDTH, BAR, CURVE, SHORT_CURVE = 78, 28, 24, 8  # characters
MOST_STRENGTHS = 8  # rows, so that everything fits into a terminal with 24 rows
LOSSES = {"policy": "policy", "value": "value", "plies_left": "plies left"}
COUNTED = ("games", "positions", "simulations")  # per second
TITLES = {"before": "last measured"}  # the network of the measurement before this one
UNITS = {"playing": "games", "learning": "steps"}
BLOCKS = "▁▂▃▄▅▆▇█"


class Lines:
    """A watcher that prints a line per generation. describe: what is known of a cluster."""

    def __init__(self, run: Run, describe: Callable[[], str] | None = None) -> None:
        self._length, self._lines, self._describe = run.config.length, run.metrics(), describe

    def begin(self, generation: int, phase: Phase, total: int = 0) -> None:
        pass

    def played(self, shard: "ShardStats") -> None:
        pass

    def learned(self, losses: "Losses") -> None:
        pass

    def finished(self, metrics: dict[str, Any]) -> None:
        self._lines.append(metrics)
        played, learned = metrics["selfplay"], metrics["learner"]
        parts = [f"generation {_of(metrics['generation'], self._length.generations)}"]
        if "games" in played:
            games, speed = played["games"], rate(played, "games")
            parts.append(f"{games} games" + (f", {speed:.1f}/s" if speed else ""))
            parts.append(f"{played['moves'] / games:.0f} moves each")
        if self._describe:
            parts.append(self._describe())
        parts.append(f"loss policy {learned['policy']:.3f} value {learned['value']:.3f}")
        for group, shares in strengths(metrics).items():
            title = TITLES.get(group, group)
            parts.append(f"{title}: " + " ".join(f"{name} {share}" for name, share in shares.items()))
        parts.append(f"{_clock(metrics['elapsed'])} gone, {_left(self._length, self._lines)}")
        print(", ".join(parts), flush=True)


class LivePanel:
    """A watcher that shows a run in a panel on stderr, during the with statement.

    Another thread draws the panel at any time, so it may show a change of two steps half done.
    """

    def __init__(
        self, run: Run, console: Console | None = None, describe: Callable[[], str] | None = None
    ) -> None:
        self._run, self._config, self._describe = run, run.config, describe
        self._lines = run.metrics()
        self._generation, self._phase, self._total, self._done = max(1, run.generation + 1), "starting", 0, 0
        self._steps: list[Losses] = []  # of this generation
        self._shards: list[ShardStats] = []
        self._ahead: _Ahead | None = None
        self._generation_began = self._playing_began = time.monotonic()
        played = self._last("selfplay")
        self._speed = _Speed(*(rate(played, what) for what in COUNTED)) if "games" in played else _Speed()
        self._is_over = False
        self._console = console or Console(stderr=True)
        self._live = Live(
            console=self._console, get_renderable=self.render, refresh_per_second=FRAMES_A_SECOND
        )

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._is_over = True
        self._live.stop()

    def begin(self, generation: int, phase: Phase, total: int = 0) -> None:
        now = time.monotonic()
        if phase == "playing ahead" or (phase == "playing" and self._ahead is None):
            self._shards, self._playing_began = [], now
        if phase == "playing ahead":
            self._ahead = _Ahead(total)
            return
        if phase == "playing":
            self._generation_began, self._steps, self._ahead = now, [], None
        self._generation, self._phase, self._total, self._done = generation, phase, total, 0

    def played(self, shard: "ShardStats") -> None:
        self._shards.append(shard)
        if ahead := self._ahead:
            self._ahead = replace(ahead, done=ahead.done + shard.games)
        else:
            self._done += shard.games
        self._speed = _Speed.of(self._shards, time.monotonic() - self._playing_began)

    def learned(self, losses: "Losses") -> None:
        self._steps.append(losses)
        self._done += 1

    def finished(self, metrics: dict[str, Any]) -> None:
        self._lines.append(metrics)
        self._phase, self._total, self._steps = "finished", 0, []

    def render(self) -> Panel:
        """The panel, as it is now."""
        config, name = self._config, self._run.folder.name
        top = _table()
        top.add_row("game", f"{config.game}, {network_text(config.network)}")
        top.add_row("generation", self._generation_text())
        top.add_row(self._phase, _beside(self._phase_bar(), self._phase_text()))
        top.add_row("run", _beside(self._run_bar(), self._run_text()))
        middle = _table()
        middle.add_row("speed", str(self._speed))
        if self._describe:
            middle.add_row("cluster", self._describe())
        if self._lines:
            middle.add_row("replay", _replay_text(self._lines[-1]))
        if "games" in (played := self._last("selfplay")):
            middle.add_row("games", _games_text(played))
        losses, strength = _table(), _table()
        for key, title in LOSSES.items():
            losses.add_row("loss" if key == "policy" else "", self._loss_text(key, title))
        for place, row in enumerate(_strength_rows(self._lines)[:MOST_STRENGTHS]):
            strength.add_row("" if place else "strength", row)
        heading = Text(str(self._run.folder), "bold")
        heading.truncate(WIDTH - 6, overflow="ellipsis")
        hint = Text(f"Ctrl-C stops, {command('train', '--resume', name)} continues", "dim")
        return Panel(
            Group(top, "", middle, "", losses, "", strength),
            title=heading,
            subtitle=None if self._is_over else hint,
            border_style="cyan",
            width=min(WIDTH, self._console.width - 2),  # leaves room for the ^C that a terminal prints
        )

    def _last(self, section: str) -> dict[str, Any]:
        found: dict[str, Any] = self._lines[-1].get(section, {}) if self._lines else {}
        return found

    def _generation_text(self) -> str:
        text = _of(self._generation, self._config.length.generations)
        champion = self._last("gate").get("champion", self._complete())
        text += f", the champion is {champion}" if champion != self._complete() else ""
        return text + (f"; {self._ahead}" if self._ahead else "")

    def _phase_bar(self) -> ProgressBar:
        if self._total:
            return _bar(self._total, self._done)
        if self._is_over:
            return _bar(1, self._phase == "finished")
        return ProgressBar(total=None, pulse=True, pulse_style="cyan", width=BAR)

    def _phase_text(self) -> str:
        unit = UNITS.get(self._phase)
        return f"{self._done:,}/{self._total:,} {unit}" if unit else ""

    def _run_bar(self) -> ProgressBar:
        share = self._config.length.progress(self._complete(), self._elapsed())
        return _bar(1.0, min(share, 1.0))

    def _run_text(self) -> str:
        left = _left(self._config.length, self._lines, self._seconds())
        return f"{_clock(self._elapsed())} gone, {left}"

    def _seconds(self) -> float:
        """Seconds since the generation began."""
        return 0.0 if self._phase in ("starting", "finished") else time.monotonic() - self._generation_began

    def _complete(self) -> int:
        return int(self._lines[-1]["generation"]) if self._lines else 0

    def _elapsed(self) -> float:
        return (self._lines[-1]["elapsed"] if self._lines else 0.0) + self._seconds()

    def _loss_text(self, key: str, title: str) -> Text:
        history = [line["learner"][key] for line in self._lines]
        if steps := self._steps:
            history.append(sum(getattr(step, key) for step in steps) / len(steps))
        if not history:
            return Text(f"{title:10}      …", style="dim")
        return Text.assemble(f"{title:10} {history[-1]:6.3f}  ", (sparkline(history, CURVE), "cyan"))


@dataclass(frozen=True)
class _Ahead:
    """The games that are played meanwhile, for the next generation."""

    total: int
    done: int = 0

    def __str__(self) -> str:
        return f"{self.done:,}/{self.total:,} games ahead"


@dataclass(frozen=True)
class _Speed:
    """The speed of self-play, per second."""

    games: float = 0.0
    positions: float = 0.0
    simulations: float = 0.0

    @classmethod
    def of(cls, shards: "Sequence[ShardStats]", seconds: float) -> Self:
        counts = (sum(getattr(shard, key) for shard in shards) for key in COUNTED)
        return cls(*(count / max(seconds, 1e-9) for count in counts))

    def __str__(self) -> str:
        if not self.games:
            return "…"
        rates = [f"{self.games:.1f} games", f"{self.positions:,.0f} positions"]
        return ", ".join([*rates, f"{self.simulations:,.0f} simulations per second"])


def sparkline(values: Sequence[float], width: int) -> str:
    """A curve of at most `width` characters; each shows the mean of some neighbouring values."""
    width = min(width, len(values))
    edges = [place * len(values) // width for place in range(width + 1)]
    means = [sum(values[a:b]) / (b - a) for a, b in pairwise(edges)]
    low, span = min(means), max(means) - min(means)
    return "".join(BLOCKS[round((mean - low) / span * 7)] if span else BLOCKS[3] for mean in means)


def _strength_rows(lines: Sequence[dict[str, Any]]) -> list[Text]:
    """A row for each measured share: the last value, a curve, and the best."""
    history: dict[tuple[str, str], list[tuple[float, int]]] = {}
    for line in lines:
        for group, shares in strengths(line).items():
            for name, share in shares.items():
                history.setdefault((group, name), []).append((share.value, line["generation"]))
    rows = []
    for (group, name), found in history.items():
        best, generation = max(found, key=lambda pair: (pair[0], -pair[1]))
        title = TITLES.get(group, group) if name == "score" else f"{group} {name}"
        curve = sparkline([value for value, _ in found], SHORT_CURVE)
        rows.append(
            Text.assemble(
                f"{title:18.18} {100 * found[-1][0]:5.1f} %  ",
                (f"{curve:{SHORT_CURVE}}", "green"),
                f"  best {100 * best:.1f} % in gen. {generation}",
            )
        )
    return rows


def _replay_text(metrics: dict[str, Any]) -> str:
    replay, played = metrics["replay"], metrics["selfplay"]
    text = f"window of {replay['window']:,} positions, {replay['total']:,} so far"
    return text + (f"; cache hits {100 * played['hit_rate']:.0f} %" if "hit_rate" in played else "")


def _games_text(played: dict[str, Any]) -> str:
    games = played["games"]
    return (
        f"{played['moves'] / games:.1f} moves each; "
        f"first player wins {100 * played['first_wins'] / games:.0f} %, "
        f"draws {100 * played['draws'] / games:.0f} %"
    )


def _left(length: LengthConfig, lines: Sequence[dict[str, Any]], now: float = 0.0) -> str:
    """The time left until the run ends, `now` seconds into the next generation, as text."""
    ends = [0.0, *(line["elapsed"] for line in lines)][-LATELY - 1 :]
    limits = []
    if length.minutes:
        limits.append(60 * length.minutes - ends[-1] - now)
    if length.generations and len(ends) > 1:
        pace = (ends[-1] - ends[0]) / (len(ends) - 1)
        limits.append((length.generations - lines[-1]["generation"]) * pace - now)
    if not limits:
        return "no end" if not length.generations else "left: not known yet"
    return f"about {_clock(max(0.0, min(limits)))} left"


def _of(generation: int, generations: int) -> str:
    return f"{generation} of {generations}" if generations else f"{generation}"


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))


def _table() -> Table:
    table = Table.grid(padding=(0, 1))
    table.add_column(width=10, style="dim")
    table.add_column(no_wrap=True)
    return table


def _bar(total: float, done: float) -> ProgressBar:
    return ProgressBar(total, done, width=BAR, complete_style="cyan", finished_style="green")


def _beside(bar: ProgressBar, text: str) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_row(bar, text)
    return table
