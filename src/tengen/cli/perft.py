"""`tengen perft GAME DEPTH`: the number of move sequences, the usual test of rules."""

import json
import time
from typing import Annotated

import typer


def perft(
    game: Annotated[str, typer.Argument(help="A game.")],
    depth: Annotated[int, typer.Argument(min=1, max=100, help="Length of the sequences.")],
    moves: Annotated[list[str] | None, typer.Argument(help="Moves to start after.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Count the move sequences of each length up to DEPTH."""
    from tengen.games.batch import lift
    from tengen.games.position import Position

    position = Position.from_moves(game, " ".join(moves or []))
    batched = lift(position.game)
    batched.perft(position.state.copy(), 1)  # compiles, so that the times below include only counting
    for length in range(1, depth + 1):
        began = time.perf_counter()
        count = batched.perft(position.state.copy(), length)
        seconds = time.perf_counter() - began
        if as_json:
            print(json.dumps({"depth": length, "sequences": count, "seconds": round(seconds, 6)}), flush=True)
        else:
            rate = f"{count / seconds / 1e6:6.1f} M/s" if seconds > 0.01 else ""
            print(f"{length:3d}  {count:>16,}  {seconds:9.3f} s  {rate}".rstrip(), flush=True)
