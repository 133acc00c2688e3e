"""What a Gomocup manager says by INFO: time, memory, rule, limits; and the time of a move that follows.

Unknown keys are ignored. A value that cannot be read changes nothing, and gives a line for a DEBUG.
"""

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tengen.players.limit import Limit

UNLIMITED_MS = 2147483647
MOST = 2**53

# The bits of `rule`
EXACT, CONTINUOUS, RENJU, CARO = 1, 2, 4, 8
YIXIN_RULES = {0: "freestyle", 1: "standard", 2: "renju", 3: "renju", 5: "freestyle", 6: "freestyle"}

LEAST_SECONDS = 0.05  # of thinking, also if there is no time left
MARGIN = 0.1  # of the time of a move: for pipes and a busy machine
LEAST_MARGIN, MOST_MARGIN = 0.03, 0.3  # seconds
LATEST_SHARE = 0.1  # of the time left, on one move; thinking takes less (limit.py)

ALLOWED = 350_000_000  # bytes in Gomocup's tournaments, if a manager sets no limit

KEYS = {  # of INFO: the fields of Settings
    "timeout_turn": "turn_ms",
    "timeout_match": "match_ms",
    "time_left": "left_ms",
    "time_increment": "increment_ms",
    "max_memory": "max_memory",
    "hash_size": "hash_kib",
    "rule": "rule_number",
    "max_node": "max_nodes",
    "max_depth": "max_depth",
    "thread_num": "threads",
    "show_detail": "detail",
}


@dataclass(frozen=True)
class Settings:
    """As the manager has set them; the values of a manager that says nothing."""

    turn_ms: int = 2000  # of a move; 0: as fast as possible
    match_ms: int = 0  # of all our moves; 0: no limit
    left_ms: int | None = None  # of it, as the manager last said; may be negative
    spent_ms: int = 0  # since then, or since the game began
    increment_ms: int = 0  # that each move adds
    max_memory: int = 0  # bytes; 0: not said
    hash_kib: int = 0  # of the search; 0: not said
    rule_number: int = 0
    max_nodes: int = 0  # 0: no limit
    max_depth: int = 0
    threads: int = 1  # of the network
    detail: int = 1  # of Yixin-Board: 0 and 2 switch the overlay off
    is_yixin: bool = False  # Yixin-Board's dialect

    def informed(self, text: str) -> "tuple[Settings, str]":
        """The settings after `INFO text`, and what is wrong with it, or nothing."""
        key, _, value = text.strip().partition(" ")
        name = KEYS.get(key.lower())
        if name is None:
            return self, ""
        if not re.fullmatch(r"[+-]?[0-9]{1,30}", value.strip()):
            return self, f"INFO {key.lower()} is a whole number"
        number = max(-MOST, min(MOST, int(value)))
        change: dict[str, Any] = {name: number}
        changed = replace(self, **change)
        if name == "rule_number" and changed.rule is None:
            return self, f"INFO rule {number} is unknown: still {self.rule}"
        if name in ("match_ms", "left_ms"):
            changed = replace(changed, spent_ms=0, left_ms=number if name == "left_ms" else None)
        if name == "threads":
            changed = replace(changed, threads=max(1, min(256, number)))
        return changed, ""

    def after_move(self, seconds: float) -> "Settings":
        """After a move of ours that took some time."""
        return replace(self, spent_ms=self.spent_ms + round(1000 * seconds) - self.increment_ms)

    def restarted(self) -> "Settings":
        """In a new game: all time is left, unless the manager has said how much."""
        return replace(self, spent_ms=0)

    @property
    def rule(self) -> str | None:
        """As our rules call it; None for a number that means nothing."""
        number = self.rule_number
        if self.is_yixin and number in YIXIN_RULES:
            return YIXIN_RULES[number]
        if not 0 <= number < 16:
            return None
        if number & RENJU:
            return "renju"
        if number & CARO:
            return "caro-exact" if number & EXACT else "caro"
        return "standard" if number & EXACT else "freestyle"

    @property
    def shows_search(self) -> bool:
        """Does the manager draw what we think about?"""
        return self.is_yixin and self.detail not in (0, 2)

    @property
    def allowed_memory(self) -> int:
        """Bytes for the whole process."""
        return self.max_memory if self.max_memory > 0 else ALLOWED

    @property
    def latest(self) -> float:
        """Seconds after which a move is made in any case, also while something unplanned (compiling) runs."""
        latest = self._turn - self._margin / 2
        if self._left is not None:
            latest = min(latest, LATEST_SHARE * self._left + self._increment)
        return max(2 * LEAST_SECONDS, latest)

    def limit(self, passed: float) -> "Limit":
        """The limit of a move, of whose time some seconds have already passed."""
        from tengen.players.limit import Clock, Limit  # only here: this imports Numba, which takes a second

        clock = None if self._left is None else Clock(self._left, self._increment)
        planned = Limit(seconds=max(0.0, self._turn - self._margin), clock=clock).thinking_seconds
        assert planned is not None
        seconds = max(LEAST_SECONDS, min(max(planned - passed, planned / 4), self.latest - passed))
        return Limit(
            nodes=self.max_nodes if self.max_nodes > 0 else None,
            depth=self.max_depth if self.max_depth > 0 else None,
            seconds=seconds,
        )

    @property
    def _turn(self) -> float:
        return max(0, self.turn_ms) / 1000

    @property
    def _left(self) -> float | None:
        """Seconds left for all our moves; None: no limit."""
        left = self.left_ms if self.left_ms is not None else self.match_ms or None
        return None if left is None or left >= UNLIMITED_MS else max(0, left - self.spent_ms) / 1000

    @property
    def _increment(self) -> float:
        return max(0, self.increment_ms) / 1000

    @property
    def _margin(self) -> float:
        return max(LEAST_MARGIN, min(MOST_MARGIN, MARGIN * self._turn))
