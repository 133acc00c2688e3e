"""The messages of the page and the server, with their types and limits; docs/web.md explains each.

A message of the page has an id and a type; `read_message` refuses what does not fit, and names the field.
"""

from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import from_json

from tengen.games.spec import did_you_mean
from tengen.protocols.analysis_messages import MAX_CELLS, MAX_MOVE, MAX_MOVES, MAX_NAME, MessageError

MAX_MESSAGE = 2**20  # bytes; the connection is closed if a message is longer
MAX_FILE = 256 * 1024  # characters of a game file
MAX_COMMENT = 10_000  # characters
LARGEST = 2**53 - 1  # the largest whole number that JavaScript keeps exact
LEVELS = range(1, 11)

Id = Annotated[int, Field(ge=0, le=LARGEST)]
NodeId = Annotated[int, Field(ge=0, le=LARGEST)]
Move = Annotated[str, Field(min_length=1, max_length=MAX_MOVE)]


class Strict(BaseModel):
    """No unknown fields, and no conversions such as "5" to 5."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


# Who sits at the board. Nothing else: a page cannot name a player by a spec.


class PersonSeat(Strict):
    kind: Literal["person"]


class LevelSeat(Strict):
    kind: Literal["level"]
    level: Annotated[int, Field(ge=LEVELS[0], le=LEVELS[-1])]


class PerfectSeat(Strict):
    kind: Literal["perfect"]


Seat = Annotated[PersonSeat | LevelSeat | PerfectSeat, Field(discriminator="kind")]


class Setup(Strict):
    cells: Annotated[list[Annotated[int, Field(ge=0, le=2)]], Field(max_length=MAX_CELLS)]
    to_move: Literal[1, 2]


class ClockSetting(Strict):
    seconds: Annotated[float, Field(ge=1, le=86_400, allow_inf_nan=False)]
    increment: Annotated[float, Field(ge=0, le=3600, allow_inf_nan=False)] = 0.0


# What a page says.


class Message(Strict):
    id: Id


class Hello(Message):
    type: Literal["hello"]
    session: Annotated[str, Field(max_length=64)] | None = None
    sgf: Annotated[str, Field(max_length=MAX_FILE)] | None = None


class New(Message):
    type: Literal["new"]
    game: Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
    first: Seat
    second: Seat
    moves: Annotated[list[Move], Field(max_length=MAX_MOVES)] = []
    setup: Setup | None = None
    clock: ClockSetting | None = None


class Play(Message):
    type: Literal["play"]
    move: Move


class Undo(Message):
    type: Literal["undo"]


class Redo(Message):
    type: Literal["redo"]


class Resign(Message):
    type: Literal["resign"]


class Swap(Message):
    type: Literal["swap"]


class Resume(Message):
    type: Literal["resume"]


class Continue(Message):
    type: Literal["continue"]


class Go(Message):
    type: Literal["go"]
    node: NodeId


class Promote(Message):
    type: Literal["promote"]
    node: NodeId


class Delete(Message):
    type: Literal["delete"]
    node: NodeId


class Comment(Message):
    type: Literal["comment"]
    node: NodeId
    text: Annotated[str, Field(max_length=MAX_COMMENT)]


class Hint(Message):
    type: Literal["hint"]


class Analyse(Message):
    type: Literal["analyse"]
    is_on: bool


class Review(Message):
    type: Literal["review"]


class StopReview(Message):
    type: Literal["stop_review"]


class Try(Message):
    type: Literal["try"]
    node: NodeId
    move: Move


class Load(Message):
    type: Literal["load"]
    name: Annotated[str, Field(max_length=255)]
    text: Annotated[str, Field(max_length=MAX_FILE)]


class Export(Message):
    type: Literal["export"]
    form: Literal["sgf", "psq", "txt"]


class Animate(Message):
    type: Literal["animate"]


AnyMessage = (
    Hello | New | Play | Undo | Redo | Resign | Swap | Resume | Continue | Go | Promote | Delete | Comment
    | Hint | Analyse | Review | StopReview | Try | Load | Export | Animate
)  # fmt: skip
TYPES: dict[str, type[Message]] = {
    kind.model_fields["type"].annotation.__args__[0]: kind for kind in get_args(AnyMessage)
}
READER: TypeAdapter[AnyMessage] = TypeAdapter(Annotated[AnyMessage, Field(discriminator="type")])


def read_json(text: str | bytes) -> Any:
    """The values of a text in JSON; MessageError if it is none."""
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise MessageError(f"not JSON: {error}") from None


def id_of(message: object) -> int | None:
    """The id of a message that may be wrong otherwise."""
    found = message.get("id") if isinstance(message, dict) else None
    return found if type(found) is int and 0 <= found <= LARGEST else None


def read_message(message: object) -> AnyMessage:
    """The message that these values are; MessageError says in one line what is wrong."""
    if not isinstance(message, dict):
        raise MessageError("a message is an object with the fields id and type")
    kind = message.get("type")
    if not isinstance(kind, str) or kind not in TYPES:
        hint = did_you_mean(kind[:40], TYPES) if isinstance(kind, str) else ""
        raise MessageError(f"unknown type {_shown(kind)}{hint or ': known are ' + ', '.join(TYPES)}", "type")
    try:
        return READER.validate_python(message)
    except ValidationError as error:
        raise _explained(kind, error) from None


def _explained(kind: str, error: ValidationError) -> MessageError:
    """The first thing that is wrong, with the name of its field."""
    first = error.errors(include_url=False, include_context=False)[0]
    path = [str(part)[:40] for part in first["loc"][1:]]  # the first part is the type of the message
    field = path[0] if path else None
    shown = ".".join(path)
    if first["type"] == "extra_forbidden":
        known = [name for name in TYPES[kind].model_fields if name not in ("id", "type")]
        takes = f"it takes {', '.join(known)}" if known else "it takes none"
        return MessageError(f"{kind} has no field {shown}{did_you_mean(shown, known) or ': ' + takes}", field)
    if first["type"] == "missing":
        return MessageError(f"{kind}: the field {shown} is missing", field)
    what = first["msg"].replace("Input should", "should")
    return MessageError(f"{kind}: {shown} {what}, got {_shown(first['input'])}", field)


def _shown(value: object) -> str:
    """The beginning of a value, for an error message."""
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "…"


# What the server says about its games.


class Level(BaseModel):
    level: int
    elo: int | None = None  # None: not measured
    low: int | None = None  # 95 % interval
    high: int | None = None


Family = Literal[
    "gomoku", "renju", "caro", "standard", "connect4", "tictactoe", "othello", "hex", "other"
]  # fmt: skip


class GameInfo(BaseModel):
    name: str
    summary: str
    family: Family
    rows: int
    cols: int
    look: Literal["points", "squares", "columns", "hexagons"]
    kind: Literal["cells", "columns", "kinds", "pairs", "general"]  # what an action is
    row_one: Literal["top", "bottom"]  # where row 1 is
    network: str | None  # the bundled network that plays it
    note: str  # if that network was trained for another game
    can_set_up: bool
    can_solve: bool  # exact scores for every move
    levels: list[Level]


class Games(BaseModel):
    games: list[GameInfo]


class Health(BaseModel):
    name: Literal["tengen"] = "tengen"
    version: str
