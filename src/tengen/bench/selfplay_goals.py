"""What the bench of self-play measures, as values, and what each should be at least."""

from dataclasses import dataclass

# At least: the share of the time inside the network, and simulations per evaluation of the empty loop.
GOALS = {
    "fp32": (0.90, 0.9),
    "int8": (0.85, 0.9),
    "fp32, cache": (0.90, 1.5),
    "int8, cache": (0.85, 1.5),
}
GOAL_PEER = {"fp32": 1.2, "int8": 3.0, "int8, cache": 5.0}  # simulations per second, times the peer's
GOAL_SCALING = 1.8
GOAL_ALPHAZERO_GOMOKU = 10.0  # games per minute, times the peer's, in our fastest way


@dataclass(frozen=True)
class SelfPlayRate:
    """Medians of the rounds; a ratio is the median of the ratios of neighbouring measurements."""

    who: str
    simulations_per_second: float
    games_per_second: float
    moves_per_game: float
    times_peer: float | None = None
    network_share: float | None = None  # of the time
    hit_rate: float | None = None
    loop_per_second: float | None = None  # evaluations in the empty loop
    times_loop: float | None = None  # simulations per evaluation of the empty loop


@dataclass(frozen=True)
class Scaling:
    """The time of the same shards with one process and with two: medians."""

    one_seconds: float
    two_seconds: float
    ratio: float
    core_share: float  # of a core, that each of the two had: far below 1, the ratio means nothing


@dataclass(frozen=True)
class AlphaZeroGomokuRate:
    """Medians. Games differ in length from the peer's, so both ratios are given."""

    who: str
    games_per_minute: float
    times_peer: float  # games
    simulations_per_second: float
    times_peer_simulations: float
    moves_per_game: float
    network_share: float
    hit_rate: float | None


@dataclass(frozen=True)
class Target:
    """A goal, and the measured value, which should be at least the goal."""

    what: str
    value: float
    goal: float
    is_reached: bool


def targets(
    rates: list[SelfPlayRate], scaling: Scaling | None, gomoku: list[AlphaZeroGomokuRate]
) -> list[Target]:
    """The goals of everything that was measured."""
    found: list[tuple[str, float, float]] = []
    for rate in rates:
        if rate.who in GOAL_PEER and rate.times_peer is not None:
            found.append(
                (
                    f"{rate.who}: simulations per second, times the peer's",
                    rate.times_peer,
                    GOAL_PEER[rate.who],
                )
            )
        if rate.network_share is not None and rate.times_loop is not None:  # ours
            share, times_loop = GOALS[rate.who]
            found += [
                (f"{rate.who}: share of the time inside the network", rate.network_share, share),
                (f"{rate.who}: simulations per evaluation of an empty loop", rate.times_loop, times_loop),
            ]
    if scaling:
        found.append(("two processes, times one", scaling.ratio, GOAL_SCALING))
    if gomoku:
        best = max(rate.times_peer for rate in gomoku)
        found.append(
            ("AlphaZero_Gomoku's network: games per minute, times the peer's", best, GOAL_ALPHAZERO_GOMOKU)
        )
    return [Target(what, value, goal, value >= goal) for what, value, goal in found]
