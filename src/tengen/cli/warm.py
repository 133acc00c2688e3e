"""`tengen warm`: compiles everything beforehand, so that no first move waits for it."""

import sys
import threading
import time
from typing import Annotated

import typer


def warm(
    games: Annotated[
        list[str] | None, typer.Argument(help="Games; without: all.", metavar="[GAME]...")
    ] = None,
) -> None:
    """Compile everything that playing and training these games need, on all cores."""
    from tengen.errors import UserError
    from tengen.games import find
    from tengen.players import warming

    families = list(warming.FAMILIES)
    if games:
        families = []
        for name in games:
            family = warming.family_of(find(name))
            if family is None:
                raise UserError(f"{name} comes from a file: it is compiled each time, and cannot be kept")
            families += [family] if family not in families else []
    steps = warming.steps_of(families)
    missing, began, lock = warming.not_done(steps), time.perf_counter(), threading.Lock()
    num_done = 0

    def show(step: str, seconds: float) -> None:
        nonlocal num_done
        with lock:
            num_done += 1
            passed = time.perf_counter() - began
            left = passed / num_done * (len(missing) - num_done)
            text = f"{num_done}/{len(missing)} {step}, {seconds:.1f} s; about {left:.0f} s left"
            print(text, file=sys.stderr, flush=True)

    if missing:
        warming.compile_steps(missing, warming.num_cores() - 1, show)
        print(f"compiled for {', '.join(families)}: {time.perf_counter() - began:.0f} s")
    else:
        print(f"compiled already for {', '.join(families)}")
