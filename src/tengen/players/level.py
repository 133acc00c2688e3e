"""Ten levels for people, from beginner to full strength: `level:n=5`.

A level is weak in the way people are: it sees only some of the legal moves, plays the best of those, and
thinks a little. It never plays a random move on purpose.

    1. rules     from level 3 up, a win in one move is played; else only moves are considered that do not let
                 the opponent win at once, if there are any
    2. sight     some of these moves are drawn without replacement, in proportion to P(a)^(1/T), where P is
                 the network's policy: natural moves are seen more often than strange ones, unless T is high
    3. thought   the best of them, by the network alone or by a search that looks only at these at its root

A level is defined by moves and simulations, never by seconds: it is equally strong on every machine. Its
moves depend only on the seed and the position: if a move is taken back and played again, the answer is the
same. The settings are in level_settings.py, their measured strength in level_strength.py.

Games without a network have levels too: UCT, whose few simulations also see only a few moves.
"""

import hashlib

import numpy as np

from tengen.evaluators.evaluator import Floats
from tengen.evaluators.zoo import nearest
from tengen.games.batch import lift
from tengen.games.game import Game, Mask
from tengen.games.position import Position
from tengen.players.decision import Decision
from tengen.players.level_settings import FIRST_SAFE_LEVEL, Settings, settings_of
from tengen.players.limit import Limit
from tengen.players.player import Choice, Player, Thinking
from tengen.players.uct import UctPlayer
from tengen.players.zero import Zero
from tengen.search.gumbel import gumbel_noise
from tengen.search.snapshot import Snapshot

MEMORY = 64  # MiB: a server has many players at once


class Level(Player):
    """A player of one of ten strengths. Only time can end its search earlier; other limits do not apply."""

    summary = "an opponent for people: n=1 (beginner) to n=10 (full strength)"

    def __init__(self, game: Game, n: int = 5, memory: int = MEMORY) -> None:
        """memory: MiB."""
        self.settings, self._memory = settings_of(game)[n - 1], memory
        super().__init__(game, Limit(simulations=self.settings.simulations))
        self._sees_wins, self._rules = n >= FIRST_SAFE_LEVEL, lift(game)
        self._player = self._thinker()
        self.new_game(0)

    def _thinker(self) -> Zero | UctPlayer:
        """Who thinks about the moves that are seen."""
        sims = self.settings.simulations
        if nearest(self.game) is None:
            return UctPlayer(self.game, sims=sims, memory=self._memory)
        if self.settings.fours:
            return Zero(self.game, sims=sims, search="gumbel", memory=self._memory)
        return Zero(self.game, sims=sims, search="gumbel", memory=self._memory, vcf=False, fours=0)

    def prepare(self, limit: Limit | None = None) -> None:
        self._player.prepare()
        super().prepare(limit)

    def new_game(self, seed: int) -> None:
        self._seed = seed
        self._player.new_game(seed)

    def begin(self, position: Position, limit: Limit) -> Thinking:
        random = np.random.default_rng([self._seed, _number_of(position)])
        # 1. the rules
        moves, is_win = self._by_the_rules(position) if self._sees_wins else (position.legal_mask, False)
        if isinstance(self._player, UctPlayer):
            return self._think_without_network(self._player, position, moves, is_win, random)
        logits, value = self._player.look(position)
        if is_win:
            return _decided(position, logits, moves, 1.0, "wins at once", distance=1)
        # 2. the moves that it sees
        seen = drawn(logits, moves, self.settings, random)
        # 3. the best of them
        if self.settings.simulations == 1:
            return _decided(position, logits, seen, value, "the network alone")
        is_all = bool((seen == position.legal_mask).all())
        return self._player.begin(position, self.limit, None if is_all else seen)

    def _by_the_rules(self, position: Position) -> tuple[Mask, bool]:
        """(Moves, True) that win at once; else (moves, False) after which the opponent cannot win at once, or
        all legal moves if there are none."""
        states, legal = position.state[None].copy(), position.legal_mask[None].copy()
        found = np.zeros_like(legal)
        self._rules.wins(states, legal, found)
        if found.any():
            return found[0], True
        self._rules.safe(states, legal, found)
        return (found if found.any() else legal)[0], False

    def _think_without_network(
        self, player: UctPlayer, position: Position, moves: Mask, is_win: bool, random: np.random.Generator
    ) -> Thinking:
        if is_win:
            equal = np.zeros(len(moves), np.float32)
            return _decided(position, equal, moves, 1.0, "wins at once", distance=1)
        player.new_game(int(random.integers(2**63)))
        return OneOf(player.begin(position, self.limit), moves, int(random.choice(np.flatnonzero(moves))))


class OneOf(Thinking):
    """A search, from whose best move only some moves are accepted."""

    def __init__(self, thinking: Thinking, moves: Mask, other: int) -> None:
        """other: one of these moves, played if the best one is not among them."""
        self._thinking, self._moves, self._other = thinking, moves, other

    def run(self, seconds: float) -> bool:
        return self._thinking.run(seconds)

    def choice(self) -> Choice:
        choice = self._thinking.choice()
        return choice if self._moves[choice.action] else Choice(self._other, choice.value, (self._other,))

    def snapshot(self) -> Snapshot:
        return self._thinking.snapshot()


def drawn(logits: Floats, moves: Mask, settings: Settings, random: np.random.Generator) -> Mask:
    """The moves that a level sees, bool[A]: the k highest of log P(a) / T + g(a), where g is Gumbel noise.

    This draws k moves without replacement in proportion to P(a)^(1/T) (Kool et al. 2019)."""
    if settings.seen is None or settings.seen >= moves.sum():
        return moves
    scores = np.where(moves, logits / settings.temperature + gumbel_noise(logits.shape, random), -np.inf)
    seen = np.zeros_like(moves)
    seen[np.argsort(scores)[-settings.seen :]] = True
    return seen


def _decided(
    position: Position, logits: Floats, moves: Mask, value: float, note: str, distance: int | None = None
) -> Decision:
    """The move with the highest logit of these."""
    action = int(np.where(moves, logits, -np.inf).argmax())
    return Decision(position, lambda: Choice(action, value, (action,), note, distance))


def _number_of(position: Position) -> int:
    """64 bits that depend on the position alone, in every process."""
    return int.from_bytes(hashlib.blake2b(position.state.tobytes(), digest_size=8).digest(), "little")
