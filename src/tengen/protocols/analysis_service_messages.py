"""What programs ask `tengen analysis`, and what they get: the messages of analysis_messages.py with an id.

    {"id": "a", "game": "connect4", "moves": ["4", "4"]}         a query; setup and limit as described there
        "player": "uct"                 a spec; without: the one of the command line, else the nearest network
        "includePolicy": true           adds "policy": the prior of every action, null where it is not legal
        "reportEvery": 500              partial results, every so many milliseconds
    {"id": "b", "action": "terminate", "terminateId": "a"}       ends a query; its result so far is final
    {"id": "c", "action": "terminate_all"}                       ends all queries
    {"id": "d", "action": "query_version"}

An id is a text or a whole number. A query without `limit` uses its player's own; an empty one is no limit.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from tengen import players
from tengen.errors import UserError
from tengen.games.position import Position
from tengen.games.spec import did_you_mean
from tengen.players.limit import Limit
from tengen.protocols.analysis_messages import MessageError, read_query, shown, snapshot_message
from tengen.protocols.lines import MAX_LINE
from tengen.search.snapshot import Snapshot

MAX_ID = 200  # characters
LARGEST_ID = 2**53 - 1  # the largest whole number that JavaScript keeps exact
MAX_PLAYER = 200  # characters of a spec
LEAST_EVERY, MOST_EVERY = 10, 3_600_000  # milliseconds between two partial results

Id = str | int

ASKED = ("game", "moves", "setup", "limit")  # as analysis_messages.py says
QUERY = ("id", *ASKED, "player", "includePolicy", "reportEvery")
ACTIONS = {  # and their fields
    "terminate": ("id", "action", "terminateId"),
    "terminate_all": ("id", "action"),
    "query_version": ("id", "action"),
}
OUTSIDE = ("human", "engine")  # players that a query cannot name: they need a keyboard, or start a program


@dataclass(frozen=True)
class ServiceQuery:
    """A position to analyse."""

    id: Id
    position: Position
    limit: Limit | None  # None: the player's own
    player: str | None
    include_policy: bool
    report_every: float | None  # seconds; None: only the final result

    @property
    def is_endless(self) -> bool:
        """Does it run until it is terminated, or nothing is left to find?"""
        return self.limit is not None and self.limit.is_empty


@dataclass(frozen=True)
class Action:
    """Anything else that a program asks for."""

    id: Id
    name: str  # one of ACTIONS
    terminate_id: Id | None = None

    def answer(self, **more: Any) -> dict[str, Any]:
        """The message itself, as a sign that it was understood, and perhaps more."""
        target = {} if self.terminate_id is None else {"terminateId": self.terminate_id}
        return {"id": self.id, "action": self.name, **target, **more}


def read_values(line: bytes) -> Any:
    """The values of a line in JSON; MessageError if it is none."""
    if len(line) > MAX_LINE:
        raise MessageError(f"a line has at most {MAX_LINE} bytes, this one is longer")
    try:
        return json.loads(line, parse_constant=_refuse_constant)
    except RecursionError:
        raise MessageError("not JSON: it is nested too deeply") from None
    except UnicodeDecodeError:
        raise MessageError("not JSON: it is not UTF-8") from None
    except ValueError as error:
        raise MessageError(f"not JSON: {str(error)[:100]}") from None


def id_of(message: object) -> Id | None:
    """The id of a message that may be wrong otherwise; None if it has no valid one."""
    found = message.get("id") if isinstance(message, Mapping) else None
    return found if _is_id(found) else None


def read_request(message: object) -> ServiceQuery | Action:
    """What a message asks for; MessageError names the field that is wrong."""
    if not isinstance(message, Mapping):
        raise MessageError(f"a query is an object with fields, got {shown(message)}")
    known: tuple[str, ...] = QUERY
    if "action" in message:
        name = message["action"]
        if not isinstance(name, str) or name not in ACTIONS:
            hint = did_you_mean(name[:40], ACTIONS) if isinstance(name, str) else ""
            raise MessageError(
                f"unknown action {shown(name)}{hint or ': known are ' + ', '.join(ACTIONS)}", "action"
            )
        known = ACTIONS[name]
    for field in message:
        if field not in known:
            hint = did_you_mean(field[:40], known) or ": known are " + ", ".join(known)
            raise MessageError(f"unknown field {shown(field)}{hint}", field[:MAX_ID])
    ident = _id(message, "id")
    if "action" in message:
        return Action(ident, name, _id(message, "terminateId") if "terminateId" in known else None)
    return _query(ident, message)


def result_message(query: ServiceQuery, snapshot: Snapshot) -> dict[str, Any]:
    """A partial or final result."""
    message = {"id": query.id, **snapshot_message(snapshot)}
    if query.include_policy:
        message["policy"] = _policy(query.position, snapshot)
    return message


def no_results_message(query: ServiceQuery) -> dict[str, Any]:
    """The final result of a query that was terminated before its search began."""
    return {"id": query.id, "is_final": True, "no_results": True}


def error_message(ident: Id | None, error: str, field: str | None) -> dict[str, Any]:
    return {"id": ident, "error": error, "field": field}


def check_player(spec: str) -> None:
    """MessageError if there is no such player, or the spec has a setting that the service makes."""
    try:
        players.name_of(spec)
    except UserError as error:
        raise MessageError(str(error), "player") from None
    if any(part.startswith("memory=") for part in spec.replace(":", ",").split(",")):
        raise MessageError("the memory of all players together is set by --memory: leave it out", "player")


def _query(ident: Id, message: Mapping[str, Any]) -> ServiceQuery:
    asked = {name: message[name] for name in ASKED if name in message}
    has_limit = asked.get("limit") is not None
    query = read_query({name: value for name, value in asked.items() if name != "limit" or has_limit})
    player, policy = message.get("player"), message.get("includePolicy", False)
    if player is not None:
        _check_queried_player(player)
    if not isinstance(policy, bool):
        raise MessageError(f"includePolicy is true or false, got {shown(policy)}", "includePolicy")
    every = _every(message.get("reportEvery"))
    return ServiceQuery(ident, query.position, query.limit if has_limit else None, player, policy, every)


def _check_queried_player(spec: object) -> None:
    if not isinstance(spec, str) or not 1 <= len(spec) <= MAX_PLAYER:
        raise MessageError(
            f"player is a spec of 1 to {MAX_PLAYER} characters such as 'uct', got {shown(spec)}", "player"
        )
    check_player(spec)
    if (name := players.name_of(spec)) in OUTSIDE:
        raise MessageError(f"a query cannot ask player '{name}': choose another one", "player")


def _every(milliseconds: Any) -> float | None:
    """Seconds between two partial results."""
    if milliseconds is None:
        return None
    is_number = isinstance(milliseconds, int | float) and not isinstance(milliseconds, bool)
    if is_number and LEAST_EVERY <= milliseconds <= MOST_EVERY:
        return float(milliseconds) / 1000
    wanted = f"a number of milliseconds, {LEAST_EVERY} to {MOST_EVERY}"
    raise MessageError(f"reportEvery is {wanted}, got {shown(milliseconds)}", "reportEvery")


def _policy(position: Position, snapshot: Snapshot) -> list[float | None]:
    """The prior of every action, null where it is not legal or the search has no priors."""
    policy: list[float | None] = [None] * position.game.num_actions
    for info in snapshot.moves:
        policy[position.game.moves.action(info.move)] = info.prior
    return policy


def _id(message: Mapping[str, Any], field: str) -> Id:
    found = message.get(field)
    if not _is_id(found):
        what = f"a text of up to {MAX_ID} characters, or a whole number from 0 to 2^53 - 1"
        got = f"got {shown(found)}" if field in message else "and is missing"
        raise MessageError(f"{field} is {what}, {got}", field)
    return found  # type: ignore[return-value]


def _is_id(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= MAX_ID
    return type(value) is int and 0 <= value <= LARGEST_ID


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")
