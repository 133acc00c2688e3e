"""The result of a match as a block to paste into a pull request, in the form that engine developers use.

Elo   | +36 ± 23 (95 %: +13 to +59)
LLR   | +2.96 (-2.94, +2.94) [+0, +50]        of a test: the bounds, then the hypotheses
Games | N: 400 W: 196 L: 155 D: 49
Penta | [12, 41, 80, 47, 20]                  pairs of games that gave A 0, ½, 1, 1½ and 2 points
Conds | connect4, uct:sims=400 against uct:sims=300, …
"""

import math

from tengen import __version__
from tengen.arena.match import Match, MatchResult, signed
from tengen.arena.sprt import SprtResult


def paste_block(match: Match, result: MatchResult, test: SprtResult | None = None) -> str:
    """The lines of the block, fenced for Markdown."""
    low, high = result.elo_interval
    half = (high - low) / 2
    error = f"± {half:.0f}" if math.isfinite(half) else "± ∞"
    total = result.total
    rows = {
        "Elo": f"{signed(result.elo)} {error} (95 %: {signed(low)} to {signed(high)})",
        "Games": f"N: {total.games} W: {total.wins} L: {total.losses} D: {total.draws}",
        "Penta": f"[{', '.join(map(str, result.pairs))}]",
        "Conds": _conditions(match, result),
    }
    if test is not None:
        bounds = ", ".join(f"{bound:+.2f}" for bound in test.test.bounds)
        rows["LLR"] = f"{test.llr:+.2f} ({bounds}) [{test.test.elo0:+g}, {test.test.elo1:+g}]"
    order = ("Elo", "LLR", "Games", "Penta", "Conds")
    lines = [f"{name:<5} | {rows[name]}" for name in order if name in rows]
    return "\n".join(["```", *lines, "```"])


def _conditions(match: Match, result: MatchResult) -> str:
    """What somebody else needs to play the same games."""
    parts = [f"{result.game}, {result.a} against {result.b}", f"from {result.openings}", f"seed {match.seed}"]
    if match.time is not None:
        parts.append("time {:g}+{:g} s".format(*match.time))
    if result.forfeits:
        parts.append(f"{len(result.forfeits)} forfeits")
    return ", ".join([*parts, f"tengen {__version__}"])
