"""Limits of a move, and clocks that run over a game."""

import pytest

from tengen.errors import UserError
from tengen.players.limit import Clock, Limit


def test_the_time_for_a_move_is_the_smaller_of_turn_and_clock() -> None:
    assert (
        Limit().thinking_seconds is None and Limit(simulations=5, nodes=7, depth=3).thinking_seconds is None
    )
    assert Limit(seconds=2.0).thinking_seconds == 2.0
    by_clock = Limit(clock=Clock(60.0, 1.0)).thinking_seconds
    assert by_clock is not None and 1.0 < by_clock < 10.0
    assert Limit(seconds=0.5, clock=Clock(60.0)).thinking_seconds == 0.5
    assert (
        Limit(seconds=50.0, clock=Clock(10.0)).thinking_seconds == Limit(clock=Clock(10.0)).thinking_seconds
    )


@pytest.mark.parametrize("increment", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("start", [1.0, 10.0, 60.0])
def test_a_clock_lasts_for_any_number_of_moves(start: float, increment: float) -> None:
    """Even if every move takes 5 ms longer than planned."""
    clock = Clock(start, increment)
    for _ in range(300):
        seconds = Limit(clock=clock).thinking_seconds
        assert seconds is not None and 0 <= seconds <= clock.left
        if increment == 0.0 and clock.left < 0.02:
            break  # nobody can make 300 moves of 5 ms in a second
        clock = clock.after(seconds + 0.005)
        assert clock.left >= 0


def test_a_clock_that_ran_out_gains_nothing() -> None:
    assert Clock(1.0, 5.0).after(2.0) == Clock(-1.0, 5.0)
    assert Clock(1.0, 5.0).after(0.5) == Clock(5.5, 5.0)


def test_a_player_obeys_what_it_understands_and_else_its_default() -> None:
    default = Limit(depth=6)
    assert Limit().obeyed(("depth",), default) == Limit()  # no limit is no limit
    assert Limit(simulations=5).obeyed(("depth",), default) == default
    assert Limit(simulations=5, depth=2).obeyed(("depth",), default) == Limit(depth=2)
    assert Limit(simulations=5, seconds=1).obeyed(("nodes",), default) == Limit(seconds=1)


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ({"simulations": 0}, "a limit of simulations is 1 or more, got 0"),
        ({"nodes": -1}, "a limit of nodes is 1 or more, got -1"),
        ({"depth": 0}, "a limit of depth is 1 or more, got 0"),
        ({"seconds": -0.1}, "a limit of seconds is a number from 0 up, got -0.1"),
        ({"seconds": float("nan")}, "a limit of seconds is a number from 0 up, got nan"),
    ],
)
def test_nonsense_is_refused(limit: dict[str, float], message: str) -> None:
    with pytest.raises(UserError) as error:
        Limit(**limit)  # type: ignore[arg-type]
    assert str(error.value) == message
