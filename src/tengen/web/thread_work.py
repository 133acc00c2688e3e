"""What a page lets threads do: searches, reviews, files. Each function runs outside the event loop.

A function is given its `Search` (searches.py), which it asks to search and to tell what was found.
"""

import base64
import time
from collections.abc import Callable, Sequence
from typing import Any

from tengen.arena.blunders import Judged, judge_moves, look_at
from tengen.arena.review import Try
from tengen.games import animation, records
from tengen.games.position import Position
from tengen.games.variations import Variations
from tengen.players.limit import Limit
from tengen.players.player import Choice
from tengen.protocols.analysis_messages import MessageError, read_position
from tengen.protocols.kept_players import KeptPlayer
from tengen.protocols.searches import Search
from tengen.search.snapshot import Snapshot
from tengen.web.exact import ExactScores

MAX_NODES = 5000  # of one game with its variations
SOLVER_SECONDS = 0.03  # between two snapshots of an analysis
SOLVER_SLICE = 0.1  # seconds, once the search has ended

Found = Callable[[Snapshot, list[int | None] | None], None]  # a snapshot, and exact scores if there are any


def load(players: Sequence[KeptPlayer | None]) -> None:
    """Makes players ready for their first move."""
    for player in players:
        if player is not None:
            with player.taken():
                pass


def choose(search: Search, player: KeptPlayer, position: Position, limit: Limit | None) -> Choice:
    """A reply or a hint."""
    with player.taken() as ready:
        return search.choose(ready, position, limit)


def analyse(
    search: Search, player: KeptPlayer, position: Position, seconds: float, exact: ExactScores, found: Found
) -> None:
    """Searches a position, and solves it where there is a solver; tells what is found on the way."""
    ends = time.monotonic() + seconds
    scores = exact.begin(position)
    with player.taken() as ready:
        for snapshot in search.snapshots(ready, position, Limit(seconds=seconds)):
            if scores is not None:
                scores.run(SOLVER_SECONDS)
            search.tell(found, snapshot, scores and scores.columns)
    while scores is not None and not scores.is_done and time.monotonic() < ends:
        known = scores.columns
        scores.run(SOLVER_SLICE)
        search.check()
        if scores.columns != known:
            search.tell(found, snapshot, scores.columns)


def judge(
    search: Search,
    player: KeptPlayer,
    limit: Limit,
    positions: Sequence[Position],
    found: Callable[[Judged], None],
) -> None:
    """Judges the moves of a game, and tells each."""
    with player.taken() as ready:
        ready.new_game(0)
        for judged in judge_moves(positions, lambda position: search.choose(ready, position, limit)):
            search.tell(found, judged)


def compare(
    search: Search,
    player: KeptPlayer,
    limit: Limit,
    before: Position,
    played: Position,
    tried: Position,
    known: Judged | None,
) -> tuple[Try, list[str]]:
    """How a move does beside the one that was played, and the line that is expected after it.

    known: what a review has said about the played move."""
    with player.taken() as ready:

        def choose(position: Position) -> Choice:
            return search.choose(ready, position, limit)

        judged = known or next(judge_moves([before, played], choose))
        found = look_at(tried, choose)
    value = judged.after if tried == played else found.seen_by(before.to_move)
    line = found.choice.line if found.choice else ()
    return Try(judged.before, judged.after, value), [tried.game.moves.name(action) for action in line]


def ready_position(game: str, moves: Sequence[str], setup: dict[str, Any] | None) -> Position:
    """The position that a game starts from. Calls the rules that a page needs, so that they are compiled."""
    position = read_position(game, moves, setup)
    if not position.is_over:
        position.play(position.legal_actions[0])
    return position


def parse(text: str, form: str, game: str | None) -> tuple[Variations, str]:
    """The game of a file, and a note of what could not be read."""
    try:
        variations, note = records.parse_variations(text.encode(), form, game)
    except ValueError as error:
        raise MessageError(str(error), "text") from None
    if len(variations) > MAX_NODES:
        raise MessageError(f"a game has at most {MAX_NODES} moves, this file has {len(variations)}", "text")
    return variations, note


def animate(positions: Sequence[Position]) -> str:
    """A game as an animated GIF, in base64."""
    return base64.b64encode(animation.gif(positions)).decode("ascii")
