"""Where a game was lost: every move is judged by searches of the positions before and after it.

    with players.find("zero:zoo/gomoku15:search=puct", game) as player:
        judged = list(judge_game(archived, player, Limit(simulations=2000)))
    lost = turning_point(judged, loser=1)

Values are from -1 (lost) to 1 (won). A move loses value if the position after it is worth less to the player
who made it than the position before it. Moves of the opening are not judged: no player chose them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from tengen.arena.archive import Archived
from tengen.errors import UserError
from tengen.games.position import Position, Value
from tengen.players.limit import Limit
from tengen.players.player import Choice, Player, PlayerFailedError

LEAST = 0.1  # value lost by a move that is worth a line
LOST = -0.5  # a value that counts as lost
EVEN = -0.1  # a value that counts as not worse
MAX_LINE = 10  # plies


@dataclass(frozen=True)
class Judged:
    """A move of a game. Values are for the player who made it."""

    number: int  # from 1
    player: int  # 1 or 2
    move: str
    before: float  # the position's value, if the best move is played
    after: float  # the value after the move
    better: str | None  # what the judge would have played; None: the same move
    line: tuple[str, ...]  # the moves that the judge expects instead, that one first
    win_before: int | None  # plies to a win that the judge has proven; negative: to a loss
    win_after: int | None
    played_value: float | None  # what its player thought, if the file says

    @property
    def lost(self) -> float:
        """The value that the move lost."""
        return max(0.0, self.before - self.after)

    def to_json(self) -> dict[str, object]:
        return {**asdict(self), "lost": round(self.lost, 4)}


@dataclass(frozen=True)
class Found:
    """What a search says about a position, for the player to move."""

    value: Value
    choice: Choice | None  # None: the game is over

    def seen_by(self, player: int) -> float:
        return round(max(-1.0, min(1.0, self.value.seen_by(player))), 4)

    def win(self, player: int) -> int | None:
        """Plies to a proven end, negative if it is lost for this player."""
        distance = self.choice.distance if self.choice else None
        if distance is None:
            return None
        return distance if self.value.seen_by(player) > 0 else -distance


def judge_game(archived: Archived, player: Player, limit: Limit | None = None) -> Iterator[Judged]:
    """The moves of a game, each judged by a player's search within a limit."""
    if archived.num_chosen == 0:
        raise UserError("the game has no moves to judge")
    player.new_game(0)
    positions = archived.positions[archived.opening :]
    for one in judge_moves(positions, lambda position: player.choose(position, limit)):
        number = archived.opening + one.number
        thought = archived.thought(number)
        yield replace(one, number=number, played_value=thought.value if thought else None)


def judge_moves(positions: Sequence[Position], choose: Callable[[Position], Choice]) -> Iterator[Judged]:
    """The moves between positions that follow each other, judged by what `choose` says about each position.

    The first move has the number 1."""
    found = look_at(positions[0], choose)
    for number, following in enumerate(positions[1:], start=1):
        found_after = look_at(following, choose)
        yield _judge(positions[number - 1], number, following, found, found_after)
        found = found_after


def turning_point(judged: Sequence[Judged], loser: int) -> Judged | None:
    """The move with which a player lost the game: the one that lost most since the player last stood no
    worse, if the game was not lost before it. None: it was lost from the start, or little by little."""
    moves = [one for one in judged if one.player == loser]
    even = [one.number for one in moves if one.before >= EVEN]
    since = even[-1] if even else 0
    mistakes = [one for one in moves if one.number >= since and one.before > LOST and one.lost >= LEAST]
    return max(mistakes, key=lambda one: one.lost, default=None)


def look_at(position: Position, choose: Callable[[Position], Choice]) -> Found:
    """What `choose` says about a position; the result if the game is over there."""
    if position.is_over:
        winner = position.winner
        value = 0.0 if winner is None else 1.0 if winner == position.to_move else -1.0
        return Found(Value(value, position.to_move), None)
    try:
        choice = choose(position)
    except PlayerFailedError as error:
        raise UserError(f"the judge failed: {error}") from None
    if choice.value is None:
        raise UserError("the judge gives positions no value: choose one that searches, such as zero or uct")
    return Found(Value(choice.value, position.to_move), choice)


def _judge(position: Position, number: int, following: Position, before: Found, after: Found) -> Judged:
    mover, name = position.to_move, position.game.moves.name
    assert before.choice is not None and following.last_move is not None
    best, move = name(before.choice.action), following.last_move
    line = before.choice.line or (before.choice.action,)
    return Judged(
        number=number,
        player=mover,
        move=move,
        before=before.seen_by(mover),
        after=after.seen_by(mover),
        better=None if best == move else best,
        line=tuple(name(action) for action in line[:MAX_LINE]),
        win_before=before.win(mover),
        win_after=after.win(mover),
        played_value=None,
    )
