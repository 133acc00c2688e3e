"""A leaderboard as an SVG picture: a bar for each player's Elo, with its 95 % interval."""

from collections.abc import Sequence
from html import escape

from tengen.arena.tournament import Standing, TournamentResult

ROW, BAR, TOP, BOTTOM = 30, 16, 44, 34  # pixels
CHARACTER = 7.3  # width of a character in a 12-pixel monospaced font
PLOT = 440
INK, GREY, GRID = "#24292f", "#6e7781", "#e4e7eb"
BETTER, WORSE = "#3b76b8", "#c2724a"  # above and below zero; colour-blind people can distinguish them too


def bar_chart(result: TournamentResult) -> str:
    """The leaderboard as SVG."""
    standings = result.standings
    left = 24 + CHARACTER * max(len(one.player) for one in standings)
    width, height = left + PLOT + 110, TOP + ROW * len(standings) + BOTTOM
    low = min(0.0, *(one.elo - one.error for one in standings))
    high = max(0.0, *(one.elo + one.error for one in standings))
    span = max(high - low, 1.0)

    def x(elo: float) -> float:
        return left + PLOT * (elo - low) / span

    bottom = TOP + ROW * len(standings)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" '
        f'width="{width:.0f}" height="{height}" font-family="ui-monospace, Menlo, Consolas, monospace" '
        f'font-size="12" fill="{INK}">',
        f'<rect width="{width:.0f}" height="{height}" fill="#ffffff"/>',
        f'<text x="16" y="24" font-size="14" font-weight="bold">{escape(result.game)}'
        f'<tspan font-size="12" font-weight="normal" fill="{GREY}" dx="10">{result.games} games, '
        "Elo and 95 % interval</tspan></text>",
    ]
    for tick in _ticks(low, high):
        colour = GREY if tick == 0 else GRID
        lines.append(f'<path d="M{x(tick):.1f} {TOP - 6}V{bottom + 4}" stroke="{colour}"/>')
        label = f"{tick:+d}" if tick else "0"
        lines.append(
            f'<text x="{x(tick):.1f}" y="{bottom + 20}" text-anchor="middle" fill="{GREY}">{label}</text>'
        )
    for place, one in enumerate(standings):
        baseline = TOP + ROW * place + 19
        lines += _bar(
            one, TOP + ROW * place, left, x(0), x(one.elo), x(one.elo - one.error), x(one.elo + one.error)
        )
        lines.append(
            f'<text x="{left + PLOT + 48:.1f}" y="{baseline}" text-anchor="end">{one.elo:+.0f}</text>'
            f'<text x="{left + PLOT + 54:.1f}" y="{baseline}" fill="{GREY}">± {one.error:.0f}</text>'
        )
    return "\n".join([*lines, "</svg>"]) + "\n"


def _bar(
    one: Standing, y: int, left: float, zero: float, end: float, from_x: float, to_x: float
) -> Sequence[str]:
    colour = BETTER if one.elo >= 0 else WORSE
    middle = y + ROW / 2
    return [
        f'<text x="{left - 10:.1f}" y="{y + 19}" text-anchor="end">{escape(one.player)}</text>',
        f'<rect x="{min(zero, end):.1f}" y="{y + (ROW - BAR) / 2}" width="{max(abs(end - zero), 1):.1f}" '
        f'height="{BAR}" rx="2" fill="{colour}" fill-opacity="0.85"/>',
        f'<path d="M{from_x:.1f} {middle}H{to_x:.1f}M{from_x:.1f} {middle - 4}v8M{to_x:.1f} {middle - 4}v8" '
        f'stroke="{INK}" stroke-width="1.5" fill="none"/>',
    ]


def _ticks(low: float, high: float) -> list[int]:
    """Round numbers from low to high, at most seven."""
    steps = (step * 10**power for power in range(6) for step in (1, 2, 5))
    step = next(step for step in steps if (high - low) / step <= 6)
    return [tick for tick in range(-100 * step, 101 * step, step) if low <= tick <= high]
