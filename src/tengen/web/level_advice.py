"""Which level to suggest to a person, from the last games against levels."""

from collections.abc import Sequence

from tengen.web.schemas import LEVELS

NUM_GAMES = 3  # from which a suggestion follows
STEPS = ((2.5, 2), (2.0, 1), (1.5, 0), (1.0, -1), (0.0, -2))  # at least so many points: so many levels up


def suggested_level(played: Sequence[tuple[int, float]]) -> int | None:
    """The next level for a person who played (level, points: 1, ½ or 0) games of one kind, the last one last.

    >>> suggested_level([(3, 1.0), (3, 1.0), (3, 1.0)])
    5
    >>> suggested_level([(3, 1.0), (4, 0.0), (3, 0.5)]), suggested_level([(3, 1.0)])
    (3, None)
    """
    last = played[-NUM_GAMES:]
    if len(last) < NUM_GAMES:
        return None
    points = sum(point for _, point in last)
    step = next(step for least, step in STEPS if points >= least)
    return min(max(last[-1][0] + step, LEVELS[0]), LEVELS[-1])
