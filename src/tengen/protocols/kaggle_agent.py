"""A player for Kaggle's Connect X: bitboards, a network and a tree search in one file. It needs only numpy.

`tengen kaggle pack` copies this file and puts a trained network at its end, into WEIGHTS. Four parts:

    Board      the rules on bitboards, for every size: wins in one move, forced replies
    Network    priors and a value: a residual network whose weights fit every board size
    Search     PUCT on a graph of positions; results that are proven are never searched again
    Clock      2 seconds for a move, and a part of the bank of 60 seconds where the choice is still open

Where the network cannot play, because it has learned another number in a row, random games replace it.
"""

import base64
import json
import math
import random
import time
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Evaluate = Callable[[int, int], tuple[list[float], float]]  # (mine, theirs): a logit per column, a value

C_PUCT = 1.5  # weight of the prior against the value
FPU_REDUCTION = 0.2  # an unvisited move is taken to be worth the position's value less this
LARGEST_BOARD = 400  # cells; on larger boards one evaluation would take too long
LONGEST_ROLLOUT = 100  # plies; then it counts as a draw

MARGIN = 0.25  # seconds of every move that are never used: for what we cannot measure
LOADING = 0.5  # seconds of the first move, for importing numpy and unpacking the weights
RESERVE = 15.0  # seconds of the bank that are never used: for a machine that stalls
BANK_SHARE = 1 / 8  # of the rest of the bank: the most that one move takes


class Board:
    """The rules. A position is two integers with a bit per cell: the stones of the player to move and the
    opponent's. For six rows and seven columns:

     6 13 20 27 34 41 48      this row is always empty: it separates the columns
     5 12 19 26 33 40 47
     4 11 18 25 32 39 46
     3 10 17 24 31 38 45
     2  9 16 23 30 37 44      ↑ +1    → +7    ↗ +8    ↘ +6
     1  8 15 22 29 36 43
     0  7 14 21 28 35 42
    """

    def __init__(self, rows: int, cols: int, inarow: int) -> None:
        self.rows, self.cols, self.inarow = rows, cols, inarow
        self.height = rows + 1
        self.bottom = sum(1 << col * self.height for col in range(cols))
        self.cells = self.bottom * ((1 << rows) - 1)

    def playable(self, stones: int) -> int:
        """The lowest empty cell of each column that is not full."""
        return stones + self.bottom & self.cells

    def completing(self, stones: int) -> int:
        """The cells, empty or not, on which one more stone completes a row."""
        found = 0
        for step in (1, self.height, self.height + 1, self.height - 1):
            before, after = [self.cells], [self.cells]  # [n]: cells with n stones next to them on that side
            for distance in range(step, step * self.inarow, step):
                before.append(before[-1] & stones << distance)
                after.append(after[-1] & stones >> distance)
            for one, other in zip(before, reversed(after), strict=True):
                found |= one & other
        return found

    def column(self, cell: int) -> int:
        return (cell.bit_length() - 1) // self.height

    def read(self, cells: list[int], mark: int) -> tuple[int, int]:
        """(mine, theirs) from Kaggle's list of cells, which begins with the top row."""
        mine = theirs = 0
        for i, stone in enumerate(cells):
            cell = 1 << i % self.cols * self.height + self.rows - 1 - i // self.cols
            if stone == mark:
                mine |= cell
            elif stone:
                theirs |= cell
        return mine, theirs

    def planes(self, mine: int, theirs: int) -> Floats:
        """What the network sees: my stones, theirs, and ones if the first player is to move;  [3, H, W]"""
        found = np.empty((3, self.rows, self.cols), np.float32)
        for plane, stones in zip(found, (mine, theirs), strict=False):
            text = f"{stones:0{self.height * self.cols}b}"  # the last column comes first, each from the top
            bits = np.frombuffer(text.encode(), np.uint8).reshape(self.cols, self.height)
            plane[:] = bits[::-1, 1:].T - ord("0")
        found[2] = (mine | theirs).bit_count() % 2 == 0
        return found


def bits(cells: int) -> list[int]:
    """The single cells of a set."""
    found = []
    while cells:
        found.append(cells & -cells)
        cells &= cells - 1
    return found


class Convolution:
    """A convolution that keeps the board's size: the windows of all cells as columns of one matrix."""

    def __init__(self, weight: Floats, bias: Floats, rows: int, cols: int) -> None:
        """weight: [outputs, inputs, size, size]"""
        outputs, inputs, size, _ = weight.shape
        pad = size // 2
        self.weight, self.bias = weight.reshape(outputs, -1), bias[:, None]
        padded = np.zeros((inputs, rows + 2 * pad, cols + 2 * pad), np.float32)
        self.inner = padded[:, pad : pad + rows, pad : pad + cols]
        windows = np.lib.stride_tricks.sliding_window_view(padded, (size, size), (1, 2))
        self.windows = windows.transpose(0, 3, 4, 1, 2)
        self.shape = inputs * size * size, rows * cols

    def __call__(self, x: Floats) -> Floats:
        """[inputs, H·W] → [outputs, H·W]"""
        self.inner[:] = x.reshape(self.inner.shape)
        found: Floats = self.weight @ self.windows.reshape(self.shape) + self.bias
        return found


class Network:
    """A residual network: some of its blocks add means and maxima over the whole board to every cell."""

    def __init__(self, settings: Mapping[str, Any], weights: Mapping[str, Floats], board: Board) -> None:
        self.settings, self.weights, self.board = settings, weights, board
        self.layers: dict[str, Convolution] = {}
        for name, array in weights.items():
            if array.ndim == 4:
                layer = name.removesuffix(".weight")
                self.layers[layer] = Convolution(array, weights[f"{layer}.bias"], board.rows, board.cols)
        self.num_blocks = 1 + max(int(name.split(".")[1]) for name in weights if name.startswith("trunk."))

    def __call__(self, mine: int, theirs: int) -> tuple[list[float], float]:
        """The logits of all columns, and the value for the player to move."""
        x = relu(self.layers["first.0"](self.board.planes(mine, theirs)))
        for i in range(self.num_blocks):
            if (summary := f"trunk.{i}.summary") + ".weight" in self.weights:
                y = relu(self.layers[f"trunk.{i}.before.0"](x))
                y = relu(y + self._linear(summary, pooled(y))[:, None])
                x = relu(x + self.layers[f"trunk.{i}.after"](y))
            else:
                y = relu(self.layers[f"trunk.{i}.layers.0"](x))
                x = relu(x + self.layers[f"trunk.{i}.layers.2"](y))
        cells = relu(self.layers["policy.cells.0"](x)).reshape(-1, self.board.rows, self.board.cols)
        columns = np.concatenate((cells.mean(axis=1), cells.max(axis=1)))
        logits = self.weights["policy.out.weight"] @ columns + self.weights["policy.out.bias"][:, None]
        value = self._linear("value.2", relu(self._linear("value.0", pooled(x))))
        return logits[0].tolist(), self._value(value)

    def _linear(self, name: str, x: Floats) -> Floats:
        found: Floats = self.weights[name + ".weight"] @ x + self.weights[name + ".bias"]
        return found

    def _value(self, head: Floats) -> float:
        """The value itself, or made of win, draw and loss and of the plies left."""
        distances = np.array(self.settings["distances"])
        if not len(distances):
            return math.tanh(float(head[0]))
        win, _, loss = softmax(head[:3].tolist())
        return (win - loss) * float(softmax(head[3:].tolist()) @ self.settings["discount"] ** distances)


def relu(x: Floats) -> Floats:
    return np.maximum(x, 0, out=x)


def pooled(x: Floats) -> Floats:
    """Means and maxima over the board;  [C, H·W] → [2C]"""
    return np.concatenate((x.mean(axis=1), x.max(axis=1)))


def softmax(logits: list[float]) -> list[float]:
    top = max(logits)
    shares = [math.exp(logit - top) for logit in logits]
    total = sum(shares)
    return [share / total for share in shares]


def unpack(text: str) -> tuple[dict[str, Any], dict[str, Floats]]:
    """(settings, weights) of a packed network: a line of JSON, then all numbers as float16."""
    header, _, data = zlib.decompress(base64.b85decode(text.replace("\n", ""))).partition(b"\n")
    settings = json.loads(header)
    numbers, weights, first = np.frombuffer(data, np.float16).astype(np.float32), {}, 0
    for name, shape in settings["tensors"].items():
        last = first + math.prod(shape)
        weights[name], first = numbers[first:last].reshape(shape), last
    return settings, weights


class Rollouts:
    """The evaluator without a network: one random game, in which both sides see wins in one move."""

    def __init__(self, board: Board) -> None:
        self.board, self.random = board, random.Random(0)

    def __call__(self, mine: int, theirs: int) -> tuple[list[float], float]:
        board, sign = self.board, 1.0
        logits = [-2 * abs(2 * col + 1 - board.cols) / board.cols for col in range(board.cols)]  # inwards
        for _ in range(LONGEST_ROLLOUT):
            playable = board.playable(mine | theirs)
            if not playable:
                break
            if playable & board.completing(mine):
                return logits, sign
            urgent = bits(playable & board.completing(theirs))
            cell = urgent[0] if urgent else self.random.choice(bits(playable))
            mine, theirs, sign = theirs, mine | cell, -sign
        return logits, 0.0


class Node:
    """A position of the search. Values are for the player to move; lists have an entry per move."""

    __slots__ = ("children", "count", "moves", "plies", "priors", "q", "result", "total", "value", "visits")

    def __init__(self, moves: list[int], result: int | None = None, plies: int = 0) -> None:
        self.moves, self.priors = moves, [1.0] * len(moves)  # cells as single bits, without sure losses
        self.visits, self.q = [0] * len(moves), [0.0] * len(moves)
        self.children: list[Node | None] = [None] * len(moves)
        self.value, self.total, self.count = 0.0, 0.0, 0  # of the evaluation; sum and number of all values
        self.result, self.plies = result, plies  # if proven: 1 won, 0 drawn, -1 lost, after so many plies

    def is_lost(self, move: int) -> bool:
        child = self.children[move]
        return child is not None and child.result == 1


class Search:
    """PUCT: the move with the largest Q + c·P·√N / (1 + n) is visited next (Silver et al. 2017). Positions
    reached by different orders of moves are one node; visits and Q belong to the move."""

    def __init__(self, board: Board, evaluate: Evaluate, discount: float) -> None:
        self.board, self.evaluate, self.discount = board, evaluate, discount
        self.nodes: dict[tuple[int, int], Node] = {}  # kept from move to move

    def choose(self, mine: int, theirs: int, is_over: Callable[[Node], bool]) -> int:
        """The column to play. It searches until the root is proven, has a single move, or is_over(root)."""
        root = self.root(mine, theirs)
        while root.result is None and len(root.moves) > 1 and not is_over(root):
            self.simulate(root, mine, theirs)
        return self.board.column(self.best(root))

    def root(self, mine: int, theirs: int) -> Node:
        """The node of a position. Positions with as many stones or fewer are forgotten."""
        stones = (mine | theirs).bit_count()
        root = self.nodes.get((mine, theirs)) or self.expand(mine, theirs)
        self.nodes = {key: node for key, node in self.nodes.items() if (key[0] | key[1]).bit_count() > stones}
        self.nodes[mine, theirs] = root
        return root

    def expand(self, mine: int, theirs: int) -> Node:
        """A new node: proven by the rules if they can, else evaluated, else with a single move."""
        board, stones = self.board, mine | theirs
        playable = board.playable(stones)
        if wins := playable & board.completing(mine):
            return Node(bits(wins)[:1], result=1, plies=1)
        if not playable:
            return Node([], result=0)
        threats = board.completing(theirs) & ~stones
        urgent = playable & threats
        safe = (urgent or playable) & ~(threats >> 1)  # never below a cell on which the opponent wins
        if urgent & (urgent - 1) or not safe:  # two threats at once, or every move allows a win
            return Node(bits(urgent or playable)[:1], result=-1, plies=2)
        node = Node(bits(safe))
        if len(node.moves) > 1:
            logits, value = self.evaluate(mine, theirs)
            node.priors = softmax([logits[board.column(cell)] for cell in node.moves])
            node.value, node.total, node.count = value, value, 1
        return node

    def simulate(self, root: Node, mine: int, theirs: int) -> None:
        """One visit: down to a new position or a proven one, and back up with its value."""
        path: list[tuple[Node, int]] = []
        node = root
        # 1. down; a single reply is played at once, so that it costs no visit of its own
        while node.result is None:
            move = self._select(node)
            path.append((node, move))
            mine, theirs = theirs, mine | node.moves[move]
            if (child := node.children[move]) is not None:
                node = child
                continue
            child = self.nodes.get((mine, theirs)) or self.expand(mine, theirs)
            node.children[move] = self.nodes[mine, theirs] = child
            node = child
            if node.count:
                break
        value = self._worth(node) if node.result is not None else node.total / node.count
        # 2. up; the sign changes with the player to move
        for node, move in reversed(path):
            value *= -self.discount
            node.visits[move] += 1
            node.q[move] += (value - node.q[move]) / node.visits[move]
            child = node.children[move]
            if child is not None and child.result is not None:
                node.q[move] = -self.discount * self._worth(child)
                self._settle(node)
                if node.result is not None:
                    value = self._worth(node)
            node.total += value
            node.count += 1

    def best(self, root: Node) -> int:
        """The cell to play: the soonest proven win, else the most visited move, else the latest loss."""

        def rank(i: int) -> tuple[int, int, float]:
            child = root.children[i]
            if child is None or not child.result:
                return 0, root.visits[i], root.priors[i]
            return -child.result, child.result * child.plies, root.priors[i]

        return root.moves[max(range(len(root.moves)), key=rank)]

    def _select(self, node: Node) -> int:
        exploration = C_PUCT * math.sqrt(node.count)
        unvisited = node.value - FPU_REDUCTION
        best, best_score = 0, -math.inf
        for i, visits in enumerate(node.visits):
            if not visits:
                score = unvisited + exploration * node.priors[i]
            elif node.is_lost(i):
                continue
            else:
                score = node.q[i] + exploration * node.priors[i] / (1 + visits)
            if score > best_score:
                best, best_score = i, score
        return best

    def _settle(self, node: Node) -> None:
        """Proves a node if its children do: by one that is lost for the opponent, or by all of them."""
        found = [(child.result, child.plies) for child in node.children if child and child.result is not None]
        if won := [plies for result, plies in found if result == -1]:
            node.result, node.plies = 1, 1 + min(won)
        elif len(found) == len(node.moves):
            best = min(result for result, _ in found)
            node.result, node.plies = -best, 1 + max(plies for result, plies in found if result == best)

    def _worth(self, node: Node) -> float:
        return (node.result or 0) * self.discount**node.plies


class Clock:
    """When a search may stop. `bank`: the seconds of the whole game that are left beyond those per move."""

    def __init__(self, seconds: float, bank: float, is_first: bool = False) -> None:
        self.began = time.perf_counter()
        self.normal = max(seconds - MARGIN - LOADING * is_first, seconds / 4)
        self.most = self.normal + max(0.0, bank - RESERVE) * BANK_SHARE
        self.before = 1 << 62

    def is_over(self, root: Node) -> bool:
        """True when the time is used; earlier if the choice is clear and no other move can overtake it."""
        seconds = time.perf_counter() - self.began
        self.before = min(self.before, root.count)  # visits kept from earlier moves
        open_moves = [i for i in range(len(root.moves)) if not root.is_lost(i)]
        if seconds >= self.most or len(open_moves) < 2:
            return True
        leader, second = sorted(open_moves, key=lambda i: -root.visits[i])[:2]
        lead = root.visits[leader] - root.visits[second]
        best = max((root.q[i] for i in open_moves if root.visits[i]), default=0.0)
        # Clear: twice as many visits as any other, and none looks better. Else the bank is used.
        if lead < root.visits[second] or root.q[leader] < best or seconds < self.normal / 8:
            return False
        return lead * seconds > (root.count - self.before) * (self.normal - seconds)


def new_search(board: Board, packed: str = "") -> Search:
    """A search with the packed network; without one, or if it cannot play this board, with random games."""
    if packed and board.rows * board.cols <= LARGEST_BOARD:
        settings, weights = unpack(packed)
        if settings["inarow"] == board.inarow:
            return Search(board, Network(settings, weights, board), settings["discount"])
    return Search(board, Rollouts(board), discount=0.99)


_searches: dict[tuple[int, int, int], Search] = {}  # by board: rows, columns, stones in a row


def agent(observation: Mapping[str, Any], configuration: Mapping[str, Any]) -> int:
    """The column to play, counted from 0. Kaggle calls the last function of a file."""
    size = configuration["rows"], configuration["columns"], configuration["inarow"]
    seconds, bank = configuration.get("actTimeout", 2), observation.get("remainingOverageTime", 0)
    clock = Clock(seconds, bank, is_first=size not in _searches)
    if size not in _searches:
        _searches[size] = new_search(Board(*size), WEIGHTS)
    search = _searches[size]
    mine, theirs = search.board.read(observation["board"], observation["mark"])
    return search.choose(mine, theirs, clock.is_over)


WEIGHTS = ""  # a network as text, see unpack
