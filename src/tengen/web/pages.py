"""A page in a browser and its game: what each message does, and what happens by itself.

    answer = await page.handle(message)     # changes the session
    page.settle()                           # lets the opponent reply, moves the analysis, tells the page

Everything here runs in the event loop; what takes time runs in threads (thread_work.py). Up to four searches
go on at a time for one page: the opponent's reply, the analysis of the position being viewed, a hint or a
try, and a review. They stop when no connection to the page is left.
"""

import asyncio
import secrets
import traceback
from collections.abc import Callable
from typing import Any

from tengen import players
from tengen.arena import review
from tengen.arena.blunders import Judged
from tengen.errors import UserError
from tengen.games.game import Game
from tengen.games.position import Position, Value
from tengen.games.variations import Node
from tengen.players.level_strength import NUM_GAMES, suggested_level
from tengen.players.limit import Clock, Limit
from tengen.players.player import Choice, PlayerFailedError
from tengen.players.session import PERSON, GameSession
from tengen.protocols.analysis_messages import MessageError, snapshot_message
from tengen.protocols.kept_players import ADVISER, SEAT, KeptPlayer
from tengen.protocols.outbox import Outbox
from tengen.protocols.searches import Lane, Result, Search, ServerFullError
from tengen.search.snapshot import Snapshot
from tengen.web import schemas, thread_work
from tengen.web.opponents import AnySeat, seat_name, seat_player
from tengen.web.shared import Shared
from tengen.web.slot import Slot
from tengen.web.thread_work import MAX_NODES

REPLY_SECONDS = 30.0  # the longest that a reply, a hint or a try may take
ANALYSIS_SECONDS = 60.0  # for one position
HINT = Limit(seconds=1)
TRY = Limit(seconds=1, simulations=4000)
REVIEW_SECONDS = 90.0  # of a whole game
LONG_SECONDS = 600.0  # the longest that an analysis or a review may take, with waiting for a thread
REVIEW_MOVE_SECONDS, REVIEW_MOVE_SIMULATIONS = 1.0, 2000  # at most, for one move
RETRY_SECONDS = 1.0  # until a full server is asked again
MAX_LINE = 10  # plies in answers
MOST_WINDOWS = 20  # of one page: a session that is open in several
PERSONS: tuple[AnySeat, AnySeat] = (schemas.PersonSeat(kind="person"), schemas.PersonSeat(kind="person"))


class Page:
    """One game at a time, and everything that goes on around it."""

    def __init__(self, shared: Shared) -> None:
        self.session: GameSession | None = None
        self.last_seen = shared.now()
        self._shared = shared
        self._seats = PERSONS
        self._players: dict[str, KeptPlayer] = {}  # for the current game, by purpose
        self._outboxes: set[Outbox] = set()  # one for every connection: a page may be open twice
        self._reply, self._analysis, self._advice, self._review = Slot(), Slot(), Slot(), Slot()
        self._loading = Slot()
        self._is_analysing = False
        self._judged: dict[int, Judged] = {}  # by node, from the last review
        self._played: dict[str, list[tuple[int, float]]] = {}  # by game: level and points of finished games
        self._is_counted = False  # is the current game one of those?
        self._flag: asyncio.TimerHandle | None = None

    # Connections.

    @property
    def is_connected(self) -> bool:
        return bool(self._outboxes)

    def attach(self, outbox: Outbox) -> None:
        """From now on, everything that happens is sent there too."""
        if len(self._outboxes) >= MOST_WINDOWS:
            raise ServerFullError(f"this game is open in {MOST_WINDOWS} windows already: close some")
        self._outboxes.add(outbox)

    def detach(self, outbox: Outbox) -> None:
        """A connection has gone. Without any, nothing is searched; the game stays."""
        self._outboxes.discard(outbox)
        self.last_seen = self._shared.now()
        if not self.is_connected:
            self._stop_everything()

    def close(self) -> None:
        """Ends the page for good."""
        self._stop_everything()
        self._close_players()

    def push(self, kind: str, **fields: Any) -> None:
        for outbox in self._outboxes:
            outbox.put({"type": kind, **fields})

    # Messages.

    async def handle(self, message: schemas.AnyMessage) -> dict[str, Any]:
        """Does what a message asks for; the answer's fields. UserError says why it cannot be done."""
        match message:
            case schemas.New():
                await self._new(message)
            case schemas.Load():
                return {"note": await self.load(message.name, message.text)}
            case schemas.Analyse():
                self._is_analysing = message.is_on
            case schemas.Hint():
                return await self._hint()
            case schemas.Try():
                return await self._try(message.node, message.move)
            case schemas.Review():
                self._start_review()
            case schemas.StopReview():
                self._review.stop()
            case schemas.Export():
                text, note = self._game().export(f".{message.form}")
                return {"text": text, "note": note}
            case schemas.Animate():
                return {"gif": await self._animated()}
            case schemas.Hello():
                raise MessageError("hello is the first message, and only that", "type")
            case _:
                self._change(message)
        return {}

    def _change(self, message: schemas.AnyMessage) -> None:
        """Messages that are one call of the session."""
        session = self._game()
        match message:
            case schemas.Play():
                if len(session.variations) >= MAX_NODES:
                    raise UserError(f"a game has at most {MAX_NODES} moves with its variations: delete some")
                session.play(message.move)
            case schemas.Undo():
                session.undo()
            case schemas.Redo():
                session.redo()
            case schemas.Resign():
                session.resign(self._who_resigns())
            case schemas.Swap():
                session.swap_sides()
                self._seats = self._seats[::-1]
            case schemas.Resume():
                session.resume()
            case schemas.Continue():
                session.continue_here()
            case schemas.Go():
                session.go_to(message.node)
            case schemas.Promote():
                session.promote(message.node)
            case schemas.Delete():
                session.delete(message.node)
            case schemas.Comment():
                session.comment(message.text, message.node)

    def settle(self) -> None:
        """Brings everything up to date after a change: reply, analysis, clocks; then tells the page."""
        if self.session is None:
            return
        self._follow_reply(self.session)
        self._follow_analysis(self.session)
        self._follow_clock(self.session)
        self._count_game(self.session)
        self.push("state", state=self.state())

    def state(self) -> dict[str, Any] | None:
        """All that a page shows, as plain values; None without a game."""
        if self.session is None:
            return None
        session, position = self.session, self.session.position
        state = session.to_json()
        seats: Any = state["seats"]
        state["seats"] = [{**one, **seat.model_dump()} for one, seat in zip(seats, self._seats, strict=True)]
        played = self._played.get(session.game.name, [])
        return {
            **state,
            "can_undo": session.can_undo,
            "can_redo": session.can_redo,
            "is_looking": session.is_looking,
            "forbidden": _forbidden(position),
            "is_thinking": self._reply.is_busy,
            "analysing": self._is_analysing,
            "suggested_level": suggested_level(played) if len(played) >= NUM_GAMES else None,
        }

    # New games.

    async def _new(self, message: schemas.New) -> None:
        setup = message.setup.model_dump() if message.setup else None
        position = await self._run(
            self._shared.searches.files,
            lambda _: thread_work.ready_position(message.game, message.moves, setup),
        )
        seats = (message.first, message.second)
        opponents = [self._seated(seat, position.game) for seat in seats]
        clock = Clock(message.clock.seconds, message.clock.increment) if message.clock else None
        if clock is not None:  # loads before the clocks run
            await self._run(self._shared.searches.short, lambda _: thread_work.load(opponents))
        first, second = (seat_name(seat) or PERSON for seat in seats)
        session = GameSession(
            position,
            (opponents[0], opponents[1]),
            (first, second),
            clocks=(clock, clock),
            seed=secrets.randbelow(2**31),
            now=self._shared.now,
        )
        self._begin(session, seats)
        self._players.update({f"seat {i}": one for i, one in enumerate(opponents) if one is not None})
        session.start()
        if session.is_persons_turn and any(opponents):  # meanwhile the opponent gets ready for its first move
            self._loading.start(self._run(self._shared.searches.short, lambda _: thread_work.load(opponents)))

    async def load(self, name: str, text: str) -> str:
        """Opens the game of a file for two people; returns a note of what could not be read."""
        form, current = f".{name.rpartition('.')[2].lower()}", self.session
        if form not in (".sgf", ".psq", ".txt"):
            raise MessageError("expected a file that ends with .sgf, .psq or .txt", "name")
        is_bare = form == ".txt" and "tengen" not in text  # a list of moves: of the game that is on the board
        game = current.game.name if is_bare and current is not None else None
        variations, note = await self._run(
            self._shared.searches.files, lambda _: thread_work.parse(text, form, game)
        )
        session = GameSession(variations[variations.root].position, now=self._shared.now)
        self._begin(session, PERSONS)
        session.open(variations)
        return note

    async def _animated(self) -> str:
        """The game, or the variation that is being viewed, as a GIF in base64."""
        session = self._game()
        played, viewed = (session.variations.path(end) for end in (session.tip, session.variations.current))
        is_variation = played[: len(viewed)] != viewed
        positions = [node.position for node in (viewed if is_variation else played)]
        return await self._run(self._shared.searches.files, lambda _: thread_work.animate(positions))

    def _begin(self, session: GameSession, seats: tuple[AnySeat, AnySeat]) -> None:
        """Puts a game in the place of the last one."""
        self._stop_everything()
        self._close_players()
        self.session, self._seats = session, seats
        self._judged, self._is_counted = {}, False

    def _seated(self, seat: AnySeat, game: Game) -> KeptPlayer | None:
        spec = seat_player(seat, game)
        return None if spec is None else self._shared.players.reserve(spec, game, SEAT)

    def _adviser(self, purpose: str) -> KeptPlayer:
        """The player for "analysis", "advice" or "review": each keeps its own tree."""
        game = self._game().game
        if purpose not in self._players:
            self._players[purpose] = self._shared.players.reserve(players.analyst(game), game, ADVISER)
        return self._players[purpose]

    # The opponent.

    def _follow_reply(self, session: GameSession) -> None:
        """Lets the opponent think if it is its turn in the game, and stops it if it is not any more."""
        is_wanted = self.is_connected and not (
            session.is_looking or session.is_over or session.is_persons_turn
        )
        if not is_wanted:
            self._reply.stop()
            return
        player, position, limit = session.request()
        key = (session, session.tip, player)
        if self._reply.key != key:
            assert isinstance(player, KeptPlayer)
            self._reply.start(self._let_reply(session, player, position, limit), key)

    async def _let_reply(
        self, session: GameSession, player: KeptPlayer, position: Position, limit: Limit | None
    ) -> None:
        def think(search: Search) -> Choice:
            return thread_work.choose(search, player, position, limit)

        try:
            session.accept(await self._run(self._shared.searches.short, think, is_patient=True))
        except (PlayerFailedError, UserError) as error:
            session.fail(str(error))
            self.push("notice", message=f"the opponent could not move: {error}")
        except Exception:  # noqa: BLE001  (a bug of ours must not end the connection)
            traceback.print_exc()
            session.fail("an error in Tengen")
            self.push("notice", message="the opponent could not move: an error in Tengen")
        self._reply.stop()
        self.settle()

    # Analysis.

    def _follow_analysis(self, session: GameSession) -> None:
        """Searches the position being viewed, while analysis is on; each position once."""
        is_wanted = self.is_connected and self._is_analysing and not session.position.is_over
        key = (session, session.variations.current)
        if not is_wanted:
            self._analysis.stop()
        elif self._analysis.key != key:
            work = self._analyse(session.variations.node, self._adviser("analysis"))
            self._analysis.start(work, key)

    async def _analyse(self, node: Node, analyst: KeptPlayer) -> None:
        def push(snapshot: Snapshot, exact: list[int | None] | None) -> None:
            self.push("snapshot", node=node.id, snapshot=snapshot_message(snapshot, exact))

        def work(search: Search) -> None:
            thread_work.analyse(search, analyst, node.position, ANALYSIS_SECONDS, self._shared.exact, push)

        try:
            await self._run(self._shared.searches.long, work, seconds=LONG_SECONDS, is_patient=True)
        except (PlayerFailedError, UserError) as error:
            self.push("notice", message=f"no analysis: {error}")

    # Hints and tries.

    async def _hint(self) -> dict[str, Any]:
        session = self._game()
        session.check_can_think()
        position, player = session.position, self._adviser("advice")
        choice = await self._advise(lambda search: thread_work.choose(search, player, position, HINT))
        name = position.game.moves.name
        line = [name(action) for action in (choice.line or (choice.action,))[:MAX_LINE]]
        value = None if choice.value is None else Value(choice.value, position.to_move).seen_by(1)
        return {"move": name(choice.action), "value": value, "line": line}

    async def _try(self, node_id: int, move: str) -> dict[str, Any]:
        variations = self._game().variations
        node = variations[node_id]
        if not node.children:
            raise MessageError("no move was played here: there is nothing to do better", "node")
        played = variations[node.children[0]]
        try:
            tried = node.position.play(move)
        except UserError as error:
            raise MessageError(str(error), "move") from None
        known, player = self._judged.get(played.id), self._adviser("advice")
        outcome, line = await self._advise(
            lambda search: thread_work.compare(
                search, player, TRY, node.position, played.position, tried, known
            )
        )
        is_solution = known is not None and known.better == tried.last_move
        return {
            "is_accepted": outcome.is_accepted or is_solution,
            "lost": round(outcome.lost, 4),
            "played_lost": round(outcome.played_lost, 4),
            "reply_line": list(line[:MAX_LINE]),
        }

    async def _advise(self, work: Callable[[Search], Result]) -> Result:
        """Runs a hint or a try: one at a time."""
        if self._advice.is_busy:
            raise UserError("one question at a time: wait for the last answer")
        task = self._advice.start(self._run(self._shared.searches.short, work))
        await asyncio.wait([task])
        if task.cancelled():
            raise UserError("the question was dropped: the game has changed")
        try:
            result: Result = task.result()
            return result
        except PlayerFailedError as error:
            raise UserError(f"no advice: {error}") from None

    # Review.

    def _start_review(self) -> None:
        session = self._game()
        nodes = session.variations.main_line()
        if len(nodes) == 1:
            raise UserError("there are no moves to review")
        self._judged = {}
        self._review.start(self._judge_all(session, nodes, self._adviser("review")))

    async def _judge_all(self, session: GameSession, nodes: list[Node], judge: KeptPlayer) -> None:
        seconds = min(REVIEW_MOVE_SECONDS, REVIEW_SECONDS / len(nodes))
        limit = Limit(seconds=seconds, simulations=REVIEW_MOVE_SIMULATIONS)

        def note(judged: Judged) -> None:
            self._note_judged(session, nodes[judged.number], judged)

        def work(search: Search) -> None:
            thread_work.judge(search, judge, limit, [node.position for node in nodes], note)

        try:
            await self._run(self._shared.searches.long, work, seconds=LONG_SECONDS)
        except (PlayerFailedError, UserError) as error:
            self.push("notice", message=f"no review: {error}")
            return
        persons = tuple(side for side in (1, 2) if session.seats[side - 1] is None)
        nodes_of = {id(one): node for node, one in self._judged.items()}
        worst = review.worst(self._judged.values(), persons or (1, 2))
        self._review.stop()
        self.settle()
        self.push("reviewed", worst=[nodes_of[id(one)] for one in worst])

    def _note_judged(self, session: GameSession, node: Node, judged: Judged) -> None:
        """Writes a judgement into the game, and tells the page."""
        if session is not self.session or node.id not in session.variations:
            return
        judgement = review.judgement(judged)
        self._judged[node.id] = judged
        session.variations.set_judgement(node.id, judgement)
        session.variations.set_value(node.id, Value(judged.after, judged.player).seen_by(1))
        if node.parent is not None:
            session.variations.set_value(node.parent, Value(judged.before, judged.player).seen_by(1))
        self.push(
            "judged",
            node=node.id,
            move=judged.move,
            judgement=judgement,
            before=judged.before,
            after=judged.after,
            better=judged.better,
            line=list(judged.line),
        )

    # Clocks, results.

    def _follow_clock(self, session: GameSession) -> None:
        """Looks at the clock again when the time of the side to move is up."""
        if self._flag is not None:
            self._flag.cancel()
            self._flag = None
        running = session.clocks.running
        clock = session.clocks.clock(running) if running else None
        if clock is not None and self.is_connected and not session.is_over:
            loop = asyncio.get_running_loop()
            self._flag = loop.call_later(max(0.0, clock.left) + 0.01, self.settle)

    def _count_game(self, session: GameSession) -> None:
        """Remembers the result of a person against a level, once for each game."""
        if session.ending is None or self._is_counted:
            return
        for side, seat in enumerate(self._seats, start=1):
            person = 3 - side
            if isinstance(seat, schemas.LevelSeat) and session.seats[person - 1] is None:
                winner = session.ending.winner
                points = 0.5 if winner is None else float(winner == person)
                self._played.setdefault(session.game.name, []).append((seat.level, points))
                self._is_counted = True

    # Internal.

    def _game(self) -> GameSession:
        if self.session is None:
            raise UserError("there is no game yet: start one")
        return self.session

    def _who_resigns(self) -> int | None:
        """The person who plays against an opponent, whoever is to move; else the side to move."""
        session = self._game()
        persons = [side for side in (1, 2) if session.seats[side - 1] is None]
        return persons[0] if len(persons) == 1 else None

    async def _run(
        self,
        lane: Lane,
        work: Callable[[Search], Result],
        seconds: float = REPLY_SECONDS,
        is_patient: bool = False,
    ) -> Result:
        """Runs work in a thread. Patient work waits if the server is full, and the page is told once."""
        has_told = False
        while True:
            try:
                return await lane.run(work, seconds)
            except ServerFullError as error:
                if not is_patient:
                    raise
                if not has_told:
                    self.push("notice", message=str(error))
                has_told = True
                await asyncio.sleep(RETRY_SECONDS)

    def _stop_everything(self) -> None:
        for slot in (self._reply, self._analysis, self._advice, self._review, self._loading):
            slot.stop()
        if self._flag is not None:
            self._flag.cancel()
            self._flag = None

    def _close_players(self) -> None:
        for player in self._players.values():
            player.close()
        self._players = {}


def _forbidden(position: Position) -> dict[str, str]:
    """The empty points where the player to move may not play by a rule of the game, and why (renju)."""
    game = position.game
    if game.why_illegal is None or position.is_over:
        return {}
    reasons = {action: game.why_illegal(position.state, action) for action in range(game.num_actions)}
    return {game.moves.name(action): reason for action, reason in reasons.items() if reason}
