"""The thread that prepares a player and thinks, for the Gomocup protocol.

    thinker = Thinker(post)                  # post(event): called in the thread, with the events below
    thinker.prepare(wanted)                  # compile and load; Ready or Refused follows
    thinker.ask(Request(...))                # Answered follows, perhaps after some Remarks
    thinker.stop(request)                    # from any thread: the answer comes at once

Everything heavy is imported here, in the thread: the other side can answer while that takes time. A request
that was given up is not answered.
"""

import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from tengen.errors import UserError
from tengen.protocols.gomocup_board import View
from tengen.protocols.gomocup_player import (
    LEAST_MIB,
    Wanted,
    compile_apart,
    default_spec,
    position_of,
    search_mib,
    use_writable_folder,
    used_memory,
)
from tengen.protocols.gomocup_settings import Settings

if TYPE_CHECKING:
    from tengen.games.game import Game
    from tengen.games.position import Position
    from tengen.players.analysis import Analysis
    from tengen.players.player import Player
    from tengen.players.swap2 import Swap2Reply
    from tengen.players.warming import Helper
    from tengen.search.snapshot import Snapshot

NOT_READY = "the player is not ready: a move without search"
LEAST_LEFT = 0.3  # seconds: if making the player took longer and leaves less, the move is made without it

SHOWN_EVERY = 0.5  # seconds between two pictures of the search
SHOWN_MOVES = 5
SHOWN_LINE = 8  # plies


@dataclass
class Request:
    """A question about a position, and when it came."""

    kind: Literal["move", "swap2", "forbid"]
    view: View
    settings: Settings
    wanted: Wanted
    began: float  # time.monotonic()
    num_best: int = 1  # moves to name
    is_given_up: bool = False  # nobody waits for the answer
    is_stopped: bool = False  # answer at once
    has_begun: bool = False  # the player is ready and thinks


@dataclass(frozen=True)
class Ready:
    """The player for this is ready."""

    wanted: Wanted


@dataclass(frozen=True)
class Refused:
    """There is no such player; why."""

    wanted: Wanted
    reason: str


@dataclass(frozen=True)
class Remark:
    """A line for people, or for an overlay, while a request is thought about. Cells are written {7}."""

    request: Request
    text: str


@dataclass(frozen=True)
class Answered:
    """An answer: cells; none and no problem: SWAP, or no forbidden points."""

    request: Request
    cells: tuple[int, ...] = ()
    remarks: tuple[str, ...] = ()
    problem: str = field(default="")  # why there is no answer


Event = Ready | Refused | Remark | Answered


class Thinker:
    """One thread, one player at a time."""

    def __init__(self, post: Callable[[Event], None], spec: str | None = None, seed: int = 0) -> None:
        """spec: the player; None: a bundled network, or alphabeta where there is none."""
        self._post, self._spec, self._seed = post, spec, seed
        self._changed = threading.Condition()
        self._wanted: Wanted | None = None  # and not looked at yet
        self._request: Request | None = None  # the same
        self._analysis: Analysis | None = None  # that runs
        self._thread: threading.Thread | None = None
        self._player: Player | None = None
        self._equipped: Wanted | None = None  # what the player was made for
        self._is_prepared = False  # has the player compiled and loaded what it needs?
        self._helper: Helper | None = None  # a process that compiles
        self._last: Position | None = None  # of the player's game
        self._said: set[str] = set()  # remarks that are made once
        self.is_busy = False

    def use(self, player: "Player") -> None:
        """A player that has been made already; it is not prepared yet."""
        self._player, self._equipped = player, Wanted(player.game.name)

    def prepare(self, wanted: Wanted) -> None:
        with self._changed:
            self._wanted = wanted
            self._wake()

    def ask(self, request: Request) -> None:
        with self._changed:
            self._request = request
            self._wake()

    def stop(self, request: Request) -> None:
        with self._changed:
            request.is_stopped = True
            if self._analysis is not None:
                self._analysis.stop()

    def close(self) -> None:
        """Ends what the player has started outside; the thread ends with the process."""
        if (helper := self._helper) is not None:
            helper.close()
        if self._player is not None:
            self._player.close()

    def _compiles_in(self, helper: "Helper | None") -> None:
        self._helper = helper

    def _wake(self) -> None:
        self.is_busy = True
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="thinker", daemon=True)
            self._thread.start()
        self._changed.notify()

    def _run(self) -> None:
        use_writable_folder()
        while True:
            with self._changed:
                self.is_busy = self._request is not None or self._wanted is not None
                self._changed.wait_for(lambda: self._request is not None or self._wanted is not None)
                request, self._request = self._request, None
                wanted, self._wanted = self._wanted, None
            if request is not None:
                self._post(self._answer(request))
            elif wanted is not None:
                self._post(self._prepared(wanted))

    def _prepared(self, wanted: Wanted) -> Event:
        try:
            self._equip(wanted)
        except UserError as error:
            return Refused(wanted, str(error))
        except Exception as error:  # noqa: BLE001  (reported; each move tries again, and is made in any case)
            _report(error)
        return Ready(wanted)

    def _answer(self, request: Request) -> Answered:
        from tengen.players.player import PlayerFailedError

        try:
            if request.kind == "forbid":
                return self._forbidden_points(request)
            before = time.monotonic()
            self._equip(request.wanted)
            now = time.monotonic()
            is_late = now > request.began + request.settings.latest - LEAST_LEFT
            if request.is_given_up or (is_late and now - before > LEAST_LEFT):
                return Answered(request, problem=NOT_READY)
            request.has_begun = True
            return self._swap2(request) if request.kind == "swap2" else self._move(request)
        except (UserError, PlayerFailedError) as error:
            return Answered(request, problem=str(error))
        except Exception as error:  # noqa: BLE001  (a move must be made whatever happens)
            return Answered(request, problem=_report(error))

    def _equip(self, wanted: Wanted) -> None:
        """Makes and prepares the player that is wanted, if it is not the one that we have."""
        from tengen import games, players
        from tengen.players.limit import Limit

        game, limit = games.find(wanted.game), Limit(seconds=1.0)
        if self._spec is not None:
            wanted = Wanted(wanted.game)  # the rest is up to the spec
        if wanted != self._equipped:
            old = self._player
            network = getattr(old, "network", None)  # stays open: the next player may use it too
            if old is not None:
                old.close()
            self._player = self._equipped = self._last = old = None
            if self._spec is not None:
                self._player = players.find(self._spec, game)
            else:
                compile_apart(game, self._compiles_in)
                players.find(default_spec(game, LEAST_MIB, wanted.threads), game).prepare(limit)
                mebibytes = search_mib(wanted, used_memory())  # now that everything is loaded
                self._player = players.find(default_spec(game, mebibytes, wanted.threads), game)
            del network
            self._equipped, self._is_prepared = wanted, False
        if not self._is_prepared:
            assert self._player is not None
            self._player.prepare(limit)
            self._is_prepared = True

    def _move(self, request: Request) -> Answered:
        assert self._player is not None
        player, view = self._player, request.view
        position = position_of(view, player.game)
        if position.is_over:
            return Answered(request, problem=f"the game is over here, {position.outcome}")
        if self._last is None or not _follows(self._last, position):
            player.new_game(self._seed)
        self._last = position
        limit = request.settings.limit(time.monotonic() - request.began)
        analysis = player.analyse(position, limit, every=SHOWN_EVERY)
        with self._changed:
            self._analysis = analysis
            if request.is_stopped:
                analysis.stop()
        try:
            if request.settings.shows_search:
                for snapshot in analysis:
                    for text in overlay(snapshot, player.game):
                        self._post(Remark(request, text))
            choice = analysis.best
        finally:
            with self._changed:
                self._analysis = None
        remarks = self._ignored(request, player)
        if request.num_best > 1:
            remarks += best_moves(analysis.snapshot, request.num_best)
        names = " ".join(player.game.moves.name(action) for action in choice.line[:SHOWN_LINE])
        value = "" if choice.value is None else f"value {choice.value:+.2f}, "
        remarks.append(f"{value}{choice.note or 'a move'}" + (f", {names}" if names else ""))
        return Answered(request, (choice.action,), tuple(remarks))

    def _ignored(self, request: Request, player: "Player") -> list[str]:
        """Limits that the player does not obey, said once."""
        found = []
        for kind, given in (("depth", request.settings.max_depth), ("nodes", request.settings.max_nodes)):
            if given > 0 and kind not in player.obeys and kind not in self._said:
                self._said.add(kind)
                key = {"depth": "max_depth", "nodes": "max_node"}[kind]
                found.append(f"{key} is ignored: {type(player).__name__.lower()} has no such limit")
        return found

    def _swap2(self, request: Request) -> Answered:
        assert self._player is not None
        position = position_of(request.view, self._player.game)
        if position.is_over:
            return Answered(request, problem=f"the game is over here, {position.outcome}")
        self._player.new_game(self._seed)
        self._last = None
        limit = request.settings.limit(time.monotonic() - request.began)
        reply: Swap2Reply = self._player.swap2(position, self._seed, limit)
        return Answered(request, reply.stones or ((reply.move.action,) if reply.move else ()))

    def _forbidden_points(self, request: Request) -> Answered:
        from tengen import games
        from tengen.games.position import Position
        from tengen.games.renju import FORBIDDEN

        game = games.find(request.wanted.game)
        board = Position.from_cells(game, request.view.cells, 1).state[game.cells]
        return Answered(request, tuple(cell for cell in range(len(board)) if board[cell] == FORBIDDEN))


def overlay(snapshot: "Snapshot", game: "Game") -> list[str]:
    """What Yixin-Board draws: the moves looked at, those that lose, the best one, its value and line."""
    cell, moves = game.moves.action, snapshot.moves[:SHOWN_MOVES]
    lines = ["REALTIME REFRESH"]
    lines += [f"REALTIME POS {{{cell(info.move)}}}" for info in moves]
    lines += [f"REALTIME LOSE {{{cell(info.move)}}}" for info in snapshot.moves if info.proven == "loss"]
    if moves:
        line = " ".join(f"[{{{cell(move)}}}]" for move in moves[0].line)
        lines += [
            f"REALTIME BEST {{{cell(moves[0].move)}}}",
            f"REALTIME VAL {round(1000 * snapshot.value)}",
            f"REALTIME PV {line}",
        ]
    return lines


def best_moves(snapshot: "Snapshot", count: int) -> list[str]:
    """One line for each of the best moves."""
    return [
        f"({number}) {info.move}, value {info.value or 0.0:+.2f}, {' '.join(info.line[:SHOWN_LINE])}"
        for number, info in enumerate(snapshot.moves[:count], 1)
    ]


def _follows(earlier: "Position", later: "Position") -> bool:
    """Does a position continue the game of another one?"""
    return bool(later.actions) and later.actions[: len(earlier.actions)] == earlier.actions


def _report(error: Exception) -> str:
    """Shows an error that nobody expected on stderr; returns it in one line."""
    traceback.print_exception(error)
    return f"{type(error).__name__}: {error}"
