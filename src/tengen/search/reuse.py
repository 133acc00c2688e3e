"""Keeps the subtree below a move when it is played: its nodes move to the front of the tree, in place.

For any tree of this folder: a NamedTuple of arrays with a row per node, where a child comes after its parent.
"""

import numpy as np

from tengen.search.tree import NONE, Int32s, Linked, kernel

CHUNK = 4096  # nodes moved at once: a copy of all of them would need their memory twice


def keep_subtree(nodes: Linked, root: int, used: int, action: int) -> int:
    """Makes the child after `action` the root, of a tree that uses this many nodes from `root` on.

    Returns how many nodes it keeps; 0, and nothing is changed, if there is no such child. What the root's own
    statistics mean is up to the caller: they are those of the edge that led to it.
    """
    start = int(nodes.first_child[root])
    while start != NONE and nodes.actions[start] != action:
        start = int(nodes.next_sibling[start])
    if start == NONE:
        return 0
    moved_to, kept = np.full(used, NONE, np.int32), np.empty(used, np.int32)
    count = _mark(root, start, moved_to, kept, nodes.parents)
    # Nodes only move forward, and in order: no chunk overwrites what a later one reads.
    for begin in range(0, count, CHUNK):
        chunk = kept[begin : min(begin + CHUNK, count)]
        for array in nodes:
            array[root + begin : root + begin + len(chunk)] = array[chunk]
    for links in (nodes.parents, nodes.first_child, nodes.next_sibling):
        mine = links[root : root + count]
        is_link = mine != NONE
        mine[is_link] = moved_to[mine[is_link] - root]  # the new root's links to lost nodes become NONE
    return count


@kernel
def _mark(root: int, start: int, moved_to: Int32s, kept: Int32s, parents: Int32s) -> int:
    """Lists the nodes of the subtree below `start`, and their new numbers. Parents come before children."""
    moved_to[start - root] = root
    kept[0] = start
    count = 1
    for node in range(start + 1, root + moved_to.size):
        if moved_to[parents[node] - root] != NONE:
            moved_to[node - root] = root + count
            kept[count] = node
            count += 1
    return count
