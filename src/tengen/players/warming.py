"""Compiles kernels before they are needed, in several processes at once.

Numba compiles one function at a time in a process, but processes share the folder of compiled kernels
(kernel_cache.py). So the work is split into steps; this process does them from the first to the last, helper
processes from the last to the first. A finished step leaves a mark in the folder: the next time there is
nothing to do, and no process is started.

    rules FAMILY      the functions of a game, for a single position
    loops FAMILY      the same for batches, as a search and a network need them
    cache             the cache of evaluations
    network NAME      a bundled network: whether int8 works on this machine (precision.py), or its kernels
    search NAME       the kernels of gumbel or puct: the same for all games, so compiled with a tiny game
    fours FAMILY      the search for forced fours at the leaves of a search; renju's has its own rules
    solver            the Connect 4 solver
    player NAME FAMILY  everything else a player needs for its first move

All games of a family share their kernels, at every size.
"""

import hashlib
import os
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import numba
import numpy as np
from numba.core import codegen

from tengen import games, kernel_cache, notices, players
from tengen.evaluators.cache import CachedEvaluator
from tengen.evaluators.network import open_network
from tengen.evaluators.uniform import UniformEvaluator
from tengen.evaluators.wins import sees_replies
from tengen.evaluators.zoo import bundled, game_of, nearest
from tengen.games import mnk, symmetry
from tengen.games.batch import lift
from tengen.games.coordinates import Cells
from tengen.games.game import Game, Mask, Planes, State
from tengen.games.position import Position
from tengen.players.mcts import choice_of
from tengen.search.gumbel import Gumbel
from tengen.search.mcts import Search
from tengen.search.puct import Puct
from tengen.search.selection import Selection
from tengen.search.snapshot import of_search
from tengen.search.tree import DRAW, UNKNOWN, Int8s, Int16s, Int32s
from tengen.tactics.connect4_solver import Solver
from tengen.tactics.fours import SeesFours, has_fours

FAMILIES = {
    "mnk": "gomoku15",
    "renju": "renju15",
    "connect4": "connect4",
    "othello": "othello8",
    "hex": "hex7",
}
SEARCHES: dict[str, tuple[Selection, int]] = {
    "gumbel": (Gumbel(), 1),
    "puct": (Puct(), 8),
}  # and the number of leaves per round
PLAYERS = {  # a spec, and the families that it plays; the slowest come last
    "zero": ("zero:sims=4", ("mnk", "connect4", "othello")),  # families with a bundled network
    "level": ("level:n=3", tuple(FAMILIES)),
    "greedy": ("greedy", ("mnk",)),  # and renju, by the same kernels
    "minimax": ("minimax:depth=1", ("mnk",)),
    "alphabeta": ("alphabeta:depth=2,vcf=yes", ("mnk",)),
    "uct": ("uct:sims=10", tuple(FAMILIES)),
}

Done = Callable[[str, float], None]  # a step, and how many seconds it took


def family_of(game: Game) -> str | None:
    """The family whose kernels a game shares; None if its rules come from outside this package."""
    module: str = game.play.py_func.__module__  # type: ignore[attr-defined]
    name = "renju" if game.play is mnk.play_renju else module.removeprefix("tengen.games.")
    return name if name in FAMILIES else None


def steps_of(families: Iterable[str]) -> list[str]:
    """All steps that playing, analysing and training these families need."""
    chosen = list(families)
    steps = [f"{kind} {family}" for family in chosen for kind in ("rules", "loops")]
    steps += ["cache", *(f"search {name}" for name in SEARCHES)]
    steps += [f"network {name}" for name in bundled() if family_of(games.find(game_of(name))) in chosen]
    steps += [f"fours {family}" for family in chosen if has_fours(games.find(FAMILIES[family]))]
    steps += ["solver"] if "connect4" in chosen else []
    for name, (_, plays) in PLAYERS.items():
        steps += [f"player {name} {family}" for family in chosen if family in plays]
    return steps


def ahead(game: Game, search: str = "gumbel") -> None:
    """Compiles what `zero` needs for its first move in a game, on two cores; returns at once if already done.

    Call it before anything else is done with the game. Does nothing where it would not help."""
    family = family_of(game)
    if family is None or num_cores() < 2 or notices.WORKER in os.environ:
        return
    near = nearest(game)
    network = [f"network {near.name}"] if near else []
    # This process begins at one end of the list, the other at the other end: the longest step comes last.
    last = ["cache", f"search {search}"]
    if has_fours(game):
        last = [f"search {search}", "cache", f"fours {family}"]
    missing = not_done([f"rules {family}", f"loops {family}", *network, *last])
    if missing:
        compile_steps(missing, num_helpers=1)


def not_done(steps: Iterable[str]) -> list[str]:
    """The steps that have not been done yet with these sources on this machine."""
    return [step for step in steps if not _mark(step).exists()]


def compile_steps(steps: list[str], num_helpers: int, done: Done = lambda step, seconds: None) -> None:
    """Does steps, some of them in helper processes. `done` is called after each, in any thread."""
    waiting = deque(steps)
    helpers = [Helper() for _ in range(min(num_helpers, len(steps) - 1))]
    threads = [
        threading.Thread(target=helper.work_on, args=(waiting, done), daemon=True) for helper in helpers
    ]
    try:
        for thread in threads:
            thread.start()
        _work_on(waiting, done)
        for thread in threads:
            thread.join()
        _work_on(waiting, done)  # the steps that helpers failed to do
    finally:
        for helper in helpers:
            helper.close()


def num_cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Helper:
    """A process that does the steps it is sent, and reports when each is done."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,  # Ctrl-C goes only to us; we end the helper
        )

    def work_on(self, waiting: deque[str], done: Done) -> None:
        """Does steps from the end until none is left. If one fails, puts it back and stops."""
        assert self._process.stdin and self._process.stdout
        while (step := _taken(waiting.pop)) is not None:
            began = time.perf_counter()
            try:
                print(step, file=self._process.stdin, flush=True)
                is_done = self._process.stdout.readline() == f"{step}\n"
            except OSError:
                is_done = False
            if not is_done:
                waiting.append(step)
                return
            done(step, time.perf_counter() - began)

    def close(self) -> None:
        self._process.terminate()
        with suppress(BrokenPipeError), self._process:  # closes its pipes, and waits
            pass


def perform(step: str) -> None:
    """Does a step in this process, and leaves its mark."""
    kind, *names = step.split()
    if kind == "rules":
        _use_rules(games.find(FAMILIES[names[0]]))
    elif kind == "loops":
        _use_loops(games.find(FAMILIES[names[0]]))
    elif kind == "cache":
        _use_cache()
    elif kind == "network":
        network = open_network(f"zoo/{names[0]}")
        if network.precision == "lookup":
            network.direct(games.find(network.card.game))  # its kernels
    elif kind == "search":
        _use_search(names[0])
    elif kind == "fours":
        _use_fours(games.find(FAMILIES[names[0]]))
    elif kind == "solver":
        Solver(table_mebibytes=1)
    else:
        _use_player(PLAYERS[names[0]][0], games.find(FAMILIES[names[1]]))
    mark = _mark(step)
    if mark.parent.is_dir():  # else kernels cannot be cached at all
        mark.touch()


def _work_on(waiting: deque[str], done: Done) -> None:
    while (step := _taken(waiting.popleft)) is not None:
        began = time.perf_counter()
        perform(step)
        done(step, time.perf_counter() - began)


def _taken(take: Callable[[], str]) -> str | None:
    """A step, or None if another thread has taken the last one."""
    try:
        return take()
    except IndexError:
        return None


def _mark(step: str) -> Path:
    machine = (numba.__version__, sys.version, codegen.get_host_cpu_features(), step)
    name = hashlib.sha256(repr(machine).encode()).hexdigest()[:16]
    return Path(os.environ[kernel_cache.VARIABLE]) / f"{name}.done"


def _use_rules(game: Game) -> None:
    position = Position.start(game)
    position = position.play(position.legal_actions[0])
    assert not position.is_over


def _use_loops(game: Game) -> None:
    batched, states = lift(game), game.new_state()[None].repeat(2, axis=0)
    legal = np.zeros((2, game.num_actions), np.bool_)
    batched.planes(states, np.zeros((2, *game.planes_shape), np.float32))
    batched.wins(states, legal, legal.copy())
    batched.play(states, np.zeros(2, np.int64), states.copy())
    batched.outcomes(states)
    batched.legal(states, legal.copy())
    if sees_replies(game):
        batched.safe(states, legal, legal.copy())
    nodes, small = np.zeros(2, np.int32), np.zeros(2, np.int8)
    batched.expand(
        states, nodes - 1, np.zeros(2, np.int16), nodes, np.ones(2, np.bool_), small, small.copy(),
        nodes.copy(), states.copy(), legal,
    )  # fmt: skip


def _use_cache() -> None:
    cache = CachedEvaluator(UniformEvaluator(), TINY, 100_000)
    states = np.zeros((512, TINY.state_size), np.int16)
    states[:, 0] = np.arange(len(states))  # many different ones, so that the index grows
    for _ in range(2):
        cache.evaluate(states, np.ones((len(states), TINY.num_actions), np.bool_))


def _use_fours(game: Game) -> None:
    state = game.new_state()
    SeesFours(game)(state[None], game.legal_mask(state)[None])


def _use_search(name: str) -> None:
    settings, leaves = SEARCHES[name]
    position = Position.start(TINY)
    search = Search(TINY, UniformEvaluator(), settings, max_simulations=40, leaves_per_round=leaves)
    search._expand = _expand  # instead of a compiled loop over the rules
    search.begin(position.state[None], np.random.default_rng(0))
    search.refute(TINY_CELLS - 1, distance=2)
    search.run(8)
    choice_of(search)
    if name == "puct":  # live analysis, and a tree that is kept from move to move
        of_search(position, search)
        search.advance(np.zeros(1, np.int32))


def _use_player(spec: str, game: Game) -> None:
    with players.find(spec, game) as player:
        player.prepare()
        position = Position.start(game)
        player.choose(position.play(position.legal_actions[len(position.legal_actions) // 2]))


# The tiny game: four cells in a row, filled in turns, a draw. Its rules are not compiled.
TINY_CELLS = 4


def _start(state: State) -> None:
    state[:] = 0
    state[-2], state[-1] = -1, 1


def _legal(state: State, mask: Mask) -> None:
    mask[:] = state[:TINY_CELLS] == 0


def _play(state: State, action: int, next_state: State) -> None:
    next_state[:] = state
    next_state[action] = state[-1]
    next_state[-2], next_state[-1] = action, 3 - state[-1]


def _outcome(state: State) -> tuple[bool, float]:
    return bool(state[:TINY_CELLS].all()), 0.0


def _planes(state: State, out: Planes) -> None:
    out[0, 0] = state[:TINY_CELLS]


def _expand(
    states: State, parents: Int32s, actions: Int16s, leaves: Int32s, is_new: Mask, to_move: Int8s,
    ended: Int8s, waiting: Int32s, waiting_states: State, waiting_legal: Mask,
) -> int:  # fmt: skip
    """BatchedGame.expand, for the tiny game."""
    count = 0
    for leaf in leaves[is_new & (leaves >= 0)]:
        if parents[leaf] >= 0:
            _play(states[parents[leaf]], int(actions[leaf]), states[leaf])
        to_move[leaf] = states[leaf, -1]
        is_over, _ = _outcome(states[leaf])
        ended[leaf] = DRAW if is_over else UNKNOWN
        if not is_over:
            waiting[count], waiting_states[count] = leaf, states[leaf]
            _legal(states[leaf], waiting_legal[count])
            count += 1
    return count


for rule in (_legal, _play, _outcome, _planes):
    setattr(rule, "py_func", rule)  # noqa: B010  # as compiled functions have


TINY = Game(
    name="tiny",
    summary="four cells",
    rows=1,
    cols=TINY_CELLS,
    header=(),
    state_size=TINY_CELLS + 2,
    num_actions=TINY_CELLS,
    plane_names=("cells",),
    start=_start,
    legal=_legal,
    play=_play,
    outcome=_outcome,
    planes=_planes,
    moves=Cells(1, TINY_CELLS, row_one="bottom"),
    symmetries=symmetry.rectangle(1, TINY_CELLS),
)


def main() -> None:
    """Runs a helper: reads a step per line of stdin; prints its name on stdout once it is done."""
    for line in sys.stdin:
        perform(line.strip())
        print(line.strip(), flush=True)


if __name__ == "__main__":
    main()
