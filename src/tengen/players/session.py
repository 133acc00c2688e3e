"""GameSession: a game in progress between people and players, without terminal or socket.

    session = GameSession("gomoku15", seats=(None, player), names=("Ann", "uct"))     # None: a person
    session.prepare()                     # compile and load, before any clock runs
    session.start()                       # players forget the last game, clocks run
    session.play("h8")                    # the person's move
    session.reply()                       # the player's
    session.undo(); session.redo(); session.resign(); session.hint(); session.save("game.sgf")
    session.to_json()                     # all of it as plain values, for a browser

Terminal, browser and protocols translate what people and programs say into these calls.

The game is the main line of `variations` up to the node `tip`. If the user goes to another node, the session
is "looking": the clocks pause, and moves played there are variations, for either side. `resume` returns to
the game, `continue_here` makes the line being viewed the game.

A session is used by one thread at a time. It does not close its players: the code that made them does.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

from tengen import files
from tengen.errors import UserError
from tengen.games import records
from tengen.games.game import Game
from tengen.games.position import Position, Value
from tengen.games.variations import Node, Variations
from tengen.players import session_json
from tengen.players.ending import Ending
from tengen.players.game_clocks import Clocks, GameClocks
from tengen.players.limit import Limit
from tengen.players.player import Choice, Player, PlayerFailedError

PERSON = "human"  # the name of a person who gave none

Seats = tuple[Player | None, Player | None]  # of the first and the second player; None: a person


class GameSession:
    """One game, from the start or a position, and all operations on it."""

    def __init__(
        self,
        game: Game | str | Position,
        seats: Seats = (None, None),
        names: tuple[str, str] | None = None,
        *,
        clocks: Clocks | None = None,
        adviser: Callable[[], Player] | None = None,
        seed: int = 0,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """game: a position includes the moves that led to it. names: as they are saved with the game.

        adviser: makes the player for hints, at the first hint; without it, hints come from a player of the
        game. now: the time in seconds for the clocks."""
        position = game if isinstance(game, Position) else Position.start(game)
        self.seats, self.seed = seats, seed
        self.names = names or (_name(seats[0]), _name(seats[1]))
        self.variations = Variations.from_position(position)
        self.tip = self.variations.current  # the current node of the game
        self._opened_at = self.tip, "*"  # the tip of a game from a file, and the file's result
        self._decided: Ending | None = None  # not on the board; a loss on time is read from the clocks
        self._adviser: Callable[[], Player] = cache(adviser) if adviser else self._seated_player
        self._clocks_at_start, self._now = clocks or (None, None), now
        self.clocks = GameClocks(self._clocks_at_start, now)
        self._has_started = False

    # State.

    @property
    def game(self) -> Game:
        return self.position.game

    @property
    def position(self) -> Position:
        """The position being viewed: that of the game, unless the session is looking elsewhere."""
        return self.variations.node.position

    @property
    def is_looking(self) -> bool:
        """Is the node being viewed different from the game's current node?"""
        return self.variations.current != self.tip

    @property
    def ending(self) -> Ending | None:
        """How the game ended; None if it is not over."""
        if self._decided is not None:
            return self._decided
        position = self.variations[self.tip].position
        if position.is_over:
            return Ending(position.winner, "board")
        fallen = self.clocks.fallen
        return None if fallen is None else Ending(3 - fallen, "time")

    @property
    def is_over(self) -> bool:
        return self.ending is not None

    @property
    def result(self) -> str:
        """One of records.RESULTS."""
        return self.ending.result if self.ending else "*"

    @property
    def status(self) -> str:
        """How the game ended or who is to move, in words."""
        if self.ending:
            return self.ending.describe(self.names)
        return f"{'XO'[self.variations[self.tip].position.to_move - 1]} to move"

    @property
    def is_persons_turn(self) -> bool:
        """Is a person to move in the position being viewed?"""
        return self.seats[self.position.to_move - 1] is None

    def to_json(self) -> dict[str, object]:
        """The whole state as plain values; session_json.py says which."""
        return session_json.describe(self)

    # Starting.

    def prepare(self) -> None:
        """Lets the players compile and load what their first moves need."""
        for player in self._players():
            player.prepare()

    def start(self) -> None:
        """Starts the game: the players forget the last game, and the clocks run from now on."""
        for player in self._players():
            player.new_game(self.seed)
        self._has_started = True
        self._run_clock()

    def new_game(self, seed: int | None = None) -> None:
        """Starts again from the first position, with full clocks; without a seed, uses the next one."""
        self.seed = self.seed + 1 if seed is None else seed
        self.open(Variations(self.variations[self.variations.root].position))

    def open(self, variations: Variations) -> None:
        """Continues a game where it stands, but not in a variation. Two people get the names in that game."""
        if variations.node.position.game.name != self.game.name:
            raise UserError(f"it is a game of {variations.node.position.game.name}, this is {self.game.name}")
        if not variations.is_main(variations.current):
            variations.go_to(variations.main_line()[-1].id)
        self.variations, self.tip = variations, variations.current
        self._opened_at = self.tip, variations.facts.result
        if not self._players():
            first, second = variations.facts.players
            self.names = (first or self.names[0], second or self.names[1])
        self._decided = None
        self.clocks = GameClocks(self._clocks_at_start, self._now)
        self.start()

    # Moves.

    def play(self, move: str | int) -> Node:
        """Plays a person's move at the node being viewed; UserError says why it cannot be played."""
        if not self.is_looking:
            self._check_not_decided()
            if not (self.position.is_over or self.is_persons_turn):
                raise UserError(
                    f"it is the turn of {self.names[self.position.to_move - 1]}: wait for the reply"
                )
        return self._enter(move)

    def reply(self, limit: Limit | None = None) -> Choice | None:
        """The move of the player whose turn it is, after it is played.

        None if it failed, played nonsense or ran out of time: it has lost, and `ending` says why."""
        player, position, limit = self.request(limit)
        try:
            choice = player.choose(position, limit)
        except PlayerFailedError as error:
            self.fail(str(error))
            return None
        return self.accept(choice)

    def request(self, limit: Limit | None = None) -> tuple[Player, Position, Limit | None]:
        """Whom to ask for the next move, in which position and within which limit.

        `reply` in two steps, for callers that search in another thread: ask the player, then `accept` its
        choice (or `fail`), provided that the session still views the same node."""
        side = self.position.to_move
        player = self.seats[side - 1]
        self.check_can_think()
        if player is None:
            name = self.names[side - 1]
            raise UserError(f"it is the turn of {name}, a person: nobody can be asked for a reply")
        clock = None if self.is_looking else self.clocks.clock(side)
        if clock is not None:
            limit = replace(limit or Limit(), clock=clock)
        return player, self.position, limit

    def accept(self, choice: Choice) -> Choice | None:
        """Plays what the player to move has chosen; None if that is illegal or came too late."""
        if not self.is_looking and self.is_over:  # on time
            self._run_clock()
            return None
        try:
            self._enter(choice.action)
        except UserError as error:
            self.fail(str(error))
            return None
        return choice

    def fail(self, reason: str) -> None:
        """The player to move could not move: it loses the game. In a variation, UserError."""
        side = self.position.to_move
        if self.is_looking:
            raise UserError(f"{self.names[side - 1]} could not move: {reason}")
        self._decide(Ending(3 - side, "failed", reason))

    def undo(self) -> None:
        """Takes back a resignation or a failure, else the person's last move and what followed it."""
        if self._decided is not None:
            self._decided = None
        else:
            self._check_time()
            self.tip = self._tip_before()
        self.resume()

    def redo(self) -> None:
        """Plays again what undo took back, up to the person's next turn."""
        self._check_not_decided()
        following = self.variations.main_line(self.tip)[1:]
        if not following:
            raise UserError("there is no move to play again")
        for node in following:
            self.tip = node.id
            if not (self._is_players_turn(node) and self._has_person()):
                break
        self.resume()

    @property
    def can_undo(self) -> bool:
        if self._decided is not None:
            return True
        try:
            self._check_time()
            self._tip_before()
        except UserError:
            return False
        return True

    @property
    def can_redo(self) -> bool:
        is_decided = self.ending is not None and self.ending.reason != "board"
        return not is_decided and bool(self.variations[self.tip].children)

    def resign(self, side: int | None = None) -> None:
        """Resigns for a side, by default the side to move."""
        self._check_not_over()
        loser = self.variations[self.tip].position.to_move if side is None else side
        if loser not in (1, 2):
            raise UserError(f"a side is 1 or 2, got {loser}")
        self._decide(Ending(3 - loser, "resigned"))

    def swap_sides(self) -> None:
        """Exchanges the two seats; clocks and stones stay with their side."""
        self.seats, self.names = self.seats[::-1], self.names[::-1]

    # Viewing other nodes.

    def go_to(self, node_id: int) -> Node:
        self.variations.go_to(node_id)
        self._run_clock()
        return self.variations.node

    def back(self) -> Node:
        return self.go_to(self.variations.back().id)

    def forward(self) -> Node:
        return self.go_to(self.variations.forward().id)

    def first(self) -> Node:
        return self.go_to(self.variations.first().id)

    def last(self) -> Node:
        return self.go_to(self.variations.last().id)

    def resume(self) -> Node:
        """Returns to the game's current node."""
        return self.go_to(self.tip)

    def continue_here(self) -> None:
        """Makes the line to the node being viewed the game, and continues from there."""
        self._check_time()
        self.variations.promote(self.variations.current)
        self.tip, self._decided = self.variations.current, None
        self._run_clock()

    def promote(self, node_id: int) -> None:
        """Makes the line to a node the main line. If the game was elsewhere, it moves to its end."""
        self.variations.promote(node_id)
        if not self.variations.is_main(self.tip):
            self.tip, self._decided = self.variations.main_line()[-1].id, None
        self._run_clock()

    def delete(self, node_id: int) -> None:
        """Removes a move and all that follows; if the game was there, it continues from the move before."""
        before = self.variations[node_id].parent
        self.variations.delete(node_id)
        if self.tip not in self.variations:
            assert before is not None
            self.tip, self._decided = before, None
        self._run_clock()

    def comment(self, text: str, node_id: int | None = None) -> None:
        """Writes a comment at a node, by default the node being viewed; it replaces the old one."""
        self.variations.set_comment(self.variations.current if node_id is None else node_id, text)

    # Advice.

    def hint(self, limit: Limit | None = None) -> Choice:
        """The move that the adviser would play in the position being viewed, and its evaluation."""
        self.check_can_think()
        try:
            return _ask(self._adviser(), self.position, limit)
        except PlayerFailedError as error:
            raise UserError(f"no advice: {error}") from None

    def evaluate(self, limit: Limit | None = None) -> Choice:
        """Like hint; also stores the value at the node, for the first player."""
        choice = self.hint(limit)
        if choice.value is not None:
            value = Value(choice.value, self.position.to_move).seen_by(1)
            self.variations.set_value(self.variations.current, max(-1.0, min(1.0, value)))
        return choice

    def check_can_think(self) -> None:
        """UserError if there is nothing to think about in the position being viewed."""
        if not self.is_looking:
            self._check_not_over()
        elif self.position.is_over:
            raise UserError(f"the game is over here, {self.position.outcome}")

    # Files.

    def export(self, form: str) -> tuple[str, str]:
        """The game as the text of a file (".sgf", ".psq", ".txt"), and a note of what is left out there."""
        tip, result = self._opened_at
        if self.is_over or tip != self.tip:
            result = self.result
        self.variations.facts = replace(self.variations.facts, players=self.names, result=result)
        return records.render_variations(self.variations, form, end=self.tip)

    def save(self, path: Path | str) -> str:
        """Writes the game to a file, in the format of its extension; returns a note of what was left out."""
        text, note = self.export(Path(path).suffix)
        files.write_text(path, text)
        return note

    def load(self, path: Path | str) -> str:
        """Continues a game from a file; returns a note of what could not be read."""
        variations, note = records.read_variations(path)
        name = variations.node.position.game.name
        if name != self.game.name:
            raise UserError(f"{path} is a game of {name}, this is {self.game.name}")
        self.open(variations)
        return note

    # Internal.

    def _enter(self, move: str | int) -> Node:
        """Plays a move at the node being viewed; in the game itself, it becomes the main line."""
        is_game, side = not self.is_looking, self.position.to_move
        node = self.variations.play(move)
        if is_game:
            self.clocks.press(side)
            self.variations.promote(node.id)
            self.tip = node.id
        self._run_clock()
        return node

    def _decide(self, ending: Ending) -> None:
        self._decided = ending
        self._run_clock()

    def _run_clock(self) -> None:
        """Runs the clock of the side to move, unless the game is over or the session is looking elsewhere."""
        runs = self._has_started and not (self.is_over or self.is_looking)
        self.clocks.run(self.position.to_move if runs else None)

    def _tip_before(self) -> int:
        """The node where undo continues: before the last move of a person, if one plays."""
        before = self._before(self.tip)
        while self._is_players_turn(before) and self._has_person():
            before = self._before(before.id)
        return before.id

    def _before(self, node_id: int) -> Node:
        parent = self.variations[node_id].parent
        if parent is None:
            raise UserError("there is no move to take back")
        return self.variations[parent]

    def _players(self) -> list[Player]:
        return [player for player in self.seats if player is not None]

    def _has_person(self) -> bool:
        return None in self.seats

    def _is_players_turn(self, node: Node) -> bool:
        return self.seats[node.position.to_move - 1] is not None

    def _seated_player(self) -> Player:
        if not self._players():
            raise UserError("no advice: no player takes part who could be asked")
        return self._players()[0]

    def _check_not_decided(self) -> None:
        if self.ending and self.ending.reason != "board":
            back = "" if self.ending.reason == "time" else ": undo takes that back"
            raise UserError(f"the game is over, {self.status}{back}")

    def _check_time(self) -> None:
        if self.ending and self.ending.reason == "time":
            raise UserError(f"the game is over, {self.status}: start a new one")

    def _check_not_over(self) -> None:
        if self.is_over:
            raise UserError(f"the game is over, {self.status}")


def _ask(player: Player, position: Position, limit: Limit | None) -> Choice:
    """A legal move of a player; an illegal move is a failure like any other."""
    choice = player.choose(position, limit)
    try:
        position.play(choice.action)
    except UserError as error:
        raise PlayerFailedError(str(error)) from None
    return choice


def _name(seat: Player | None) -> str:
    return PERSON if seat is None else type(seat).__name__.lower()
