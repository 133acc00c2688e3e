"""What is to be sent to one page. A slow page gets fewer snapshots, not a growing queue."""

import asyncio
import json
from collections import deque
from typing import Any

MOST = 1000  # messages that wait; a page that reads none of them is gone
LATEST_ONLY = ("state", "snapshot")  # of these a page needs only the last one


class Outbox:
    def __init__(self) -> None:
        self._waiting: deque[dict[str, Any]] = deque()
        self._has_some = asyncio.Event()

    def put(self, message: dict[str, Any]) -> None:
        """Adds a message. It replaces one that waits if that is out of date now."""
        if message["type"] in LATEST_ONLY:
            for old in [one for one in self._waiting if one["type"] == message["type"]]:
                self._waiting.remove(old)
        self._waiting.append(message)
        self._has_some.set()

    @property
    def is_full(self) -> bool:
        return len(self._waiting) > MOST

    async def take(self) -> str:
        """The next message as JSON; waits until there is one."""
        while not self._waiting:
            self._has_some.clear()
            await self._has_some.wait()
        return json.dumps(self._waiting.popleft(), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
