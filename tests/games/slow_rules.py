"""The rules of the m,n,k family once more: slow, obvious, and sharing nothing with the product.

A board is a dict from (row, col), row 0 at the top, to `X` black (the first player), `O` white or `.` empty.
Every question is answered by laying windows of cells over the board and looking at what stands in them.
"""

from functools import cache

Point = tuple[int, int]  # row, col
Board = dict[Point, str]
Window = tuple[Point, ...]
Direction = tuple[int, int]

DIRECTIONS: tuple[Direction, ...] = ((0, 1), (1, 0), (1, 1), (1, -1))

LEGAL, FIVE, OVERLINE, DOUBLE_FOUR, DOUBLE_THREE = "legal", "five", "overline", "double-four", "double-three"

ALL_LEVELS = 1000  # of recursion: deeper than any board


def read(drawn: list[str]) -> Board:
    """The board drawn as one string a row."""
    return {(row, col): at for row, line in enumerate(drawn) for col, at in enumerate(line)}


def draw(board: Board) -> list[str]:
    """One string a row."""
    rows, cols = 1 + max(row for row, _ in board), 1 + max(col for _, col in board)
    return ["".join(board[row, col] for col in range(cols)) for row in range(rows)]


def put(board: Board, point: Point, stone: str) -> Board:
    """Another board, with this stone on it."""
    return board | {point: stone}


def empty_points(board: Board) -> list[Point]:
    """Row by row from the top."""
    return sorted(point for point, at in board.items() if at == ".")


@cache
def windows(point: Point, direction: Direction, length: int) -> list[Window]:
    """Every window of so many cells in this direction that contains the point."""
    (row, col), (down, right) = point, direction
    found = []
    for first in range(1 - length, 1):
        found.append(tuple((row + i * down, col + i * right) for i in range(first, first + length)))
    return found


@cache
def ends(window: Window, direction: Direction) -> tuple[Point, Point]:
    """The cell before a window and the cell after it."""
    (first_row, first_col), (last_row, last_col), (down, right) = window[0], window[-1], direction
    return (first_row - down, first_col - right), (last_row + down, last_col + right)


def content(board: Board, points: Window) -> str:
    """What stands on some points; '#' for those outside the board."""
    return "".join([board.get(point, "#") for point in points])


def wins(board: Board, point: Point, k: int, rule: str) -> bool:
    """Does the stone that has just been put on this point win?"""
    me = board[point]
    opponent = "O" if me == "X" else "X"
    for direction in DIRECTIONS:
        for window in windows(point, direction, k):
            if content(board, window) != me * k:
                continue
            around = content(board, ends(window, direction))
            is_exactly_k = me not in around
            is_blocked = around == opponent * 2
            if rule == "freestyle":
                return True
            if rule == "standard" and is_exactly_k:
                return True
            if rule == "renju" and (me == "O" or is_exactly_k):
                return True
            if rule == "caro" and not (is_exactly_k and is_blocked):
                return True
            if rule == "caro-exact" and is_exactly_k and not is_blocked:
                return True
    return False


def is_exactly_five(board: Board, window: Window, direction: Direction) -> bool:
    """Five black stones in this window, and none at either end."""
    return content(board, window) == "XXXXX" and "X" not in content(board, ends(window, direction))


def fours(board: Board, point: Point, direction: Direction) -> set[frozenset[Point]]:
    """The fours through a black stone: four stones whose window's fifth cell would complete a five."""
    found = set()
    for window in windows(point, direction, 5):
        inside = content(board, window)
        if inside.count("X") == 4 and inside.count(".") == 1:
            hole = window[inside.index(".")]
            if is_exactly_five(put(board, hole, "X"), window, direction):
                found.add(frozenset(window) - {hole})
    return found


def straight_four_points(board: Board, point: Point, direction: Direction) -> set[Point]:
    """Where another black stone makes a straight four of which the stone at this point is a part.

    A straight four: four black stones side by side, and a five to be had at either end.
    """
    found = set()
    for window in windows(point, direction, 4):
        before, after = ends(window, direction)
        inside = content(board, window)
        if content(board, (before, after)) == ".." and inside.count("X") == 3 and inside.count(".") == 1:
            hole = window[inside.index(".")]
            with_before = put(put(board, hole, "X"), before, "X")
            with_after = put(put(board, hole, "X"), after, "X")
            if is_exactly_five(with_before, (before, *window), direction):
                if is_exactly_five(with_after, (*window, after), direction):
                    found.add(hole)
    return found


def has_real_three(board: Board, point: Point, direction: Direction, levels: int) -> bool:
    """Could black, whose stone at this point is on the board, lawfully go on to a straight four?"""
    for q in straight_four_points(board, point, direction):
        if levels == 0 or judge(board, q, levels - 1) == LEGAL:
            return True
    return False


def has_two_black_stones_near(board: Board, point: Point, direction: Direction) -> bool:
    """Without two black stones within four cells of it, a point is not special in this direction."""
    (row, col), (down, right) = point, direction
    return content(board, tuple((row + i * down, col + i * right) for i in range(-4, 5))).count("X") >= 2


def judge(board: Board, point: Point, levels: int = ALL_LEVELS) -> str:
    """What black's move at an empty point is by the rules of renju.

    levels: how often in a row to ask whether the point that makes a straight four of a three is itself
    forbidden. 0 never asks; the rules know no limit.
    """
    lines = [direction for direction in DIRECTIONS if has_two_black_stones_near(board, point, direction)]
    board = put(board, point, "X")
    for direction in lines:
        if any(is_exactly_five(board, window, direction) for window in windows(point, direction, 5)):
            return FIVE
    for direction in lines:
        if any(content(board, window) == "XXXXXX" for window in windows(point, direction, 6)):
            return OVERLINE
    if sum(len(fours(board, point, direction)) for direction in lines) >= 2:
        return DOUBLE_FOUR
    if sum(has_real_three(board, point, direction, levels) for direction in lines) >= 2:
        return DOUBLE_THREE
    return LEGAL
