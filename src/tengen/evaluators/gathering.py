"""Combines the requests of several threads to one network into few calls.

    thread 1 ── rows ──►  a call is free: it runs at once, alone                        ──►  answers
    thread 2 ── rows ──►  all calls are busy: it waits                  ┐
    thread 3 ── rows ──►  waits                                         ├─ one call     ──►  their rows each
    thread 4 ── rows ──►  waits                                         ┘

As many calls run at the same time as there are processors: one call uses one of them. A thread that finishes
a call wakes the first waiting thread, which runs the next call with the rows of all waiting threads. So the
network needs no thread of its own, and a single search never waits.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from tengen.evaluators.evaluator import Floats
from tengen.games.game import Planes

Answers = Sequence[Floats]  # logits [B, A], values [B] and perhaps plies left [B]
MOST_ROWS = 256  # per combined call; larger ones are no faster


class Gathering:
    """Runs a network for several threads. Every caller gets the answers to its own rows."""

    def __init__(
        self, run: Callable[[Planes], Answers], most_calls: int | None = None, most_rows: int = MOST_ROWS
    ) -> None:
        """run: a network that several threads may call at once. most_calls: the most calls at one time."""
        self._run, self._most_rows = run, most_rows
        self._free = most_calls or _processors()
        self._waiting: deque[_Request] = deque()  # empty while a call is free
        self._lock = threading.Lock()

    def __call__(self, planes: Planes) -> Answers:
        """The answers to these rows, [B, C, H, W]."""
        request = _Request(planes)
        with self._lock:
            if self._free:
                self._free -= 1
                request.calls_for = [request]
            else:
                self._waiting.append(request)
        if not request.calls_for:
            self._wait(request)
        if request.calls_for:
            try:
                self._answer(request.calls_for)
            finally:
                self._pass_on()
        if request.error is not None:
            raise request.error
        return request.answers

    def _wait(self, request: "_Request") -> None:
        """Waits until the request is answered, or it is its turn to call."""
        try:
            request.woken.acquire()
        except BaseException:  # Ctrl-C: the threads behind it must not wait for ever
            with self._lock:
                request.is_given_up = True
                if request in self._waiting:
                    self._waiting.remove(request)
            if request.calls_for:
                self._wake(request.calls_for[1:])
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        """After a call: the first waiting thread makes the next call, for as many requests as fit."""
        with self._lock:
            if not self._waiting:
                self._free += 1
                return
            first = self._waiting.popleft()
            chosen, rows = [first], len(first.planes)
            while self._waiting and rows + len(self._waiting[0].planes) <= self._most_rows:
                chosen.append(self._waiting.popleft())
                rows += len(chosen[-1].planes)
            first.calls_for = chosen
        first.woken.release()

    def _answer(self, requests: "list[_Request]") -> None:
        """Runs the network for all requests, and wakes the other threads that wait for them."""
        try:
            if len(requests) > 1:
                self._answer_together(requests)
            else:
                self._answer_one(requests[0])
        finally:
            self._wake(requests[1:])

    def _wake(self, requests: "list[_Request]") -> None:
        """Wakes the threads whose answers are ready; after an interrupted call, the others wait again."""
        with self._lock:
            unanswered = [one for one in requests if not one.answers and one.error is None]
            self._waiting.extendleft(one for one in reversed(unanswered) if not one.is_given_up)
        for request in requests:
            if request not in unanswered:
                request.woken.release()

    def _answer_together(self, requests: "list[_Request]") -> None:
        try:
            answers = self._run(np.concatenate([request.planes for request in requests]))
        except Exception:  # noqa: BLE001  (any error is raised in the caller whose rows caused it)
            for request in requests:
                self._answer_one(request)
            return
        first = 0
        for request in requests:
            rows = slice(first, first + len(request.planes))
            request.answers = [answer[rows] for answer in answers]
            first = rows.stop

    def _answer_one(self, request: "_Request") -> None:
        try:
            request.answers = self._run(request.planes)
        except Exception as error:  # noqa: BLE001  (raised again in the caller's thread)
            request.error = error


class _Request:
    """Rows that a thread asks about, and their answers or error."""

    def __init__(self, planes: Planes) -> None:
        self.planes = planes
        self.calls_for: list[_Request] = []  # if its thread must call: itself and the requests it calls for
        self.answers: Answers = ()
        self.error: Exception | None = None
        self.is_given_up = False  # its thread was interrupted while it waited
        self.woken = threading.Lock()  # released once: a lock wakes sooner than an Event
        self.woken.acquire()


def _processors() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
