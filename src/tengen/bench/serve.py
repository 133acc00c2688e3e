"""A crowd at `tengen serve`: scripted people who play at once, and others who only keep a page open.

The server runs in a process of its own, as people start it. Each person plays random legal moves against a
level, as fast as it replies, and begins again when a game is over. What counts is how long a person waits for
a reply, and whether anybody is told of an error.
"""

import asyncio
import json
import random
import re
import subprocess
import sys
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tengen.errors import MachineError

PATIENCE = 120.0  # seconds for the first reply, which may compile


@dataclass(frozen=True)
class Crowd:
    """What a crowd met."""

    people: int
    idle: int  # pages that were only open
    seconds: float
    replies: int
    games: int  # that were played to their end
    errors: int  # messages that were refused, and notices
    median: float  # seconds from a move to the reply, as a person sees it
    p95: float
    longest: float
    megabytes: float  # memory of the server at the end; 0: not known


@dataclass
class _Tally:
    waits: list[float] = field(default_factory=list)
    games: int = 0
    errors: int = 0


def crowd(game: str, level: int, people: int, idle: int, seconds: float) -> Crowd:
    """Lets a crowd use a new server for some seconds."""
    with subprocess.Popen(
        [sys.executable, "-m", "tengen", "serve", "--no-browser", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        try:
            assert server.stdout
            found = re.search(r"127\.0\.0\.1:\d+", server.stdout.readline())
            if found is None:
                raise MachineError("tengen serve did not start: try it by hand")
            tally = asyncio.run(_meet(found[0], game, level, people, idle, seconds))
            megabytes = _resident(server.pid)
        finally:
            server.terminate()
    waits = np.array(tally.waits or [0.0])
    return Crowd(
        people,
        idle,
        seconds,
        len(tally.waits),
        tally.games,
        tally.errors,
        float(np.median(waits)),
        float(np.quantile(waits, 0.95)),
        float(waits.max()),
        megabytes,
    )


async def _meet(address: str, game: str, level: int, people: int, idle: int, seconds: float) -> _Tally:
    from websockets.asyncio.client import connect

    tally, url = _Tally(), f"ws://{address}/ws"
    async with AsyncExitStack() as stack:
        for _ in range(idle):
            page = await stack.enter_async_context(connect(url))
            await _ask(page, "hello", session=None, sgf=None)
        warm = await stack.enter_async_context(connect(url))
        await _play(warm, game, level, time.monotonic(), _Tally(), random.Random(0))  # loads the network
        ends = time.monotonic() + seconds
        pages = [await stack.enter_async_context(connect(url)) for _ in range(people)]
        await asyncio.gather(
            *(_play(page, game, level, ends, tally, random.Random(i)) for i, page in enumerate(pages, 1))
        )
    return tally


async def _play(page: Any, game: str, level: int, ends: float, tally: _Tally, chance: random.Random) -> None:
    """One person: games against a level until the time is over; at least one reply."""
    await _ask(page, "hello", session=None, sgf=None)
    while True:
        await _ask(page, "new", game=game, first={"kind": "person"}, second={"kind": "level", "level": level})
        state = await _next_turn(page, tally)
        while state["ending"] is None:
            began = time.monotonic()
            await _ask(page, "play", move=chance.choice(state["legal_moves"]))
            state = await _next_turn(page, tally)
            tally.waits.append(time.monotonic() - began)
            if time.monotonic() >= ends:
                return
        tally.games += 1


async def _ask(page: Any, kind: str, **fields: Any) -> None:
    await page.send(json.dumps({"id": 1, "type": kind, **fields}))


async def _next_turn(page: Any, tally: _Tally) -> dict[str, Any]:
    """The state when the person may move again, or the game is over."""
    while True:
        message = json.loads(await asyncio.wait_for(page.recv(), PATIENCE))
        tally.errors += message["type"] in ("error", "notice")
        if message["type"] == "state":
            state: dict[str, Any] = message["state"]
            if state["ending"] is not None or (state["to_move"] == 1 and not state["is_thinking"]):
                return state


def _resident(pid: int) -> float:
    """Resident memory of a process in megabytes; 0 where the system does not say."""
    status = Path(f"/proc/{pid}/status")
    found = re.search(r"VmRSS:\s+(\d+) kB", status.read_text()) if status.exists() else None
    return int(found[1]) * 1024 / 1_000_000 if found else 0.0
