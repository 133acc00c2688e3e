"""A network of lines (nets/lines.py) by table: the same answers as its ONNX file, ten times as fast.

The file lookup.safetensors holds the layers, without batch normalisation. From those that see a line alone, a
table is made once for every line there is; a line is found by its number, written with three digits:

    cell, line to the right      . . X O . (X) . O .       0 empty, 1 the player's, 2 the opponent's
    number                       0 0 1 2 0  1  0 2 0       in base 3, after the numbers of shorter lines

1. number the four lines of every cell       2. add up their features, int16, and those of other planes
3. 3×3 convolution of each feature alone     4. means and maxima → value, plies left, weights → logits
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import safetensors
import safetensors.numpy
from numba import njit

from tengen.errors import UserError
from tengen.evaluators.evaluator import Floats
from tengen.games.game import Planes

Ints = npt.NDArray[np.int64]
Table = npt.NDArray[np.int16]

REACH = 5  # cells on each side: six in a row, which exact rules must tell from five, fit into a line
DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))  # rows, columns
SIDES = [(before, after) for before in range(REACH + 1) for after in range(REACH + 1)]  # of a line's own cell
FIRST_NUMBERS: Ints = np.cumsum([0, *(3 ** (before + 1 + after) for before, after in SIDES)])  # of each SIDES
NUM_LINES = int(FIRST_NUMBERS[-1])  # 397,488
AT_ONCE = 4  # cells: 81 lines. More are multiplied by several threads of BLAS, which wait for each other
POWERS: Ints = 3 ** np.arange(2 * REACH + 2)
PLIES_SCALE = np.float32(20.0)  # as in nets/net.py


class Layers(NamedTuple):
    """The layers, as they are stored; C features, F of a line before the last layer, G of the board."""

    first: Floats  # [11, 3, F], what each cell of a line adds, by its digit
    first_bias: Floats  # [F]
    inner: Floats  # [2, F, F], y = x + inner₁ · relu(inner₀ · x): outputs × inputs
    inner_bias: Floats  # [2, F]
    last: Floats  # [F, C]
    others: Floats  # [X, C], what the other planes add to a cell
    cell_bias: Floats  # [C]
    around: Floats  # [9, C], row by row
    around_bias: Floats  # [C]
    summary: Floats  # [2 C, G]
    summary_bias: Floats  # [G]
    deeper: Floats  # [G, G], inputs × outputs
    deeper_bias: Floats  # [G]
    value: Floats  # [G, 2], the value and the plies left
    value_bias: Floats  # [2]
    policy: Floats  # [G, C]
    policy_bias: Floats  # [C]


class Board(NamedTuple):
    """All lines across a board of one size."""

    cells: Ints  # of one line after the other
    begins: Ints  # [L + 1], where each begins in `cells`
    directions: Ints  # [L]


def to_bytes(layers: Layers) -> bytes:
    """The layers, and the steps of their table, as the bytes of a safetensors file."""
    arrays = {name: np.ascontiguousarray(one) for name, one in _named(layers)}
    return bytes(safetensors.numpy.save(arrays | {"steps": steps_of(layers)}))


def from_bytes(data: bytes) -> tuple[Layers, Floats]:
    """The layers and the steps that `to_bytes` wrote. UserError if it did not."""
    try:
        found = safetensors.numpy.load(data)
        steps = found.pop("steps", np.empty(0, np.float32))
        layers = Layers(**found)
    except (safetensors.SafetensorError, TypeError, ValueError) as error:
        raise UserError(f"expected the layers of a network of lines: {error}") from None
    f, c, g = len(layers.first_bias), len(layers.cell_bias), len(layers.summary_bias)
    shapes = {
        "first": (2 * REACH + 1, 3, f), "first_bias": (f,), "inner": (2, f, f), "inner_bias": (2, f),
        "last": (f, c), "others": (len(layers.others), c), "cell_bias": (c,),
        "around": (9, c), "around_bias": (c,), "summary": (2 * c, g), "summary_bias": (g,),
        "deeper": (g, g), "deeper_bias": (g,), "value": (g, 2), "value_bias": (2,),
        "policy": (g, c), "policy_bias": (c,),
    }  # fmt: skip
    shapes["steps"] = (c,)
    for name, one in [*_named(layers), ("steps", steps)]:
        if one.shape != shapes[name] or one.dtype != np.float32:
            raise UserError(f"expected {name} float32{shapes[name]}, got {one.dtype}{one.shape}")
    if not (steps > 0).all():
        raise UserError(f"expected steps above 0, got {steps.min()}")
    return layers, steps


def _named(layers: Layers) -> list[tuple[str, Floats]]:
    return list(zip(Layers._fields, layers, strict=True))


@dataclass(frozen=True)
class Lookup:
    """A network of lines, ready to answer. Threads may share it."""

    layers: Layers
    table: Table  # [NUM_LINES, C], the features of every line, as multiples of their steps
    steps: Floats  # [C]

    @classmethod
    def of(cls, data: bytes) -> "Lookup":
        layers, steps = from_bytes(data)
        return cls(layers, table_of(layers, steps), steps)

    def answers(self, planes: Planes) -> tuple[Floats, Floats, Floats]:
        """Logits [B, H·W], values [B] and plies left [B] for planes [B, C, H, W]."""
        batch, num_planes, rows, cols = planes.shape
        if num_planes != 2 + len(self.layers.others):
            raise UserError(f"expected {2 + len(self.layers.others)} planes, got {num_planes}")
        logits = np.empty((batch, rows * cols), np.float32)
        heads = np.empty((batch, 2), np.float32)
        _answer(planes, self.table, self.steps, logits, heads, *board_of(rows, cols), *self.layers)
        return logits, np.tanh(heads[:, 0]), PLIES_SCALE * np.logaddexp(0, heads[:, 1])


@lru_cache
def board_of(rows: int, cols: int) -> Board:
    """All lines of a board, in four directions."""
    lines = []
    for direction, (down, right) in enumerate(DIRECTIONS):
        for row in range(rows):
            for col in range(cols):
                if not (0 <= row - down < rows and 0 <= col - right < cols):  # the first cell of a line
                    length = next(
                        n
                        for n in range(rows + cols)
                        if not (row + n * down < rows and 0 <= col + n * right < cols)
                    )
                    cells = [(row + n * down) * cols + col + n * right for n in range(length)]
                    lines.append((direction, cells))
    return Board(
        np.array([cell for _, cells in lines for cell in cells]),
        np.cumsum([0, *(len(cells) for _, cells in lines)]),
        np.array([direction for direction, _ in lines]),
    )


def features(layers: Layers, before: int, after: int) -> Iterator[Floats]:
    """The features of all lines with so many cells before and after their own one, in their order: some of
    them at a time, [N, C], so that they stay in the processor's cache."""
    cells = layers.first[REACH - before : REACH + after + 1]
    inner, inner_bias = np.ascontiguousarray(layers.inner.transpose(0, 2, 1)), layers.inner_bias
    ends = _sums(np.zeros_like(layers.first_bias), cells[-AT_ONCE:])
    for start in _sums(layers.first_bias, cells[:-AT_ONCE]):
        x = np.maximum(start + ends, 0)
        hidden = np.maximum(x @ inner[0] + inner_bias[0], 0)
        x += hidden @ inner[1]
        x += inner_bias[1]
        np.maximum(x, 0, out=x)
        yield x @ layers.last


def _sums(first: Floats, cells: Floats) -> Floats:
    """`first` and one of three rows for each cell, all combinations, the last cell the fastest;  [N, F]"""
    sums = first[None]
    for digits in cells:
        sums = (sums[:, None] + digits).reshape(-1, sums.shape[1])
    return sums


def table_of(layers: Layers, steps: Floats) -> Table:
    """The features of every line, each in multiples of its step;  [NUM_LINES, C]"""
    table = np.empty((NUM_LINES, layers.last.shape[1]), np.int16)
    finer = layers._replace(last=layers.last / steps)
    done = 0
    for before, after in SIDES:
        for some in features(finer, before, after):
            table[done : done + len(some)] = np.rint(some, out=some)
            done += len(some)
    return table


def steps_of(layers: Layers) -> Floats:
    """The smallest step of each feature with which the sum of any four entries fits into 16 bits;  [C]"""
    largest = np.full(layers.last.shape[1], 1e-6, np.float32)
    for sides in SIDES:
        for some in features(layers, *sides):
            np.maximum(largest, np.abs(some).max(axis=0), out=largest)
    return largest / np.float32(np.iinfo(np.int16).max // 4 - 1)


# Sums may be taken in any order, so that they are computed with vectors. A row's answer does not depend on
# the rest of the batch.
_SUMS = {"reassoc", "contract"}


@njit(cache=True, nogil=True, fastmath=_SUMS, error_model="numpy")
def _answer(
    planes: Planes,
    table: Table,
    steps: Floats,
    logits: Floats,
    heads: Floats,
    cells: Ints,
    begins: Ints,
    directions: Ints,
    first: Floats,
    first_bias: Floats,
    inner: Floats,
    inner_bias: Floats,
    last: Floats,
    others: Floats,
    cell_bias: Floats,
    around: Floats,
    around_bias: Floats,
    summary: Floats,
    summary_bias: Floats,
    deeper: Floats,
    deeper_bias: Floats,
    value: Floats,
    value_bias: Floats,
    policy: Floats,
    policy_bias: Floats,
) -> None:
    rows, cols, channels = planes.shape[2], planes.shape[3], table.shape[1]
    num_cells, width = rows * cols, cols + 2
    numbers = np.empty((num_cells, 4), np.int64)
    x = np.zeros(((rows + 2) * width, channels), np.float32)  # with a frame of zeros around the board
    z = np.empty((num_cells, channels), np.float32)
    base, sums = np.empty(channels, np.float32), np.empty(channels, np.float32)
    maxima, weights = np.empty(channels, np.float32), np.empty(channels, np.float32)
    pooled = np.empty(2 * channels, np.float32)
    board, wider = np.empty(len(summary_bias), np.float32), np.empty(len(summary_bias), np.float32)
    digits = np.empty(num_cells, np.int64)
    for b in range(len(planes)):
        # 1. the numbers of the lines
        for row in range(rows):
            for col in range(cols):
                mine, theirs = planes[b, 0, row, col] != 0, planes[b, 1, row, col] != 0
                digits[row * cols + col] = 1 if mine else 2 if theirs else 0
        _number(digits, cells, begins, directions, numbers)
        # 2. the features of each cell
        for row in range(rows):
            for col in range(cols):
                cell, at = row * cols + col, (row + 1) * width + col + 1
                i, j, k, n = numbers[cell, 0], numbers[cell, 1], numbers[cell, 2], numbers[cell, 3]
                for c in range(channels):
                    base[c] = cell_bias[c]
                for plane in range(len(others)):
                    level = planes[b, 2 + plane, row, col]
                    if level != 0:
                        for c in range(channels):
                            base[c] += level * others[plane, c]
                for c in range(channels):
                    total = np.int16(table[i, c] + table[j, c] + table[k, c] + table[n, c])
                    x[at, c] = max(steps[c] * np.float32(total) + base[c], np.float32(0))
        # 3. around each cell; 4. means and maxima
        for c in range(channels):
            sums[c] = maxima[c] = 0
        for row in range(rows):
            for col in range(cols):
                cell, at = row * cols + col, (row + 1) * width + col + 1
                above, below = at - width, at + width
                for c in range(channels):  # in one sum: twice as fast as cell by cell
                    total = (
                        around_bias[c] + x[at, c]
                        + around[0, c] * x[above - 1, c] + around[1, c] * x[above, c]
                        + around[2, c] * x[above + 1, c] + around[3, c] * x[at - 1, c]
                        + around[4, c] * x[at, c] + around[5, c] * x[at + 1, c]
                        + around[6, c] * x[below - 1, c] + around[7, c] * x[below, c]
                        + around[8, c] * x[below + 1, c]
                    )  # fmt: skip
                    z[cell, c] = max(total, np.float32(0))
                for c in range(channels):
                    sums[c] += z[cell, c]
                    maxima[c] = max(maxima[c], z[cell, c])
        for c in range(channels):
            pooled[c], pooled[channels + c] = sums[c] / np.float32(num_cells), maxima[c]
        # 5. the heads
        _linear(pooled, summary, summary_bias, board)
        _relu(board)
        _linear(board, deeper, deeper_bias, wider)
        _relu(wider)
        _linear(wider, value, value_bias, heads[b])
        _linear(wider, policy, policy_bias, weights)
        for cell in range(num_cells):
            logit = np.float32(0)
            for c in range(channels):
                logit += weights[c] * z[cell, c]
            logits[b, cell] = logit


@njit(cache=True, nogil=True)
def _number(digits: Ints, cells: Ints, begins: Ints, directions: Ints, numbers: Ints) -> None:
    """The numbers of the four lines of each cell;  [H·W, 4]. The stones of a whole line across the board are
    one number too, whose middle digits are a cell's line."""
    prefixes = np.empty(len(digits) + 1, np.int64)
    for line in range(len(directions)):
        begin, length = begins[line], begins[line + 1] - begins[line]
        prefixes[0] = 0
        for i in range(length):
            prefixes[i + 1] = 3 * prefixes[i] + digits[cells[begin + i]]
        for i in range(length):
            before, after = min(REACH, i), min(REACH, length - 1 - i)
            number = prefixes[i + after + 1] - prefixes[i - before] * POWERS[before + after + 1]
            numbers[cells[begin + i], directions[line]] = FIRST_NUMBERS[before * (REACH + 1) + after] + number


@njit(cache=True, nogil=True, fastmath=_SUMS)
def _linear(x: Floats, weights: Floats, bias: Floats, out: Floats) -> None:
    """out = x · weights + bias."""
    for j in range(len(out)):
        out[j] = bias[j]
    for i in range(len(x)):
        for j in range(len(out)):
            out[j] += x[i] * weights[i, j]


@njit(cache=True, nogil=True)
def _relu(x: Floats) -> None:
    for i in range(len(x)):
        x[i] = max(x[i], np.float32(0))
