"""GTP version 2, the protocol of programs for Go: an engine for Sabaki, LizzieYzy, GoGui and others.

    1 play black H8        =1
                                        an empty line ends every answer
    genmove white          = J9
    play black Z99         ? 'Z99' is not on the board: points are A1 to P15, without I
    kata-analyze 50        =
                           info move G7 visits 120 winrate 0.612000 …     twice a second, until a line comes

A game is a list of positions, the last one is the current. One player thinks for both sides. docs/gtp.md is
for users.
"""

import re
import time
from collections.abc import Callable, Iterable

from tengen import __version__, notices, players
from tengen.errors import UserError
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.players.limit import Limit
from tengen.players.player import Player, PlayerFailedError
from tengen.protocols.analysis_service import explained
from tengen.protocols.gtp_analysis import Form, info_line, read_wishes
from tengen.protocols.gtp_board import (
    PASS,
    action_at,
    board_text,
    check_game,
    resized,
    score,
    side_of,
    vertex,
    with_turn,
)
from tengen.protocols.gtp_inbox import Inbox
from tengen.protocols.gtp_time import TimeControl, seconds_of, stones_of

NAME = "Tengen"
MAX_KOMI = 1000.0
COMMAND = re.compile(r"(?:([0-9]{1,18})(?:\s+|$))?(.*)")  # [id] command arguments

Words = list[str]


class Gtp:
    """Obeys commands until `quit` or the end of its input."""

    def __init__(
        self, game: Game, spec: str | None, lines: Iterable[bytes], write: Callable[[str], None]
    ) -> None:
        """spec: the player; None: the nearest bundled network, else uct. write: sends some text."""
        check_game(game)
        self._spec, self._write = spec, write
        self._time, self._num_games = TimeControl(), 0
        self._player = self._find_player(game)
        self._positions = [Position.start(game)]
        self._inbox = Inbox(lines)
        self._commands: dict[str, Callable[[Words], str]] = {
            "protocol_version": lambda words: "2",
            "name": lambda words: NAME,
            "version": lambda words: __version__,
            "known_command": self._known_command,
            "list_commands": lambda words: "\n".join(self._all_commands),
            "quit": lambda words: "",
            "boardsize": self._boardsize,
            "rectangular_boardsize": self._boardsize,
            "clear_board": self._clear_board,
            "komi": self._komi,
            "play": self._play,
            "genmove": self._genmove,
            "reg_genmove": self._reg_genmove,
            "undo": self._undo,
            "showboard": lambda words: "\n" + board_text(self.position),
            "final_score": lambda words: score(self.position),
            "time_settings": self._time_settings,
            "time_left": self._time_left,
            "clear_cache": self._clear_cache,
            "stop": lambda words: "",  # any line stops an analysis
            "gogui-rules_game_id": lambda words: self.position.game.name,
            "gogui-rules_board_size": lambda words: str(self.position.game.rows),
            "gogui-rules_board": lambda words: "\n" + board_text(self.position),
            "gogui-rules_legal_moves": self._legal_moves,
            "gogui-rules_side_to_move": lambda words: ("black", "white")[self.position.to_move - 1],
            "gogui-rules_final_result": lambda words: str(self.position.outcome),
        }
        self._live_commands: dict[str, tuple[Form, bool]] = {  # (form, does it play a move?)
            "lz-analyze": ("lz", False),
            "lz-genmove_analyze": ("lz", True),
            "kata-analyze": ("kata", False),
            "kata-genmove_analyze": ("kata", True),
        }

    @property
    def position(self) -> Position:
        return self._positions[-1]

    @property
    def _all_commands(self) -> list[str]:
        return sorted((*self._commands, *self._live_commands))

    def run(self) -> None:
        """Answers every line with a command. OSError if nobody takes the answers."""
        try:
            for line in self._inbox:
                if self._obey(line) == "quit":
                    return
        finally:
            self._player.close()

    def _obey(self, line: bytes) -> str:
        """Does what a line says, and answers; returns the command's name."""
        match = COMMAND.fullmatch(cleaned(line))
        if match is None or not match[0]:
            return ""
        ident, words = match[1] or "", match[2].split()
        name, arguments = (words[0], words[1:]) if words else ("", [])
        try:
            if name in self._live_commands:
                self._think_aloud(ident, arguments, *self._live_commands[name])
            elif name in self._commands:
                answer = self._commands[name](arguments)
                space = " " if answer and not answer.startswith("\n") else ""
                self._write(f"={ident}{space}{answer}\n\n")
            else:
                self._write(f"?{ident} unknown command\n\n")
        except (UserError, PlayerFailedError) as error:
            self._write(f"?{ident} {' '.join(str(error).split())}\n\n")
        except OSError:
            raise
        except Exception as error:  # noqa: BLE001  (the next command may do better)
            self._write(f"?{ident} {explained(error)}\n\n")
        return name

    # The board.

    def _known_command(self, words: Words) -> str:
        return "true" if words and words[0] in self._all_commands else "false"

    def _boardsize(self, words: Words) -> str:
        """`boardsize 15`, or columns and rows: `boardsize 7 6`."""
        if not 1 <= len(words) <= 2 or not all(re.fullmatch(r"[0-9]{1,3}", word) for word in words):
            raise UserError("boardsize not an integer: expected `boardsize 15`, or columns and rows")
        try:
            game = resized(self.position.game, rows=int(words[-1]), cols=int(words[0]))
            if game is not self.position.game:
                player = self._find_player(game)
                self._player.close()
                self._player = player
        except UserError as error:
            raise UserError(f"unacceptable size: {error}") from None
        self._positions = [Position.start(game)]
        return self._clear_board([])

    def _clear_board(self, words: Words) -> str:
        self._positions = [Position.start(self.position.game)]
        self._num_games += 1
        self._player.new_game(self._num_games)
        return ""

    def _komi(self, words: Words) -> str:
        """Accepts it: programs for Go always send it, and it means nothing here."""
        _expect(words, 1, "komi NUMBER")
        try:
            is_number = abs(float(words[0])) <= MAX_KOMI
        except ValueError:
            is_number = False
        if not is_number:
            raise UserError(f"komi is a number, got '{words[0][:20]}'; it is ignored in any case")
        return ""

    def _play(self, words: Words) -> str:
        _expect(words, 2, "play COLOR POINT")
        side = side_of(words[0])
        if self.position.is_over and words[1].lower() == PASS:  # as programs end a game of Go
            self._positions.append(self.position)
            return ""
        position = with_turn(self.position, side)
        if position.is_over:
            raise UserError(f"illegal move: the game is over, {position.outcome}")
        action = action_at(position, words[1])
        if not position.legal_mask[action]:
            reason = position.why_illegal(action).partition(";")[0]  # then come moves by their other names
            raise UserError(f"illegal move: {reason}")
        self._positions.append(position.play(action))
        return ""

    def _undo(self, words: Words) -> str:
        if len(self._positions) == 1:
            raise UserError("cannot undo: there is no move to take back")
        self._positions.pop()
        return ""

    def _legal_moves(self, words: Words) -> str:
        return " ".join(vertex(self.position, action) for action in self.position.legal_actions)

    # Time.

    def _time_settings(self, words: Words) -> str:
        _expect(words, 3, "time_settings MAIN_TIME OVERTIME STONES")
        self._time.set(seconds_of(words[0]), seconds_of(words[1]), stones_of(words[2]))
        if self._time.limit(1) is not None:
            self._prepare(self._time.limit(1))
        return ""

    def _time_left(self, words: Words) -> str:
        _expect(words, 3, "time_left COLOR SECONDS STONES")
        self._time.tell(side_of(words[0]), seconds_of(words[1]), stones_of(words[2]))
        return ""

    # Thinking.

    def _genmove(self, words: Words) -> str:
        _expect(words, 1, "genmove COLOR")
        position = with_turn(self.position, side_of(words[0]))
        if position.is_over:
            return _said_at_the_end(position, side_of(words[0]))
        limit = self._time.limit(position.to_move)
        self._prepare(limit)
        began = time.monotonic()
        action = self._player.choose(position, limit).action
        return self._moved(position, action, time.monotonic() - began)

    def _reg_genmove(self, words: Words) -> str:
        """The move that genmove would play, which is not played."""
        _expect(words, 1, "reg_genmove COLOR")
        position = with_turn(self.position, side_of(words[0]))
        if position.is_over:
            return _said_at_the_end(position, side_of(words[0]))
        self._prepare(None)
        return vertex(position, self._player.choose(position).action)

    def _clear_cache(self, words: Words) -> str:
        self._player.new_game(self._num_games)
        return ""

    def _think_aloud(self, ident: str, words: Words, form: Form, plays: bool) -> None:
        """Shows what a search finds: until a line comes, or to the move that is played then."""
        wishes = read_wishes(words)
        side = wishes.side or self.position.to_move
        position = with_turn(self.position, side)
        if position.is_over and not plays:
            raise UserError(f"nothing to analyse: the game is over, {position.outcome}")
        limit = self._time.limit(side) if plays else Limit()
        self._prepare(limit)
        self._write(f"={ident}\n")
        if position.is_over:
            self._write(f"play {_said_at_the_end(position, side)}\n\n")
            return
        analysis = self._player.analyse(position, limit, wishes.every)
        try:
            if plays:
                for snapshot in analysis:
                    self._write(info_line(snapshot, position, form, wishes) + "\n")
                moved = self._moved(position, analysis.best.action, analysis.seconds)
                self._write(f"play {moved}\n\n")
                return
            with self._inbox.stopping(analysis.stop):
                for snapshot in analysis:
                    if not (snapshot.is_final and self._inbox.has_more):
                        self._write(info_line(snapshot, position, form, wishes) + "\n")
                self._inbox.wait()
        except (UserError, PlayerFailedError) as error:  # the answer has begun already
            notices.say_once(str(error))
            self._write("play resign\n" if plays else "")
        self._write("\n")

    def _moved(self, position: Position, action: int, seconds: float) -> str:
        """Plays a move of the player; returns its point."""
        try:
            self._positions.append(position.play(action))
        except UserError as error:
            raise PlayerFailedError(str(error)) from None
        self._time.spend(position.to_move, seconds)
        return vertex(position, action)

    def _find_player(self, game: Game) -> Player:
        found = players.find(self._spec or players.opponent(game), game)
        self._prepared: set[bool] = set()
        return found

    def _prepare(self, limit: Limit | None) -> None:
        """Compiles and loads what a move under such a limit needs. The first time the tree is forgotten."""
        has_number = limit is None  # of simulations: then some players search in another way
        if has_number not in self._prepared:
            self._player.prepare(limit)
            self._player.new_game(self._num_games)
            self._prepared.add(has_number)


def cleaned(line: bytes) -> str:
    """A line as GTP wants it read: without control characters, comments and space at its ends."""
    text = line.decode("ascii", "replace").partition("#")[0].replace("\t", " ")
    return "".join(character for character in text if character.isprintable()).strip()


def _said_at_the_end(position: Position, side: int) -> str:
    """A game of Go ends by a resignation or passes, so this is how a side says that the game is over."""
    return "resign" if position.winner == 3 - side else PASS


def _expect(words: Words, count: int, usage: str) -> None:
    if len(words) < count:
        raise UserError(f"syntax error: expected `{usage}`")
