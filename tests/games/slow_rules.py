"""The rules of the m,n,k family once more: slow, obvious, and sharing nothing with the product.

A board is a list of strings, top row first: `X` black (the first player), `O` white, `.` empty. Every
question is answered by laying windows of cells over the board and looking at what stands in them.
"""

Board = list[str]
Point = tuple[int, int]  # row, col
Direction = tuple[int, int]

DIRECTIONS: tuple[Direction, ...] = ((0, 1), (1, 0), (1, 1), (1, -1))

LEGAL, FIVE, OVERLINE, DOUBLE_FOUR, DOUBLE_THREE = "legal", "five", "overline", "double-four", "double-three"

ALL_LEVELS = 1000  # of recursion: deeper than any board


def cell(board: Board, point: Point) -> str:
    """What stands on a point; '#' outside the board."""
    row, col = point
    if 0 <= row < len(board) and 0 <= col < len(board[0]):
        return board[row][col]
    return "#"


def put(board: Board, point: Point, stone: str) -> Board:
    """Another board, with this stone on it."""
    row, col = point
    changed = board[row][:col] + stone + board[row][col + 1 :]
    return [*board[:row], changed, *board[row + 1 :]]


def empty_points(board: Board) -> list[Point]:
    return [(row, col) for row, line in enumerate(board) for col, at in enumerate(line) if at == "."]


def windows(point: Point, direction: Direction, length: int) -> list[list[Point]]:
    """Every window of so many cells in this direction that contains the point."""
    (row, col), (down, right) = point, direction
    found = []
    for first in range(1 - length, 1):
        found.append([(row + i * down, col + i * right) for i in range(first, first + length)])
    return found


def ends(window: list[Point], direction: Direction) -> tuple[Point, Point]:
    """The cell before a window and the cell after it."""
    (first_row, first_col), (last_row, last_col), (down, right) = window[0], window[-1], direction
    return (first_row - down, first_col - right), (last_row + down, last_col + right)


def content(board: Board, points: list[Point] | tuple[Point, Point]) -> str:
    return "".join(cell(board, point) for point in points)


def wins(board: Board, point: Point, k: int, rule: str) -> bool:
    """Does the stone that has just been put on this point win?"""
    me = cell(board, point)
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


def is_exactly_five(board: Board, window: list[Point], direction: Direction) -> bool:
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


def has_straight_four(board: Board, point: Point, other: Point, direction: Direction) -> bool:
    """Four black stones side by side, both these points among them, a five to be had at either end."""
    for window in windows(point, direction, 4):
        if other in window and content(board, window) == "XXXX":
            before, after = ends(window, direction)
            if content(board, (before, after)) == "..":
                with_before, with_after = put(board, before, "X"), put(board, after, "X")
                if is_exactly_five(with_before, [before, *window], direction) and is_exactly_five(
                    with_after, [*window, after], direction
                ):
                    return True
    return False


def has_real_three(board: Board, point: Point, direction: Direction, levels: int) -> bool:
    """Could black, whose stone at this point is on the board, lawfully go on to a straight four?"""
    on_the_line = {q for window in windows(point, direction, 4) for q in window}
    for q in on_the_line:
        if cell(board, q) == "." and has_straight_four(put(board, q, "X"), point, q, direction):
            if levels == 0 or judge(board, q, levels - 1) == LEGAL:
                return True
    return False


def has_four_black_stones_near(board: Board, point: Point) -> bool:
    """Whatever makes a point special takes four black stones within four cells of it, in its lines."""
    row, col = point
    near = 0
    for down, right in DIRECTIONS:
        for step in (-4, -3, -2, -1, 1, 2, 3, 4):
            near += cell(board, (row + step * down, col + step * right)) == "X"
    return near >= 4


def judge(board: Board, point: Point, levels: int = ALL_LEVELS) -> str:
    """What black's move at an empty point is by the rules of renju.

    levels: how often in a row to ask whether the point that makes a straight four of a three is itself
    forbidden. 0 never asks; the rules know no limit.
    """
    if not has_four_black_stones_near(board, point):
        return LEGAL
    board = put(board, point, "X")
    for direction in DIRECTIONS:
        if any(is_exactly_five(board, window, direction) for window in windows(point, direction, 5)):
            return FIVE
    for direction in DIRECTIONS:
        if any(content(board, window) == "XXXXXX" for window in windows(point, direction, 6)):
            return OVERLINE
    if sum(len(fours(board, point, direction)) for direction in DIRECTIONS) >= 2:
        return DOUBLE_FOUR
    if sum(has_real_three(board, point, direction, levels) for direction in DIRECTIONS) >= 2:
        return DOUBLE_THREE
    return LEGAL


def forbidden(board: Board) -> dict[Point, str]:
    """Black's forbidden points, each with its reason."""
    verdicts = {point: judge(board, point) for point in empty_points(board)}
    return {point: verdict for point, verdict in verdicts.items() if verdict not in (LEGAL, FIVE)}
