"""The cells that won a game: the finished row in m,n,k games and Connect 4, the chain in Hex.

>>> winning_cells(Position.from_moves("tictactoe", "a1 a2 b1 b2 c1"))
(6, 7, 8)
"""

from collections.abc import Iterator

from tengen.games import connect4, hex, mnk
from tengen.games.position import Position


def winning_cells(position: Position) -> tuple[int, ...]:
    """The numbers of the cells, in order; empty if no player has won, and in games without such cells."""
    if position.winner is None:
        return ()
    if mnk.is_mnk(position.game) or position.game.play is connect4.play:
        return _rows(position, position.winner)
    if position.game.play is hex.play:
        return _chain(position, position.winner)
    return ()


def _rows(position: Position, winner: int) -> tuple[int, ...]:
    """The cells of every run of the winner's stones that wins by itself; the rules decide which runs do.

    A run is judged alone on a board, with the stones at its two ends, which matter in caro."""
    game = position.game
    cells = [int(cell) for cell in position.state[game.cells]]
    found: set[int] = set()
    for run, ends in _runs(cells, game.cols, winner):
        alone = [0] * len(cells)
        for cell in (*run, *ends):
            alone[cell] = cells[cell] if cells[cell] in (1, 2) else 0
        if Position.from_cells(game, alone, to_move=3 - winner).winner == winner:
            found |= set(run)
    return tuple(sorted(found))


def _runs(cells: list[int], cols: int, winner: int) -> Iterator[tuple[list[int], list[int]]]:
    """Every longest run of the winner's stones in the four directions, and the cells just beyond its ends."""
    rows = len(cells) // cols

    def on_board(row: int, col: int) -> bool:
        return 0 <= row < rows and 0 <= col < cols

    for start in (cell for cell, stone in enumerate(cells) if stone == winner):
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            row, col = divmod(start, cols)
            before = [(row - down) * cols + col - right] if on_board(row - down, col - right) else []
            if before and cells[before[0]] == winner:
                continue  # not the first stone of its run
            run = []
            while on_board(row, col) and cells[row * cols + col] == winner:
                run.append(row * cols + col)
                row, col = row + down, col + right
            yield run, before + ([row * cols + col] if on_board(row, col) else [])


def _chain(position: Position, winner: int) -> tuple[int, ...]:
    """The shortest chain of the winner's stones from edge to edge, by breadth-first search."""
    size = position.game.rows
    stones = {cell for cell, stone in enumerate(position.state[position.game.cells]) if stone == winner}

    def along(cell: int) -> int:
        return cell // size if winner == 1 else cell % size

    came_from = {cell: cell for cell in sorted(stones) if along(cell) == 0}
    waiting = list(came_from)
    for cell in waiting:  # grows during the loop
        if along(cell) == size - 1:
            chain = [cell]
            while came_from[chain[-1]] != chain[-1]:
                chain.append(came_from[chain[-1]])
            return tuple(chain[::-1])
        row, col = divmod(cell, size)
        for down, right in hex.RING:
            beside = (row + down) * size + col + right
            if 0 <= col + right < size and beside in stones and beside not in came_from:
                came_from[beside] = cell
                waiting.append(beside)
    return ()
