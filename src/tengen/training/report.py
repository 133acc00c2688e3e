"""A run on one page: its curves, its settings and its network's card, in one self-contained HTML file."""

from collections.abc import Callable, Iterable
from dataclasses import asdict
from html import escape
from typing import Any

from tengen.errors import UserError
from tengen.evaluators.card import read_card
from tengen.training.config import SECTIONS, Config
from tengen.training.config_files import reasons
from tengen.training.curves import (
    DARK,
    FONT,
    LIGHT,
    STYLE,
    Colours,
    Curve,
    Point,
    line_chart,
    number,
    percent,
)
from tengen.training.run import Run
from tengen.training.watch import rate, strengths

WIDE = (944, 380)  # pixels
X_NAME = "minutes of work"
Line = dict[str, Any]


def _variables(colours: Colours) -> str:
    return " ".join(f"--{name}: {getattr(colours, name)};" for name in ("ink", "grey", "grid", "paper"))


PAGE_STYLE = f"""\
:root {{ {_variables(LIGHT)} }}
@media (prefers-color-scheme: dark) {{ :root {{ {_variables(DARK)} }} }}
* {{ box-sizing: border-box; }}
body {{ font: 15px/1.5 {FONT}; color: var(--ink); background: var(--paper);
  margin: 0 auto; padding: 32px 16px; max-width: 976px; }}
h1 {{ font-size: 26px; margin: 0; }} h2 {{ font-size: 18px; margin: 36px 0 10px; }}
p {{ margin: 2px 0; color: var(--grey); }}
.figures {{ display: flex; flex-wrap: wrap; gap: 10px 32px; margin: 20px 0; padding: 0; list-style: none; }}
.figures b {{ display: block; font-size: 20px; font-weight: 600; font-variant-numeric: tabular-nums; }}
.figures span {{ color: var(--grey); font-size: 13px; }}
.charts {{ display: grid; gap: 16px;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr)); }}
.charts svg {{ width: 100%; height: auto; border: 1px solid var(--grid); border-radius: 8px; }}
.charts .wide {{ grid-column: 1 / -1; }}
table {{ border-collapse: collapse; font-size: 13px; width: 100%; }}
th {{ text-align: left; font-weight: 600; padding: 12px 12px 3px 0; }}
td {{ padding: 2px 12px 2px 0; border-top: 1px solid var(--grid); vertical-align: top; }}
td.value {{ font-variant-numeric: tabular-nums; white-space: nowrap; }} td.why {{ color: var(--grey); }}
"""


def report(run: Run) -> str:
    """The page as HTML; UserError if the run has no complete generation yet."""
    config, lines = run.config, _lines(run)
    wide = [f'<div class="wide">{chart}</div>' for chart in _strength_charts(config, lines, WIDE)]
    name = escape(run.folder.name)
    return f"""\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>{name}: a training run of Tengen</title>
<style>
{STYLE}{PAGE_STYLE}</style>
<h1>{name}</h1>
<p>{escape(config.game)}, {escape(config.network.name)}, seed {config.seed}, length: {config.length}</p>
<ul class="figures">{"".join(_figures(lines))}</ul>
<div class="charts">
{"".join([*wide, *_other_charts(lines)])}</div>
<h2>The newest network's card</h2>
{_card(run)}
<h2>Settings</h2>
{_settings(config)}
</html>
"""


def strength_svg(run: Run) -> str:
    """The chart of strength as an SVG picture; UserError if nothing was measured yet."""
    charts = _strength_charts(run.config, _lines(run), (720, 340), stands_alone=True)
    if not charts:
        every = run.config.measure.every
        raise UserError(
            f"{run.folder}: no strength was measured yet; it is measured every {every} generations"
        )
    return charts[0]


def _lines(run: Run) -> list[Line]:
    lines = run.metrics()
    if not lines:
        raise UserError(f"{run.folder} has no complete generation yet: there is nothing to report")
    return lines


def _strength_charts(
    config: Config, lines: list[Line], size: tuple[int, int], stands_alone: bool = False
) -> list[str]:
    """Charts of the strength on scored positions and against other players, if they were measured."""
    curves: dict[tuple[str, str], list[Point]] = {}
    for line in lines:
        for group, shares in strengths(line).items():
            for name, share in shares.items():
                points = curves.setdefault((group, name), [])
                points.append(_point(line, share.value, share.low, share.high))
    scored = [Curve(f"{group} {name}", p) for (group, name), p in curves.items() if name != "score"]
    played = [Curve(group, p) for (group, name), p in curves.items() if name == "score"]
    charts = (
        ("strength", "share of scored positions played perfectly and well, 95 % intervals", scored),
        ("score against", f"{config.measure.simulations} simulations per move", played),
    )
    return [
        line_chart(
            f"{config.game}: {title}",
            about,
            found,
            x_name=X_NAME,
            text=percent,
            size=size,
            stands_alone=stands_alone,
        )
        for title, about, found in charts
        if found
    ]


def _other_charts(lines: list[Line]) -> list[str]:
    def chart(
        title: str,
        about: str,
        curves: dict[str, Callable[[Line], float]],
        text: Callable[[float], str] = number,
        from_zero: bool = False,
    ) -> str:
        found = [Curve(name, _points(lines, value)) for name, value in curves.items()]
        found = [curve for curve in found if curve.points]
        if not found:
            return ""
        return line_chart(title, about, found, x_name=X_NAME, text=text, from_zero=from_zero)

    return [
        chart("Policy loss", "cross-entropy", {"": lambda line: line["learner"]["policy"]}),
        chart("Value loss", "squared error", {"": lambda line: line["learner"]["value"]}),
        chart("Plies-left loss", "", {"": lambda line: line["learner"]["plies_left"]}),
        chart("Entropy of the policies", "bits", {"": lambda line: line["selfplay"]["entropy"]}),
        chart(
            "Games per second", "of self-play", {"": lambda line: _rate(line, "games")},
            from_zero=True,
        ),
        chart(
            "Simulations per second", "of self-play", {"": lambda line: _rate(line, "simulations")},
            from_zero=True,
        ),
        chart(
            "Positions", "",
            {"window": lambda line: line["replay"]["window"], "all": lambda line: line["replay"]["total"]},
            from_zero=True,
        ),
        chart(
            "Cache hits", "share of positions that did not need the network",
            {"": lambda line: _played(line, "hit_rate")}, percent, from_zero=True,
        ),
        chart(
            "Results of self-play", "",
            {
                "first wins": lambda line: _played(line, "first_wins") / _played(line, "games"),
                "draws": lambda line: _played(line, "draws") / _played(line, "games"),
            },
            percent, from_zero=True,
        ),
    ]  # fmt: skip


def _points(lines: Iterable[Line], value: Callable[[Line], float]) -> list[Point]:
    """The points of the generations that have this value. (If all games were already on disk, there is no
    speed.)"""
    found = []
    for line in lines:
        try:
            y = value(line)
        except KeyError:
            continue
        found.append(_point(line, y, y, y))
    return found


def _point(line: Line, y: float, low: float, high: float) -> Point:
    return Point(line["elapsed"] / 60, y, low, high, f"generation {line['generation']}")


def _played(line: Line, key: str) -> float:
    return float(line["selfplay"][key])


def _rate(line: Line, what: str) -> float:
    if not (found := rate(line["selfplay"], what)):
        raise KeyError(what)
    return found


def _figures(lines: list[Line]) -> Iterable[str]:
    last = lines[-1]
    games = sum(line["selfplay"].get("games", 0) for line in lines)
    figures = {
        "generations": f"{last['generation']:,}",
        "minutes": f"{last['elapsed'] / 60:,.1f}",
        "games": f"{games:,}",
        "positions": f"{last['replay']['total']:,}",
        "learning steps": f"{sum(line['learner']['steps'] for line in lines):,}",
    }
    measured = [strengths(line) for line in lines if line["strength"]]
    for group, shares in measured[-1].items() if measured else ():
        for name, share in shares.items():
            figures[group if name == "score" else f"{group} {name}"] = str(share)
    for name, text in figures.items():
        yield f"<li><b>{text}</b><span>{escape(name)}</span></li>"


def _card(run: Run) -> str:
    card = asdict(read_card(run.checkpoint(run.generation)))
    del card["training"]  # the settings are shown below
    rows = [
        f'<tr><td>{escape(key)}</td><td class="value">{escape(_text(value))}</td></tr>'
        for key, value in card.items()
    ]
    return f"<table>{''.join(rows)}</table>"


def _settings(config: Config) -> str:
    rows = []
    for section, kind in SECTIONS.items():
        rows.append(f'<tr><th colspan="3">[{section}]</th></tr>')
        why = reasons(kind)
        for key, value in asdict(getattr(config, section)).items():
            rows.append(_row(key, value, why.get(key, "")))
    return f"<table>{''.join(rows)}</table>"


def _row(key: str, value: object, why: str = "") -> str:
    cells = f'<td>{escape(key)}</td><td class="value">{escape(_text(value))}</td>'
    return f'<tr>{cells}<td class="why">{escape(why)}</td></tr>'


def _text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_text(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))
    return str(value)
