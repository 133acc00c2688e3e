"""Rates with confidence intervals."""

from dataclasses import dataclass

Z95 = 1.959964  # 95 % of a normal distribution lies within this many standard deviations


@dataclass(frozen=True)
class Rate:
    """A share of n trials, with its 95 % interval."""

    rate: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        return f"{100 * self.rate:5.1f} %  ({100 * self.low:.1f}-{100 * self.high:.1f})"


def rate(successes: int, n: int) -> Rate:
    """The rate with Wilson's interval, which is also right at 0 % and 100 %. For n = 0 it is 0 to 1."""
    if n == 0:
        return Rate(0.0, 0.0, 1.0, 0)
    share = successes / n
    centre = (share + Z95**2 / (2 * n)) / (1 + Z95**2 / n)
    half = Z95 * (share * (1 - share) / n + Z95**2 / (4 * n**2)) ** 0.5 / (1 + Z95**2 / n)
    return Rate(share, max(0.0, centre - half), min(1.0, centre + half), n)
