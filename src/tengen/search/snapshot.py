"""What a search thinks of a position, for people and for programs: a table, a tree, JSON."""

from dataclasses import asdict, dataclass
from functools import cache
from html import escape
from typing import Any

import numpy as np

from tengen.games import drawing
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.search.mcts import Search
from tengen.search.prove import lower_bounds
from tengen.search.result import max_depth, principal_variation
from tengen.search.tree import DRAW, LOSS, NONE, UNKNOWN, WIN, Nodes, Trees, children
from tengen.search.uct import UctSearch

MAX_LINE = 20  # plies of the lines in a snapshot
RESULTS = {UNKNOWN: None, WIN: "win", LOSS: "loss", DRAW: "draw"}


@dataclass(frozen=True)
class MoveInfo:
    """One move at the root. Values and results are for the player to move there."""

    move: str
    visits: int
    prior: float | None  # None: the search has no priors
    value: float | None  # from -1 (lost) to 1 (won); None: nobody has looked at it
    proven: str | None  # "win", "loss", "draw"
    distance: int | None  # plies to the proven end
    is_exact: bool  # is the distance exact? Else it is the length of the line found, a bound
    line: tuple[str, ...]  # the moves expected, this one first

    @property
    def ending(self) -> str:
        """`win in 5`, `loss in ≤ 4`, `draw`, or nothing."""
        if self.proven is None or self.proven == "draw":
            return self.proven or ""
        return f"{self.proven} in {'' if self.is_exact else '≤ '}{self.distance}"


@dataclass(frozen=True)
class Snapshot:
    """A position as a search sees it at one moment; moves from the best to the worst. It never changes."""

    game: str
    played: tuple[str, ...]
    to_move: int
    search: str
    simulations: int  # new ones: those kept from the last move are not counted
    value: float  # from -1 (lost) to 1 (won) for the player to move
    best: str | None
    moves: tuple[MoveInfo, ...] = ()
    nodes: int = 0  # positions in the tree, or searched
    depth: int = 0  # plies of the longest line looked at
    memory: int = 0  # bytes that the search holds
    seconds: float = 0.0  # since it began
    is_final: bool = True  # has the search ended?

    @property
    def rate(self) -> float:
        """Simulations per second, or nodes per second of a search without simulations."""
        return (self.simulations or self.nodes) / self.seconds if self.seconds else 0.0

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        return asdict(self)

    def _repr_html_(self) -> str:
        """How a notebook shows it."""
        return f"<pre>{escape(self.to_text())}</pre>"

    def to_text(self, top: int = 10) -> str:
        """A table for people."""
        mover = ("first", "second")[self.to_move - 1]
        lines = [
            f"{self.search}, {self.simulations:,} simulations: {self.value:+.3f} for the {mover} player",
            f"{'move':<6}{'visits':>9}{'prior':>8}{'value':>8}  {'proven':<12} line",
        ]
        for info in self.moves[:top]:
            prior = "" if info.prior is None else f"{info.prior:.3f}"
            value = "" if info.value is None else f"{info.value:+.3f}"
            numbers = f"{info.visits:>9,}{prior:>8}{value:>8}"
            line = " ".join(info.line[:12])
            lines.append(f"{info.move:<6}{numbers}  {info.ending:<12} {line}".rstrip())
        if len(self.moves) > top:
            lines.append(f"… and {len(self.moves) - top} more")
        return "\n".join(lines)


def of_search(position: Position, search: Search, tree: int = 0) -> Snapshot:
    """What a tree of a search has found; may be asked while the search goes on. 3 ms with 50,000 nodes."""
    name, result, trees = cache(position.game.moves.name), search.result(), search.trees
    root, used, nodes = int(trees.roots[tree]), int(trees.used[tree]), trees.nodes
    soonest = lower_bounds(trees, tree) if result.proven[tree].any() else None
    infos = []
    for child in children(nodes, root):
        action = int(nodes.actions[child])
        proven = int(result.proven[tree, action])
        is_exact = soonest is not None and soonest[child - root] == nodes.distance[child]
        infos.append(
            MoveInfo(
                move=name(action),
                visits=int(result.visits[tree, action]),
                prior=round(float(result.priors[tree, action]), 6),
                value=round(float(result.q[tree, action]), 6),
                proven=RESULTS[proven],
                distance=int(result.distance[tree, action]) if proven in (WIN, LOSS) else None,
                is_exact=proven != UNKNOWN and bool(is_exact),
                line=tuple(name(a) for a in principal_variation(trees, tree, child, MAX_LINE)),
            )
        )
    infos += [
        MoveInfo(name(a), 0, round(float(result.priors[tree, a]), 6), None, None, None, False, (name(a),))
        for a in np.flatnonzero(result.legal[tree] & (result.visits[tree] == 0)).tolist()
    ]
    known = position.legal_mask if search.seen is None else position.legal_mask & search.seen[tree]
    infos += [  # the evaluator knows that these lose
        MoveInfo(name(a), 0, 0.0, None, RESULTS[LOSS], int(nodes.pruned[root]), False, (name(a),))
        for a in np.flatnonzero(known & ~result.legal[tree]).tolist()
    ]
    action = int(result.actions[tree])
    best = name(action) if action != NONE else None
    infos.sort(key=lambda info: (info.move == best, info.visits, info.value or 0, info.prior), reverse=True)
    return Snapshot(
        game=position.game.name,
        played=tuple(position.moves),
        to_move=position.to_move,
        search=type(search.settings).__name__,
        simulations=int(result.simulations[tree] - search.kept_visits[tree]),
        value=round(float(result.values[tree]), 6),
        best=best,
        moves=tuple(infos),
        nodes=used,
        depth=max_depth(nodes.parents, root, used),
        memory=search.memory,
    )


def of_uct(position: Position, search: UctSearch) -> Snapshot:
    """What a search with rollouts has found; may be asked while the search goes on."""
    name, result = cache(position.game.moves.name), search.result()
    infos = []
    for child in children(search.nodes, 0):
        action = int(search.nodes.actions[child])
        proven = int(result.proven[action])
        infos.append(
            MoveInfo(
                move=name(action),
                visits=int(result.visits[action]),
                prior=None,
                value=round(float(result.values[action]), 6),
                proven=RESULTS[proven],
                distance=int(result.distance[action]) if proven in (WIN, LOSS) else None,
                is_exact=bool(proven == WIN and result.distance[action] == 1),
                line=tuple(name(a) for a in search.line_to(child, MAX_LINE)),
            )
        )
    best = name(result.action)
    infos.sort(key=lambda info: (info.move == best, info.visits), reverse=True)
    return Snapshot(
        game=position.game.name,
        played=tuple(position.moves),
        to_move=position.to_move,
        search="Uct",
        simulations=result.simulations,
        value=round(float(result.values[result.action]), 6),
        best=best,
        moves=tuple(infos),
        nodes=search.used,
        depth=search.depth,
        memory=search.memory,
    )


def tree_text(game: Game, trees: Trees, tree: int = 0, depth: int = 2) -> str:
    """A tree as text: the board at the root, then a line per node, most visited first.

    N visits, Q the value for the player who chose the move, P its prior, V the evaluator's value for the
    player to move after it.
    """
    root, nodes = int(trees.roots[tree]), trees.nodes
    lines = [drawing.text(game, nodes.states[root]), "", _node_text(nodes, root, "root")]
    stack = [(child, 1) for child in _by_visits(nodes, root)]
    while stack:
        node, level = stack.pop(0)
        lines.append("  " * level + _node_text(nodes, node, game.moves.name(int(nodes.actions[node]))))
        if level < depth:
            stack = [(child, level + 1) for child in _by_visits(nodes, node)] + stack
    return "\n".join(lines) + "\n"


def _by_visits(nodes: Nodes, node: int) -> list[int]:
    return sorted(children(nodes, node), key=lambda child: -int(nodes.visits[child]))


def _node_text(nodes: Nodes, node: int, name: str) -> str:
    visits = int(nodes.visits[node])
    q = float(nodes.value_sums[node]) / max(visits, 1)
    prior = "" if nodes.parents[node] == NONE else f" P {nodes.edge_priors[node]:.3f}"
    text = f"{name:<5} N {visits:<5} Q {q:+.3f}{prior}"
    proven = int(nodes.proven[node])
    if proven == UNKNOWN:
        return f"{text} V {nodes.values[node]:+.3f}"
    ending = "" if proven == DRAW else f" in {nodes.distance[node]}"
    return f"{text} {RESULTS[proven]}{ending} for player {nodes.to_move[node]}"
