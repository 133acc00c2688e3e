"""The searches again, slow and obvious: nodes as objects, float64, every formula written out where it is used.

Written from the papers, sharing no code with the product but the rules of the games:

    PUCT         Silver et al. 2017, Methods
    Gumbel       Danihelka et al., ICLR 2022
    MCTS-Solver  Winands et al. 2008, with draws and distances

A value is for the player to move at the node it belongs to; Q(s, a) is for the player to move at s.
"""

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tengen.evaluators.evaluator import Evaluator
from tengen.games.game import TO_MOVE, Game, State

UNKNOWN, WIN, LOSS, DRAW = 0, 1, 2, 3  # proven results, for the player to move


@dataclass(eq=False)  # a node equals itself alone
class Node:
    """A position that has been visited."""

    state: State
    to_move: int
    value: float  # the evaluator's; of no use once the node is proven
    priors: dict[int, float]  # of the legal actions; empty if the game is over
    proven: int = UNKNOWN
    distance: int = 0  # plies to the proven end
    pruned: int = 0  # plies to the end after moves that the evaluator knows to lose
    children: dict[int, "Node"] = field(default_factory=dict)
    visits: dict[int, int] = field(default_factory=dict)  # N(s, a), 0 before the first
    returns: dict[int, list[float]] = field(default_factory=dict)  # what each visit of an action brought


class World:
    """Makes nodes: the rules and the evaluator, each position asked for once."""

    def __init__(self, game: Game, evaluator: Evaluator) -> None:
        self.game, self.evaluator = game, evaluator
        self._known: dict[bytes, tuple[int, int, float, dict[int, float]]] = {}
        self._after: dict[tuple[bytes, int], State] = {}

    def node(self, state: State) -> Node:
        key = state.tobytes()
        if key not in self._known:
            self._known[key] = self._look(state)
        proven, distance, value, priors = self._known[key]
        actions = sorted(priors)
        node = Node(
            state, int(state[TO_MOVE]), value, dict(priors), proven,
            visits=dict.fromkeys(actions, 0), returns={a: [] for a in actions},
        )  # fmt: skip
        if proven == UNKNOWN:
            node.pruned = distance
        else:
            node.distance = distance
        return node

    def root(self, state: State, discount: float) -> Node:
        """A root: what the evaluator proves of it is shown by its moves. A win is visited at once."""
        node = self.node(state)
        if node.proven == UNKNOWN or not node.priors:
            return node
        proven, distance, node.proven, node.distance = node.proven, node.distance, UNKNOWN, 0
        if proven == WIN:
            action = max(node.priors, key=lambda a: node.priors[a])
            child = self.node(self.after(state, action))
            if child.priors:
                child.proven = WIN if child.to_move == node.to_move else LOSS
                child.distance = distance - 1
            node.children[action] = child
            back_up([(node, action)], discount)
        return node

    def after(self, state: State, action: int) -> State:
        key = state.tobytes(), action
        if key not in self._after:
            self._after[key] = self.game.after(state, action)
        return self._after[key]

    def _look(self, state: State) -> tuple[int, int, float, dict[int, float]]:
        """(proven, distance, value, priors)"""
        is_over, result = self.game.outcome(state)
        if is_over:
            return (DRAW if result == 0 else WIN if result > 0 else LOSS), 0, float(result), {}
        legal = self.game.legal_mask(state)
        evaluation = self.evaluator.evaluate(state[None], legal[None])
        proven, distance = UNKNOWN, 0
        if evaluation.playable is not None:
            assert evaluation.proven is not None and evaluation.distance is not None
            legal = evaluation.playable[0]
            proven, distance = int(evaluation.proven[0]), int(evaluation.distance[0])
        logits = {int(a): float(evaluation.logits[0, a]) for a in np.flatnonzero(legal)}
        highest = max(logits.values())
        weights = {a: math.exp(logit - highest) for a, logit in logits.items()}
        total = sum(weights.values())
        priors = {a: weight / total for a, weight in weights.items()}
        return proven, distance, float(evaluation.values[0]), priors


def exact_value(node: Node, discount: float) -> float:
    """What a proven node is worth to the player to move there: a win in d plies γᵈ."""
    return {WIN: 1.0, LOSS: -1.0, DRAW: 0.0}[node.proven] * discount**node.distance


def seen_from(parent: Node, child: Node, value: float, discount: float) -> float:
    """A value of the child for the player to move at the parent, one ply earlier."""
    return discount * value if child.to_move == parent.to_move else -discount * value


def edge_value(node: Node, action: int, discount: float) -> float:
    """Q(s, a) of an action that has been visited: exact if proven, else the mean of its returns."""
    child = node.children.get(action)  # None while it waits for its evaluation
    if child is not None and child.proven != UNKNOWN:
        return seen_from(node, child, exact_value(child, discount), discount)
    return sum(node.returns[action]) / node.visits[action]


def after(root: Node, action: int, world: World, discount: float) -> Node:
    """The root after a move; -1: the game is over and stays. One that only the evaluator proved is new."""
    if action < 0:
        return root
    child = root.children.get(action)
    if child is None or (child.proven != UNKNOWN and child.priors and not child.children):
        return world.root(world.after(root.state, action), discount)
    return child


def make_leaf(path: list[tuple[Node, int]], world: World) -> None:
    """Makes the node at the end of a path if it is new."""
    node, action = path[-1]
    if action not in node.children:
        node.children[action] = world.node(world.after(node.state, action))


def back_up(path: list[tuple[Node, int]], discount: float) -> None:
    """Brings the value of the node at the end of a path to every edge of the path, and what it proves."""
    parent, action = path[-1]
    node = parent.children[action]
    value = node.value if node.proven == UNKNOWN else exact_value(node, discount)
    for parent, action in reversed(path):
        value = seen_from(parent, node, value, discount)
        parent.visits[action] += 1
        parent.returns[action].append(value)
        prove(parent)
        node = parent


def prove(node: Node) -> None:
    """What the proven children say: one good child is a win; all bad or drawn, the best of them."""
    good: list[int] = []
    drawn: list[int] = []
    bad: list[int] = []
    for child in node.children.values():
        if child.proven == DRAW:
            drawn.append(child.distance)
        elif child.proven != UNKNOWN:
            is_good = (child.proven == WIN) == (child.to_move == node.to_move)
            (good if is_good else bad).append(child.distance)
    if good:
        node.proven, node.distance = WIN, 1 + min(good)
    elif len(drawn) + len(bad) == len(node.priors):
        node.proven, node.distance = DRAW if drawn else LOSS, max(node.pruned, 1 + max(drawn + bad))


def minimax(game: Game, state: State, known: dict[bytes, int]) -> int:
    """WIN, LOSS or DRAW for the player to move, by looking at everything; `known` grows."""
    key = state.tobytes()
    if key not in known:
        is_over, value = game.outcome(state)
        if not is_over:
            values = []
            for action in np.flatnonzero(game.legal_mask(state)):
                next_state = game.after(state, int(action))
                value = {WIN: 1, DRAW: 0, LOSS: -1}[minimax(game, next_state, known)]
                values.append(value if next_state[TO_MOVE] == state[TO_MOVE] else -value)
            value = max(values)
        known[key] = WIN if value > 0 else LOSS if value < 0 else DRAW
    return known[key]


# ---- PUCT


@dataclass(frozen=True)
class SlowPuct:
    c_puct: float
    fpu_reduction: float | None  # None: an unvisited action is worth 0; else the node's value less this
    discount: float
    virtual_loss: float = 1.0  # what a leaf that waits for its evaluation counts as


def puct_round(root: Node, world: World, settings: SlowPuct, num_leaves: int = 1) -> int:
    """One simulation, or several whose leaves are evaluated together; none if the root is proven. How many?

    A leaf that waits counts as a visit that lost, for the player of every edge on its path. Who runs into a
    leaf that waits goes without one, and so would all that come after.
    """
    paths: list[list[tuple[Node, int]]] = []
    while len(paths) < num_leaves and root.proven == UNKNOWN:
        node, path = root, []
        while node.proven == UNKNOWN:
            path.append((node, puct_choice(node, settings)))
            if path[-1][1] not in node.children:
                break
            node = node.children[path[-1][1]]
        parent, action = path[-1]
        if action not in parent.children and path[-1] in [other[-1] for other in paths]:
            break
        paths.append(path)
        for node, action in path:
            node.visits[action] += 1
            node.returns[action].append(-settings.virtual_loss)
    for path in paths:
        make_leaf(path, world)
    for path in paths:
        for node, action in path:
            node.visits[action] -= 1
            node.returns[action].remove(-settings.virtual_loss)
        back_up(path, settings.discount)
    return len(paths)


def puct_choice(node: Node, settings: SlowPuct) -> int:
    """argmax_a Q(a) + c·P(a)·√N / (1 + N(a)), N = the visit that evaluated the node and those of its edges.

    Not a move that is proven to lose."""
    n = 1 + sum(node.visits.values())
    urgency = 0.0 if settings.fpu_reduction is None else node.value - settings.fpu_reduction
    scores = {}
    for action, prior in node.priors.items():
        child = node.children.get(action)
        if child is not None and child.proven == (LOSS if child.to_move == node.to_move else WIN):
            continue
        q = edge_value(node, action, settings.discount) if node.visits[action] else urgency
        scores[action] = q + settings.c_puct * prior * math.sqrt(n) / (1 + node.visits[action])
    return max(scores, key=lambda action: scores[action])


def rank(node: Node, action: int) -> tuple[int, int]:
    """How good it is to play an action: the fastest win, the most visited, at last the slowest loss."""
    child = node.children.get(action)
    if child is None or child.proven in (UNKNOWN, DRAW):
        return 1, node.visits[action]
    is_good = (child.proven == WIN) == (child.to_move == node.to_move)
    return (2, -child.distance) if is_good else (0, child.distance)


def mean_value(node: Node, discount: float) -> float:
    """What a search says of a node: exact if proven, else the mean of its own value and all returns."""
    if node.proven != UNKNOWN:
        return exact_value(node, discount)
    returns = [value for values in node.returns.values() for value in values]
    return (node.value + sum(returns)) / (1 + len(returns))


# ---- Gumbel


@dataclass(frozen=True)
class SlowGumbel:
    num_considered: int
    c_visit: float
    c_scale: float
    discount: float


@dataclass(frozen=True)
class GumbelFound:
    policy: dict[int, float]  # the improved policy at the root
    action: int


def gumbel_search(
    root: Node,
    world: World,
    settings: SlowGumbel,
    num_simulations: int,
    noise: npt.NDArray[np.float32],  # [A], Gumbel draws, zeros for none
) -> GumbelFound:
    """Sequential halving at the root; stops as soon as the root is proven."""
    base = {a: float(noise[a]) + math.log(prior) for a, prior in root.priors.items()}  # g(a) + log P(a)

    def score(action: int) -> float:
        q = edge_value(root, action, settings.discount) if root.visits[action] else 0.0
        return base[action] + sigma(root, q, settings)

    # 1. the k actions that share the simulations
    k = min(settings.num_considered, num_simulations, len(base))
    candidates = sorted(base, key=lambda action: -base[action])[:k]
    # 2. each phase gets about as many of them, and visits its actions equally often
    phases = max(1, math.ceil(math.log2(k)))
    remaining, count, left = candidates, k, num_simulations
    while left > 0 and root.proven == UNKNOWN:
        for _ in range(max(1, num_simulations // (phases * count))):
            visited: list[int] = []
            while left > 0 and root.proven == UNKNOWN and len(visited) < count:
                # One by one: each visit may raise max N, and with it σ. Ranking all of them before the first
                # visit of a phase would now and then let another action go on.
                action = max((a for a in remaining if a not in visited), key=score)
                gumbel_simulation(root, action, world, settings)
                visited.append(action)
                left -= 1
            remaining = visited
        count = max(min(2, k), count // 2)  # the better half, and never fewer than two
    # 3. the best of those visited most; a move that is proven to lose only if there is no other
    open_ones = [a for a in candidates if rank(root, a)[0] > 0]
    if not open_ones:
        return GumbelFound(
            improved_policy(root, settings), max(root.priors, key=lambda a: (rank(root, a), root.priors[a]))
        )
    most = max(root.visits[action] for action in open_ones)
    action = max((a for a in open_ones if root.visits[a] == most), key=score)
    return GumbelFound(improved_policy(root, settings), action)


def gumbel_simulation(root: Node, action: int, world: World, settings: SlowGumbel) -> None:
    """One simulation that begins with this action; below it, visits in proportion to the improved policy."""
    path = [(root, action)]
    while action in path[-1][0].children:
        node = path[-1][0].children[action]
        if node.proven != UNKNOWN:
            break
        action = interior_choice(node, settings)
        path.append((node, action))
    make_leaf(path, world)
    back_up(path, settings.discount)


def interior_choice(node: Node, settings: SlowGumbel) -> int:
    """argmax_a π'(a) - N(a) / (1 + ΣN)   (Section 5)"""
    policy = improved_policy(node, settings)
    n = sum(node.visits.values())
    return max(policy, key=lambda action: policy[action] - node.visits[action] / (1 + n))


def improved_policy(node: Node, settings: SlowGumbel) -> dict[int, float]:
    """π' = softmax(log P + σ(completed Q)), where an unvisited action has v_mix."""
    v_mix = mixed_value(node, settings.discount)
    logits = {}
    for action, prior in node.priors.items():
        q = edge_value(node, action, settings.discount) if node.visits[action] else v_mix
        logits[action] = math.log(prior) + sigma(node, q, settings)
    highest = max(logits.values())
    weights = {action: math.exp(logit - highest) for action, logit in logits.items()}
    total = sum(weights.values())
    return {action: weight / total for action, weight in weights.items()}


def sigma(node: Node, q: float, settings: SlowGumbel) -> float:
    """σ(q) = (c_visit + max_b N(b)) · c_scale · q"""
    return (settings.c_visit + max(node.visits.values())) * settings.c_scale * q


def mixed_value(node: Node, discount: float) -> float:
    """v_mix = (v + ΣN · Σ_visited P(a) Q(a) / Σ_visited P(a)) / (1 + ΣN)   (Appendix D)"""
    visited = [action for action in node.priors if node.visits[action]]
    if not visited:
        return node.value
    n = sum(node.visits.values())
    share = sum(node.priors[action] for action in visited)
    mean = sum(node.priors[action] * edge_value(node, action, discount) for action in visited) / share
    return (node.value + n * mean) / (1 + n)
