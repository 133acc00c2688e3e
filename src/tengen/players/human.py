"""A person at the keyboard: as a player like any other, and the conversation around a game with one."""

import importlib
import io
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import TextIO

from tengen.errors import UserError
from tengen.games import records
from tengen.games.game import Game
from tengen.games.position import Position, Value
from tengen.games.spec import did_you_mean
from tengen.players.player import Choice, Player, PlayerFailedError
from tengen.terminal import has_color

HELP = """\
  {move:<10} play this move
  undo       take back your last move and the reply
  hint       what the opponent would play in your place
  eval       what the opponent thinks of the position
  resign     give the game up
  save FILE  write the game: .sgf .psq, or .txt for every game
  load FILE  go on with a written game
  quit       leave"""


class Terminal:
    """Where a person reads and types. A pipe will do: it gets no colour and no prompt."""

    def __init__(self, source: TextIO | None = None, sink: TextIO | None = None) -> None:
        self._source, self._sink = source or sys.stdin, sink or sys.stdout
        self._is_interactive = source is None and sink is None and sys.stdin.isatty() and sys.stdout.isatty()
        self._has_color = has_color(self._sink)
        if isinstance(self._source, io.TextIOWrapper):
            self._source.reconfigure(errors="replace")  # bytes that are no text are no move either
        if self._is_interactive:
            with suppress(ImportError):
                importlib.import_module("readline")  # gives input() a history and a cursor

    def say(self, text: str) -> None:
        print(text, file=self._sink, flush=True)

    def show(self, position: Position) -> None:
        self.say("\n" + position.text(color=self._has_color))

    def ask(self) -> str | None:
        """A line that was typed; None at the end of input."""
        if not self._is_interactive:
            line = self._source.readline()
            return line.strip() if line else None
        try:
            return input("> ").strip()
        except EOFError:
            self.say("")
            return None


class Human(Player):
    """Asks for moves until a legal one comes."""

    summary = "a person at the keyboard"

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self._terminal = Terminal()

    def choose(self, position: Position) -> Choice:
        self._terminal.show(position)
        while (line := self._terminal.ask()) is not None:
            try:
                position.play(line)
            except UserError as error:
                self._terminal.say(str(error))
            else:
                return Choice(position.parse(line))
        raise PlayerFailedError("the person at the keyboard has left")


class Conversation:
    """A game between a person and a player, or two persons, with all that is said beside the moves."""

    def __init__(
        self,
        position: Position,
        seats: tuple[Player, Player],  # persons are Humans; they are asked here, not by themselves
        names: tuple[str, str],
        adviser: Callable[[], Player],  # asked for when the first hint is
        seed: int = 0,
        terminal: Terminal | None = None,
    ) -> None:
        self.position = position
        self._seats, self._names, self._seed = seats, names, seed
        self._terminal = terminal or Terminal()
        self._loser: int | None = None  # by resigning or failing; the board does not show it
        self._adviser = cache(adviser)
        self._commands = {
            "undo": self._undo,
            "hint": self._hint,
            "eval": self._evaluate,
            "resign": self._resign,
            "help": self._help,
        }
        self._file_commands = {"save": self._save, "load": self._load}

    @property
    def is_over(self) -> bool:
        return self.position.is_over or self._loser is not None

    def run(self) -> None:
        """Plays until the person leaves: by `quit` or at the end of input."""
        self._start()
        while True:
            if not (self.is_over or self._is_persons_turn(self.position)):
                self._reply()
                continue
            line = self._terminal.ask()
            if line is None or line.lower() == "quit":
                return
            try:
                self._obey(line)
            except UserError as error:  # costs nothing
                self._terminal.say(str(error))

    def _start(self) -> None:
        for player in self._seats:
            player.new_game(self._seed)
        self._look()

    def _obey(self, line: str) -> None:
        word, _, argument = line.partition(" ")
        word = word.lower()
        if word in self._file_commands:
            if not argument.strip():
                raise UserError(f"{word} needs a file: {word} game.txt")
            self._file_commands[word](os.path.expanduser(argument.strip()))
        elif word in self._commands:
            self._commands[word]()
        elif line:
            self._play(line)

    # Moves.

    def _play(self, move: str) -> None:
        if self._loser is not None:
            raise UserError(f"the game is over, {self._result()}: undo takes that back")
        try:
            self.position = self.position.play(move)
        except UserError as error:
            hint = did_you_mean(move.lower(), [*self._commands, *self._file_commands, "quit"])
            raise UserError(f"{error}{hint}") from None
        self._look()

    def _reply(self) -> None:
        seat = self.position.to_move
        try:
            choice = self._seats[seat - 1].choose(self.position)
        except PlayerFailedError as error:
            self._terminal.say(f"{self._names[seat - 1]} could not move: {error}")
            self._loser = seat
        else:
            self.position = self.position.play(choice.action)
            self._terminal.say(f"{self._names[seat - 1]} plays {self.position.last_move}")
        self._look()

    def _undo(self) -> None:
        if self._loser is not None:
            self._loser = None
        else:
            before = self.position.undo()
            while not self._is_persons_turn(before):
                before = before.undo()
            self.position = before
        self._look()

    def _resign(self) -> None:
        self._check_not_over()
        self._loser = self.position.to_move
        self._look()

    # Advice.

    def _hint(self) -> None:
        if choice := self._advice():
            self._terminal.say(f"hint: {self.position.game.moves.name(choice.action)}")

    def _evaluate(self) -> None:
        if choice := self._advice():
            name = self.position.game.moves.name
            value = "no value" if choice.value is None else Value(choice.value, self.position.to_move)
            line = " ".join(name(action) for action in choice.line or (choice.action,))
            self._terminal.say(f"{value}; expects {line}" + (f"; {choice.note}" if choice.note else ""))

    def _advice(self) -> Choice | None:
        self._check_not_over()
        try:
            return self._adviser().choose(self.position)
        except PlayerFailedError as error:
            self._terminal.say(f"no advice: {error}")
            return None

    # Files.

    def _save(self, path: str) -> None:
        result = "" if self._loser is None else ("0-1", "1-0")[self._loser - 1]
        pairs = zip(self._seats, self._names, strict=True)
        first, second = ("human" if isinstance(player, Human) else name for player, name in pairs)
        records.write(records.Record.from_position(self.position, (first, second), result), path)
        self._terminal.say(f"saved {path}")

    def _load(self, path: str) -> None:
        record = records.read(path)
        if record.game != self.position.game.name:
            raise UserError(f"{path} is a game of {record.game}, this is {self.position.game.name}")
        self.position, self._loser = record.position(), None
        self._start()

    # What is said.

    def _help(self) -> None:
        self._terminal.say(HELP.format(move=next(iter(self.position.legal_moves), "h8")))

    def _look(self) -> None:
        """Shows the board when a person has to look at it."""
        if self.is_over or self._is_persons_turn(self.position):
            self._terminal.show(self.position)
        if self.is_over:
            moves = " ".join(self.position.moves) or "none"
            self._terminal.say(f"{self._result()}; moves: {moves}\nsave FILE, undo or quit?")

    def _result(self) -> str:
        winner = self.position.winner if self._loser is None else 3 - self._loser
        if winner is None:
            return "a draw"
        how = "" if self._loser is None else f", {'XO'[self._loser - 1]} gave up"
        return f"{'XO'[winner - 1]} wins ({self._names[winner - 1]}){how}"

    def _is_persons_turn(self, position: Position) -> bool:
        return isinstance(self._seats[position.to_move - 1], Human)

    def _check_not_over(self) -> None:
        if self.is_over:
            raise UserError(f"the game is over, {self._result()}")
