"""Line charts as SVG, written without a library: curves with their intervals, each named at its end.

Colours are CSS classes, so that a page or a picture also looks right in dark mode: STYLE goes into the page,
or into the picture if it is a file of its own.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

CHARACTER = 6.6  # approximate width of a character in a 12-pixel font
TOP, BOTTOM = 40, 40  # pixels above and below the plot
LINE = 15  # pixels between names
MOST_DOTS = 60  # a curve with more points has no dots with tooltips
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"


@dataclass(frozen=True)
class Colours:
    """The colours of the curves, the text, the grid and the background."""

    curves: tuple[str, ...]
    ink: str
    grey: str
    grid: str
    paper: str

    def rules(self) -> str:
        """The colours as CSS rules, without variables, which some SVG viewers do not support."""
        rules = [
            f".chart {{ fill: {self.ink} }}",
            f".chart .paper {{ fill: {self.paper} }}",
            f".chart .grey {{ fill: {self.grey} }}",
            f".chart .grid {{ stroke: {self.grid} }}",
            f".chart .axis {{ stroke: {self.grey} }}",
        ]
        for place, colour in enumerate(self.curves):
            rules.append(
                f".chart .line{place} {{ stroke: {colour} }} .chart .fill{place} {{ fill: {colour} }}"
            )
        return "\n".join(rules)


LIGHT = Colours(
    ("#2f6fb2", "#c8662f", "#2e8b6e", "#8a5fb5", "#a8842c", "#b04a6b"),
    ink="#1f2328",
    grey="#656d76",
    grid="#e6e8eb",
    paper="#ffffff",
)
DARK = Colours(
    ("#6ea8e6", "#e8935f", "#5fc3a1", "#b996e0", "#d6b45a", "#e07f9e"),
    ink="#e6edf3",
    grey="#9198a1",
    grid="#30363d",
    paper="#0d1117",
)
NUM_COLOURS = len(LIGHT.curves)
STYLE = f"""\
{LIGHT.rules()}
@media (prefers-color-scheme: dark) {{
{DARK.rules()}
}}
.chart {{ font-family: {FONT}; font-size: 12px }}
.chart .title {{ font-size: 14px; font-weight: 600 }}
.chart .grid, .chart .axis, .chart .curve {{ fill: none }}
.chart .curve {{ stroke-width: 2; stroke-linejoin: round; stroke-linecap: round }}
.chart .band {{ fill-opacity: 0.1 }}
"""


@dataclass(frozen=True)
class Point:
    x: float
    y: float
    low: float  # the ends of its interval, y if there is none
    high: float
    note: str = ""  # for its tooltip


@dataclass(frozen=True)
class Curve:
    name: str
    points: Sequence[Point]


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def number(value: float) -> str:
    """The number with three significant digits."""
    if value == 0:
        return "0"
    return f"{value:,.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"


def line_chart(
    title: str,
    subtitle: str,
    curves: Sequence[Curve],
    *,
    x_name: str,
    text: Callable[[float], str] = number,
    from_zero: bool = False,
    size: tuple[int, int] = (460, 240),
    stands_alone: bool = False,
) -> str:
    """The chart as SVG. Every curve needs a point or more; shares (text=percent) stay between 0 and 100 %."""
    width, height = size
    labels = [f"{curve.name} {text(curve.points[-1].y)}".strip() for curve in curves]
    right = width - 14 - CHARACTER * max(map(len, labels))
    bottom = height - BOTTOM
    every = [point for curve in curves for point in curve.points]
    x_ticks = ticks(0.0, max(point.x for point in every), most=6)
    x_high = max(x_ticks[-1], max(point.x for point in every))
    low, high = min(point.low for point in every), max(point.high for point in every)
    y_ticks = ticks(0.0 if from_zero else low, high, most=5, outside=True)
    if text is percent:
        y_ticks = [tick for tick in y_ticks if -1e-9 <= tick <= 1 + 1e-9]

    x_labels, y_labels = _labels(x_ticks), _labels(y_ticks, are_shares=text is percent)
    left = 20 + CHARACTER * max(map(len, y_labels))

    def x(value: float) -> float:
        return left + (right - left) * value / x_high

    def y(value: float) -> float:
        return bottom - (bottom - TOP) * (value - y_ticks[0]) / (y_ticks[-1] - y_ticks[0])

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {width} {height}" role="img" '
        f'width="{width}" height="{height}">'
    ]
    if stands_alone:
        lines.append(f'<style>{STYLE}</style><rect class="paper" width="{width}" height="{height}"/>')
    lines.append(
        f'<text x="12" y="20"><tspan class="title">{escape(title)}</tspan>'
        f'<tspan class="grey" dx="8">{escape(subtitle)}</tspan></text>'
    )
    for tick, label in zip(y_ticks, y_labels, strict=True):
        lines.append(f'<path class="grid" d="M{left:.1f} {y(tick):.1f}H{right:.1f}"/>')
        lines.append(
            f'<text class="grey" x="{left - 8:.1f}" y="{y(tick) + 4:.1f}" text-anchor="end">{label}</text>'
        )
    lines.append(f'<path class="axis" d="M{left:.1f} {bottom}H{right:.1f}"/>')
    for tick, label in zip(x_ticks, x_labels, strict=True):
        lines.append(f'<path class="axis" d="M{x(tick):.1f} {bottom}v4"/>')
        lines.append(
            f'<text class="grey" x="{x(tick):.1f}" y="{bottom + 17}" text-anchor="middle">{label}</text>'
        )
    lines.append(
        f'<text class="grey" x="{(left + right) / 2:.1f}" y="{height - 7}" text-anchor="middle">'
        f"{escape(x_name)}</text>"
    )
    for place, curve in enumerate(curves):
        lines += _curve(curve, place % NUM_COLOURS, x, y, text)
    ends = _apart([y(curve.points[-1].y) for curve in curves])
    for place, (label, end) in enumerate(zip(labels, ends, strict=True)):
        colour = f"fill{place % NUM_COLOURS}"
        lines.append(f'<text class="{colour}" x="{right + 8:.1f}" y="{end + 4:.1f}">{escape(label)}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def ticks(low: float, high: float, most: int, outside: bool = False) -> list[float]:
    """Round numbers from low to high, or just outside of them; at least two, at most about `most`."""
    if high - low < 1e-9 * max(1.0, abs(high)):  # a flat curve
        low, high = (0.0, 2 * high) if high > 0 else (low - 1, high + 1)
    span = (high - low) / most
    power = 10.0 ** math.floor(math.log10(span))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= span * (1 - 1e-9))
    first, last = low / step, high / step
    if outside:
        begin, end = math.floor(first + 1e-9), math.ceil(last - 1e-9)
    else:
        begin, end = math.ceil(first - 1e-9), math.floor(last + 1e-9)
    return [step * place for place in range(begin, end + 1)]


def _labels(places: Sequence[float], are_shares: bool = False) -> list[str]:
    """The numbers as text, with enough digits to distinguish them."""
    scale = 100 if are_shares else 1
    step = scale * (places[1] - places[0]) if len(places) > 1 else 1.0
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return [f"{scale * place + 0.0:,.{digits}f}{' %' if are_shares else ''}" for place in places]


def _curve(
    curve: Curve,
    colour: int,
    x: Callable[[float], float],
    y: Callable[[float], float],
    text: Callable[[float], str],
) -> list[str]:
    points, lines = curve.points, []
    if any(point.low < point.high for point in points):
        there = [f"{x(point.x):.1f} {y(point.high):.1f}" for point in points]
        back = [f"{x(point.x):.1f} {y(point.low):.1f}" for point in reversed(points)]
        lines.append(f'<path class="band fill{colour}" d="M{"L".join([*there, *back])}Z"/>')
    path = "L".join(f"{x(point.x):.1f} {y(point.y):.1f}" for point in points)
    lines.append(f'<path class="curve line{colour}" d="M{path}"/>')
    if len(points) <= MOST_DOTS:
        for point in points:
            note = f"{curve.name} {text(point.y)}".strip()
            if point.low < point.high:
                note += f" ({text(point.low)} to {text(point.high)})"
            if point.note:
                note += f", {point.note}"
            lines.append(
                f'<circle class="fill{colour}" cx="{x(point.x):.1f}" cy="{y(point.y):.1f}" r="2.6">'
                f"<title>{escape(note)}</title></circle>"
            )
    return lines


def _apart(places: Sequence[float]) -> list[float]:
    """The same heights, moved so that no two names overlap."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    found = list(places)
    for before, after in pairwise(order):
        found[after] = max(found[after], found[before] + LINE)
    shift = sum(found[i] - places[i] for i in order) / len(places)  # keeps their mean height
    return [place - shift for place in found]
