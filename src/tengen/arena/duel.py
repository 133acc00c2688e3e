"""A quick match in this process: all its games go on at once, so that networks think in batches."""

from dataclasses import dataclass
from itertools import islice

from tengen.arena.openings import random_openings
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.players.player import Player

OPENING_PLIES = 4  # random moves; each opening is played by both sides


@dataclass(frozen=True)
class Duel:
    """Games of one player against another, seen by the first."""

    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """From 0 to 1; draws count half."""
        return (self.wins + self.draws / 2) / self.games if self.games else 0.5


def play_duel(
    game: Game, one: Player, other: Player, num_games: int, seed: int, opening_plies: int = OPENING_PLIES
) -> Duel:
    """An even number of games, half of them with each side moving first."""
    plies = min(opening_plies, game.rows * game.cols // 4)
    openings = list(islice(random_openings(game, plies, seed), num_games // 2))
    positions = [Position.from_moves(game, moves) for moves in openings for _ in range(2)]
    seats = [1, 2] * len(openings)  # of `one`
    for player in (one, other):
        player.new_game(seed)
    while any(not position.is_over for position in positions):
        for player, is_one in ((one, True), (other, False)):
            turns = [
                i
                for i, position in enumerate(positions)
                if not position.is_over and (position.to_move == seats[i]) == is_one
            ]
            if turns:
                choices = player.choose_many([positions[i] for i in turns])
                for i, choice in zip(turns, choices, strict=True):
                    positions[i] = positions[i].play(choice.action)
    winners = [position.winner for position in positions]
    wins = sum(winner == seat for winner, seat in zip(winners, seats, strict=True))
    draws = sum(winner in (None, 0) for winner in winners)
    return Duel(wins, draws, len(positions) - wins - draws)
