"""Rates, and how sure of them we can be."""

from dataclasses import dataclass

Z95 = 1.959964  # standard deviations either side that hold 95 % of a normal distribution


@dataclass(frozen=True)
class Rate:
    """A share of n, with its 95 % interval."""

    rate: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        return f"{100 * self.rate:5.1f} %  ({100 * self.low:.1f}-{100 * self.high:.1f})"


def rate(successes: int, n: int) -> Rate:
    """Wilson's interval, which holds at 0 % and 100 % too. Nothing is known of none: 0 to 1."""
    if n == 0:
        return Rate(0.0, 0.0, 1.0, 0)
    share = successes / n
    centre = (share + Z95**2 / (2 * n)) / (1 + Z95**2 / n)
    half = Z95 * (share * (1 - share) / n + Z95**2 / (4 * n**2)) ** 0.5 / (1 + Z95**2 / n)
    return Rate(share, max(0.0, centre - half), min(1.0, centre + half), n)
