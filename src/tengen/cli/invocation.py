"""How to call this program again, in the messages that say so: with the game files it was called with."""

import os
import shlex


def invocation() -> str:
    """`tengen`, or `tengen --games mygame.py`."""
    from tengen.games import LOADED_FILES

    return shlex.join(
        ["tengen", *(word for path in LOADED_FILES for word in ("--games", os.path.relpath(path)))]
    )
