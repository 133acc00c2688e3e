"""A game in the terminal: translates between typed commands, printed text and a GameSession.

    TerminalGame(GameSession("connect4", seats=(None, player), names=("human", "uct"))).run()

It also works over a pipe and in a notebook.
"""

import importlib
import io
import os
import sys
from contextlib import suppress
from typing import TextIO

from tengen.errors import UserError
from tengen.games.position import Position, Value
from tengen.games.spec import did_you_mean
from tengen.players.player import Choice
from tengen.players.session import PERSON, GameSession
from tengen.terminal import has_color

HELP = """\
  {move:<10} play this move
  undo       take back your last move and the reply
  redo       play again what undo took back
  hint       what the opponent would play in your place
  eval       what the opponent thinks of the position
  moves      all moves, variations in parentheses, [the last move] in brackets
  resign     give the game up
  save FILE  write the game: .sgf keeps all of it, .txt the moves, .psq five in a row
  load FILE  go on with a written game
  quit       leave"""


class Terminal:
    """Where a person reads and types. It can be a pipe: then without colour and prompt."""

    def __init__(self, source: TextIO | None = None, sink: TextIO | None = None) -> None:
        self._source, self._sink = source or sys.stdin, sink or sys.stdout
        self._is_interactive = source is None and sink is None and _has_prompt()
        self._has_color = has_color(self._sink)
        if isinstance(self._source, io.TextIOWrapper):
            self._source.reconfigure(errors="replace")  # bytes that are not text are not a move either
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


def _has_prompt() -> bool:
    """Does input() reach a person: in a terminal, or in a notebook, which has no readable stdin?"""
    return "ipykernel" in sys.modules or (sys.stdin.isatty() and sys.stdout.isatty())


class TerminalGame:
    """A session with its prompts, commands and messages."""

    def __init__(self, session: GameSession, terminal: Terminal | None = None) -> None:
        self._session, self._terminal = session, terminal or Terminal()
        self._commands = {
            "undo": self._undo,
            "redo": self._redo,
            "hint": self._hint,
            "eval": self._evaluate,
            "moves": self._moves,
            "resign": self._resign,
            "help": self._help,
        }
        self._file_commands = {"save": self._save, "load": self._load}

    @property
    def names(self) -> tuple[str, str]:
        """The names of the two sides on the screen: a single person is "you"."""
        first, second = self._session.names
        is_first, is_second = (player is None for player in self._session.seats)
        if is_first and is_second:
            return first if first != PERSON else "first", second if second != PERSON else "second"
        return "you" if is_first else first, "you" if is_second else second

    def run(self) -> None:
        """Plays until the person types `quit` or the input ends."""
        summary, (first, second) = self._session.game.summary, self.names
        self._terminal.say(f"{summary}: X {first}, O {second}. Type a move, or help.")
        self._session.start()
        self._look()
        while True:
            if not (self._session.is_over or self._session.is_persons_turn):
                self._reply()
                continue
            line = self._terminal.ask()
            if line is None or line.lower() == "quit":
                return
            try:
                self._obey(line)
            except UserError as error:  # the game goes on
                self._terminal.say(str(error))

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
        ending = self._session.ending
        if ending and ending.reason != "board":
            raise UserError(f"the game is over, {ending.describe(self.names)}: undo takes that back")
        try:
            self._session.play(move)
        except UserError as error:
            hint = did_you_mean(move.lower(), [*self._commands, *self._file_commands, "quit"])
            raise UserError(f"{error}{hint}") from None
        self._look()

    def _reply(self) -> None:
        name = self.names[self._session.position.to_move - 1]
        if self._session.reply() is not None:
            self._terminal.say(f"{name} plays {self._session.position.last_move}")
        elif self._session.ending and self._session.ending.reason == "failed":
            self._terminal.say(f"{name} could not move: {self._session.ending.detail}")
        self._look()

    def _undo(self) -> None:
        self._session.undo()
        self._look()

    def _redo(self) -> None:
        self._session.redo()
        self._look()

    def _resign(self) -> None:
        self._check_not_over()
        self._session.resign()
        self._look()

    # Advice.

    def _hint(self) -> None:
        self._check_not_over()
        choice = self._session.hint()
        self._terminal.say(f"hint: {self._session.game.moves.name(choice.action)}")

    def _evaluate(self) -> None:
        self._check_not_over()
        self._terminal.say(self._describe(self._session.evaluate()))

    def _describe(self, choice: Choice) -> str:
        name = self._session.game.moves.name
        to_move = self._session.position.to_move
        value = "no value" if choice.value is None else Value(choice.value, to_move)
        line = " ".join(name(action) for action in choice.line or (choice.action,))
        return f"{value}; expects {line}" + (f"; {choice.note}" if choice.note else "")

    # Files.

    def _save(self, path: str) -> None:
        note = self._session.save(path)
        self._terminal.say(f"saved {path}" + (f"; {note}" if note else ""))

    def _load(self, path: str) -> None:
        if note := self._session.load(path):
            self._terminal.say(note)
        self._look()

    # Output.

    def _help(self) -> None:
        self._terminal.say(HELP.format(move=next(iter(self._session.position.legal_moves), "h8")))

    def _moves(self) -> None:
        text = self._session.variations.to_text(marked=self._session.tip)
        self._terminal.say(f"moves: {text or 'none'}")

    def _look(self) -> None:
        """Shows the board when a person has to look at it."""
        ending = self._session.ending
        if ending or self._session.is_persons_turn:
            self._terminal.show(self._session.position)
        if ending:
            moves = " ".join(self._session.position.moves) or "none"
            said = f"{ending.describe(self.names)}; moves: {moves}"
            self._terminal.say(f"{said}\nsave FILE, undo or quit?")

    def _check_not_over(self) -> None:
        if self._session.ending:
            raise UserError(f"the game is over, {self._session.ending.describe(self.names)}")
