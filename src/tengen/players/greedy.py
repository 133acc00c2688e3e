"""Generation 1: looks at each point once, at what a stone there would make or prevent, and plays the best."""

import numpy as np
import numpy.typing as npt

from tengen.games.game import Game, Mask
from tengen.games.position import Position
from tengen.players.decision import Decider
from tengen.players.limit import Limit
from tengen.players.player import Choice
from tengen.tactics.evaluation import evaluate_board, squash
from tengen.tactics.lines import NAMED_RANKS, WORTH, Bytes, Lines, check_plays, new_lines, set_up

Scores = npt.NDArray[np.int64]

# By rank: plain, a three, two threes, a four, a four and a three, an open four or two fours, a five.
# A five comes first, then the opponent's five, then an open four, then the opponent's.
MAKE = np.array([0, 0, 800, 0, 2_000, 10_000, 1_000_000])
PREVENT = np.array([0, 0, 400, 0, 900, 4_000, 100_000])


class Greedy(Decider):
    """No search; chooses at random between equal moves."""

    summary = "the best pattern to make or to prevent, five-in-a-row games; no search"

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        check_plays("greedy", game)
        self._lines = new_lines(game)
        self.new_game(0)

    def prepare(self, limit: Limit | None = None) -> None:
        """Compiles what the first move needs."""
        start = Position.start(self.game)
        self.decide(start.play(start.legal_actions[0]), Limit())
        self.new_game(0)

    def new_game(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)

    def decide(self, position: Position, limit: Limit) -> Choice:
        me, lines = position.to_move, self._lines
        set_up(lines, position.state.copy())
        value = squash(evaluate_board(lines, me))
        action, why = best_point(lines, me, position.legal_mask, self._random)
        return Choice(action, value, (action,), why)


def best_point(lines: Lines, me: int, legal: Mask, random: np.random.Generator) -> tuple[int, str]:
    """A legal point with the highest score, and the reason for it."""
    rows, cols = int(lines.state[0]), int(lines.state[1])
    if lines.left[0] == rows * cols:
        return rows // 2 * cols + cols // 2, "the centre"
    scores, make, prevent = score_points(lines, me)
    action = int(random.choice(np.flatnonzero(legal & (scores == scores[legal].max()))))
    if MAKE[make[action]] > PREVENT[prevent[action]]:
        return action, f"makes {NAMED_RANKS[make[action]]}"
    return action, f"prevents {NAMED_RANKS[prevent[action]]}" if prevent[action] else "a good point"


def score_points(lines: Lines, me: int) -> tuple[Scores, Bytes, Bytes]:
    """How good it is to play each point, [A]; the ranks of what it makes and of what it prevents."""
    shapes = (lines.shapes & 4095, lines.shapes >> 12)
    mine, theirs = shapes[me - 1], shapes[2 - me]
    make, prevent = lines.ranks[me - 1][mine], lines.ranks[2 - me][theirs]
    return MAKE[make] + PREVENT[prevent] + _worth(mine) + _worth(theirs), make, prevent


def _worth(shapes: npt.NDArray[np.integer]) -> Scores:
    """What the four lines of each shape are worth."""
    return np.asarray(sum(np.array(WORTH)[shapes >> 3 * direction & 7] for direction in range(4)))
