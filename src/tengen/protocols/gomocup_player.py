"""Who plays for the Gomocup protocol, with how much memory, and the position of a manager's board.

Compiling all kernels in one process takes 400 MB, more than tournaments allow. So each step of warming.py is
done in a process of its own (at most 270 MB), which leaves compiled kernels in their folder. If that folder
cannot be written, one in the system's folder for temporary files is used.
"""

import os
import stat
import tempfile
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tengen import kernel_cache
from tengen.protocols.gomocup_board import View

if TYPE_CHECKING:
    from tengen.games.game import Game
    from tengen.games.position import Position
    from tengen.players.warming import Helper

MEBIBYTE = 2**20
LEAST_MIB, MOST_MIB = 16, 1024  # of a search
RESERVE = 40_000_000  # bytes, for what a search needs besides its tree and its cache
COMPILED = 3.0  # seconds of a step, from which on it has compiled something
PROGRAM = 250_000_000  # bytes of a process that compiles, without a search, where it cannot be measured


@dataclass(frozen=True)
class Wanted:
    """What a player is needed for."""

    game: str  # a spec
    allowed_memory: int = 0  # bytes of the whole process
    search_mib: int = 0  # of it for the search; 0: what is left
    threads: int = 1  # of the network


def default_spec(game: "Game", mebibytes: int, threads: int) -> str:
    """The player for a game: the nearest bundled network, else alphabeta."""
    from tengen.evaluators.zoo import nearest

    found = nearest(game)
    if found is None:
        return f"alphabeta:vcf=yes,memory={mebibytes}"
    return f"zero:zoo/{found.name}:memory={mebibytes},threads={threads}"


def search_mib(wanted: Wanted, used: int) -> int:
    """The memory of a search in MiB, in a process that uses some bytes without it."""
    left = (wanted.allowed_memory - used - RESERVE) // MEBIBYTE
    if wanted.search_mib:
        left = min(left, wanted.search_mib)
    return max(LEAST_MIB, min(MOST_MIB, left))


def used_memory() -> int:
    """Bytes of memory of this process; a guess if not on Linux.

    Managers do not count what other processes share, but these may end."""
    try:
        lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    except OSError:
        return PROGRAM
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Rss:"))


def use_writable_folder() -> None:
    """Keeps kernels in a temporary folder if there are none and their own folder cannot be written.

    Called before any game is imported. The folder belongs to this user alone: its files are run."""
    folder = Path(os.environ[kernel_cache.VARIABLE])
    if os.access(folder, os.W_OK) or any(folder.glob("*.done")):
        return
    own = os.getuid() if hasattr(os, "getuid") else 0
    try:
        temporary = Path(tempfile.gettempdir()) / f"tengen-{own}"
        temporary.mkdir(mode=0o700, exist_ok=True)
        found = temporary.lstat()
    except OSError:  # there is nothing to write to: everything is compiled in this process
        return
    is_ours = not hasattr(os, "getuid") or (found.st_uid == own and not found.st_mode & 0o077)
    if stat.S_ISDIR(found.st_mode) and is_ours:
        os.environ["TENGEN_CACHE_DIR"] = str(temporary)
        kernel_cache.parent_folder.cache_clear()
        kernel_cache.use()


def steps_for(game: "Game") -> list[str]:
    """The steps of warming.py after which the network's player for a game compiles nothing."""
    from tengen.evaluators.zoo import nearest
    from tengen.players.warming import family_of

    family, near = family_of(game), nearest(game)
    if family is None or near is None:
        return []
    names = ("rules", "loops", "fours")
    return [*(f"{name} {family}" for name in names), f"network {near.name}", "cache", "search puct"]


def compile_apart(game: "Game", started: "Callable[[Helper | None], None]") -> None:
    """Compiles what the network's player needs for a game and has not been compiled, in other processes.

    started: is told about each process while it runs, and None when it is done."""
    from tengen.players import warming

    took: list[float] = []
    helper: Helper | None = None
    is_kept = os.access(os.environ[kernel_cache.VARIABLE], os.W_OK)
    for step in warming.not_done(steps_for(game)) if is_kept else []:
        helper = helper or warming.Helper()
        started(helper)
        took.clear()
        helper.work_on(deque([step]), lambda step, seconds: took.append(seconds))
        if not took or took[0] > COMPILED:  # the next one begins with little memory
            started(None)
            helper.close()
            helper = None
    started(None)
    if helper is not None:
        helper.close()


def position_of(view: View, game: "Game") -> "Position":
    """The position of a board, our side to move; with its moves, if the stones came in their order."""
    from tengen.games.position import Position

    stones = view.colored
    expected = [1 + i % 2 for i in range(len(stones))]
    if [color for _, color in stones] == expected and view.own_color == 1 + len(stones) % 2:
        position = Position.start(game)
        for cell, _ in stones:
            if position.is_over or not position.legal_mask[cell]:
                break  # a foul, or stones in another order
            position = position.play(cell)
        else:
            return position
    return Position.from_cells(game, view.cells, view.own_color)
