"""The memory of a tree is reserved, not used, until nodes need it."""

import subprocess
import sys

import pytest

TOUCHED = """
import os
from tengen.evaluators.uniform import UniformEvaluator
from tengen.games import find
from tengen.games.position import Position
from tengen.games.randomness import new_random
from tengen.search import uct
from tengen.search.mcts import Search
from tengen.search.puct import Puct
from tengen.search.snapshot import of_search, of_uct
from tengen.search.tree import nodes_in

game = find("gomoku15")
position = Position.start(game)

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

def with_mcts(memory):
    search = Search(game, UniformEvaluator(), Puct(), 1, nodes_in(memory, game) - 1, leaves_per_round=8)
    search.begin(position.state[None])
    search.run(900)
    of_search(position, search)
    search.advance(search.result().actions)
    search.run(50)
    return search

def with_uct(memory):
    search = uct.UctSearch(game, uct.Uct(), uct.nodes_in(memory, game))
    search.begin(position.state, new_random(1))
    search.run(900)
    of_uct(position, search)
    search.advance(search.result().action, new_random(1))
    search.run(50)
    return search

for make in (with_mcts, with_uct):
    make(2**21)  # compiles
    before = resident()
    search = make(2**28)
    assert search.memory < 2**20, search.memory
    print((resident() - before) // 2**20)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_large_tree_that_is_little_used_takes_little_memory() -> None:
    """256 MiB of nodes of gomoku15, of which a search and the next one use a thousand."""
    done = subprocess.run([sys.executable, "-c", TOUCHED], capture_output=True, text=True, check=True)
    mebibytes = [int(line) for line in done.stdout.split()]
    assert len(mebibytes) == 2 and max(mebibytes) <= 12, mebibytes
