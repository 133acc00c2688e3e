"""`tengen demo`: a game of Connect 4, played before your eyes."""

import os
import sys
import time
from typing import Annotated

import typer

PLAYOUTS = 20_000  # for each legal move: a tenth of a second in all


def demo(
    seed: Annotated[int, typer.Option(help="Another seed, another game.")] = 1,
    pause: Annotated[float, typer.Option(min=0.0, help="Seconds between moves, in a terminal.")] = 0.4,
) -> None:
    """Play a game of Connect 4, each move the one that wins most random games."""
    from tengen.games.batch import lift
    from tengen.games.position import Position
    from tengen.games.randomness import new_random

    in_terminal = sys.stdout.isatty()
    color = in_terminal and "NO_COLOR" not in os.environ
    random = new_random(seed)
    position = Position.start("connect4")
    rules = lift(position.game)
    playouts = 0
    began = time.perf_counter()
    while not position.is_over:
        after = {action: position.play(action) for action in position.legal_actions}
        # A finished game is worth what it is; values are for the player to move, so negate them.
        totals = {a: -rules.playouts(p.state.copy(), PLAYOUTS, random) for a, p in after.items()}
        playouts += PLAYOUTS * len(after)
        best = max(totals, key=lambda action: totals[action])
        expected = totals[best] / PLAYOUTS
        mover = "XO"[position.to_move - 1]
        position = after[best]
        print(f"\n{len(position.moves)}. {mover} plays column {position.last_move} (expects {expected:+.2f})")
        print(position.text(color=color))
        if in_terminal:
            time.sleep(pause)
    seconds = time.perf_counter() - began
    print(f"\n{len(position.moves)} moves: {''.join(position.moves)}; {position.outcome}.")
    print(f"{playouts:,} random games in {seconds:.1f} s.")
    print("Next: tengen games · tengen show gomoku15 h8 h9 · tengen check all · tengen bench rules")
