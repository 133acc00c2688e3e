"""Who plays in a seat, and who advises: the only place where the server chooses players by spec."""

from tengen.errors import UserError
from tengen.games import connect4
from tengen.games.game import Game
from tengen.players.level_strength import levels_of
from tengen.players.perfect import MAX_CELLS
from tengen.tactics.connect4_search import COLS, ROWS
from tengen.web.schemas import Level, LevelSeat, PerfectSeat, PersonSeat

AnySeat = PersonSeat | LevelSeat | PerfectSeat
PERFECT_SECONDS = 5  # then it plays the best column so far; few stones can take minutes


def seat_player(seat: AnySeat, game: Game) -> str | None:
    """The spec of the player in a seat; None: a person."""
    if isinstance(seat, PersonSeat):
        return None
    if isinstance(seat, PerfectSeat):
        if not can_solve(game):
            raise UserError(f"nobody plays {game.name} perfectly: choose a level")
        return f"perfect:seconds={PERFECT_SECONDS}" if is_connect4(game) else "perfect"
    return f"level:n={seat.level}"


def seat_name(seat: AnySeat) -> str | None:
    """Its name in game files; None: a person."""
    if isinstance(seat, PersonSeat):
        return None
    return "perfect" if isinstance(seat, PerfectSeat) else f"level {seat.level}"


def levels(game: Game) -> list[Level]:
    """The levels of a game, with their measured Elo where there is one."""
    return [Level(level=one.level, elo=one.elo, low=one.low, high=one.high) for one in levels_of(game)]


def can_solve(game: Game) -> bool:
    """Is there an exact score for every move? Connect 4 by the solver, small boards by full search."""
    return is_connect4(game) or game.rows * game.cols <= MAX_CELLS


def is_connect4(game: Game) -> bool:
    """Connect 4 on the board that the solver knows."""
    return game.play is connect4.play and game.header == (ROWS, COLS, 4)
