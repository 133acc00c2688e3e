"""What is to be sent to one page or program. A slow reader gets fewer snapshots, not a growing queue."""

import asyncio
import json
from collections import deque
from typing import Any

MOST = 1000  # messages that wait; a page that reads none of them is gone
LATEST_ONLY = ("state", "snapshot")  # of these types a page needs only the last message
AT_ONCE = 100  # messages, at most


class Outbox:
    def __init__(self) -> None:
        self._waiting: deque[tuple[object, dict[str, Any]]] = deque()  # (topic, message)
        self._has_some = asyncio.Event()
        self._is_closed = False

    def put(self, message: dict[str, Any], topic: object = None) -> None:
        """Adds a message. It replaces one about the same topic that still waits.

        Without a topic: its type is the topic if a page needs only the last message of that type."""
        if topic is None and message.get("type") in LATEST_ONLY:
            topic = message["type"]
        if topic is not None:
            for old in [one for one in self._waiting if one[0] == topic]:
                self._waiting.remove(old)
        self._waiting.append((topic, message))
        self._has_some.set()

    @property
    def is_full(self) -> bool:
        return len(self._waiting) > MOST

    def close(self) -> None:
        """Nothing will be added any more."""
        self._is_closed = True
        self._has_some.set()

    async def take(self) -> str:
        """The next message as JSON; waits until there is one."""
        while not self._waiting:
            self._has_some.clear()
            await self._has_some.wait()
        return self._next()

    async def take_several(self) -> list[str]:
        """The next messages, at least one; waits until there is one. Empty if it is closed and empty."""
        while not self._waiting and not self._is_closed:
            self._has_some.clear()
            await self._has_some.wait()
        return [self._next() for _ in range(min(AT_ONCE, len(self._waiting)))]

    def _next(self) -> str:
        _, message = self._waiting.popleft()
        return json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
