"""Fuzzed lines for `tengen analysis`: each is answered once, in JSON; no traceback, no hang."""

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from tests.protocols.talking import answered
from tests.protocols.test_analysis_service import query

WORDS = [
    "id", "game", "moves", "setup", "limit", "player", "includePolicy", "reportEvery", "action", "terminateId", "cells", "to_move", "seconds", "simulations", "nodes", "depth",
    "tictactoe", "connect4", "gomoku6", "mnk:rows=4,cols=4,k=3", "nogame", "uct", "uniform", "zero", "zero:sims=1", "level:n=1", "perfect", "human", "a1", "b2", "4", "terminate", "terminate_all", "query_version",
]  # fmt: skip
VALUES: list[Any] = [None, True, False, 0, 1, -1, 2**31, 10**25, 1.5, -0.0, 1e300, "", "x" * 300, "\ud800", "é", [], {}, [[]], [None], {"a": 1}]  # fmt: skip


def fuzzed_lines(seed: int, count: int) -> Iterator[bytes]:
    """Queries with a few things changed, and rubbish."""
    chance = random.Random(seed)
    for number in range(count):
        if chance.random() < 0.02:
            yield chance.randbytes(chance.randint(1, 200)).replace(b"\n", b" ")
            continue
        message: Any = query(number, limit={"simulations": chance.randint(1, 20)}, moves=["b2"])
        if chance.random() < 0.2:
            message = chance.choice([
                {"id": number, "action": "terminate", "terminateId": chance.randint(0, number)},
                {"id": number, "action": "terminate_all" if number % 1000 == 0 else "query_version"},
                query(number, "connect4", player="uniform", moves=["4"] * chance.randint(0, 7)),
            ])  # fmt: skip
        for _ in range(chance.choice([0, 0, 1, 2, 3])):
            key = chance.choice([*message, chance.choice(WORDS)])
            if chance.random() < 0.3:
                message.pop(key, None)
            else:
                message[key] = chance.choice([*VALUES, *WORDS])
        line = bytearray(json.dumps(message).encode())
        if chance.random() < 0.3:
            for _ in range(chance.randint(1, 5)):
                at = chance.randrange(len(line))
                line[at : at + chance.choice([0, 1, 1, 3])] = bytes(
                    [chance.choice([*b'{}[]",:0e-', 0, 13, 255, chance.randrange(256)])]
                )
        yield bytes(line.replace(b"\n", b" "))


def check_fuzzed(seed: int, count: int, seconds: float) -> None:
    """Every line is answered once, in JSON, whatever it says."""
    lines = list(fuzzed_lines(seed, count))
    out, _ = answered(["analysis"], b"\n".join(lines), seconds)
    answers = [json.loads(line) for line in out.splitlines()]
    final = [answer for answer in answers if answer.get("is_final", True)]
    assert len(final) == sum(1 for line in lines if line.strip())
    results, errors = sum("best" in answer for answer in final), sum("error" in answer for answer in final)
    assert results > count / 50 and errors > count / 50, (results, errors)
    assert not [answer for answer in final if "please report" in answer.get("error", "")]


def test_some_fuzzed_lines() -> None:
    check_fuzzed(1, 2500, 100)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_hundred_thousand_fuzzed_lines() -> None:
    check_fuzzed(2, 100_000, 3000)
