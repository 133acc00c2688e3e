"""Gathers what several threads ask of one network into few calls.

    thread 1 ── rows ──►  a call is free: it runs at once, alone                        ──►  answers
    thread 2 ── rows ──►  all calls are busy: it waits                  ┐
    thread 3 ── rows ──►  waits                                         ├─ one call     ──►  their rows each
    thread 4 ── rows ──►  waits                                         ┘

As many calls run at the same time as there are processors: one call uses one of them. Whoever finishes a
call wakes the first who waits, and that one runs the next call, with the rows of all who wait. So no thread
belongs to the network, and a search that is alone never waits.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from tengen.evaluators.evaluator import Floats
from tengen.games.game import Planes

Answers = Sequence[Floats]  # logits [B, A], values [B] and perhaps plies left [B]
MOST_ROWS = 256  # of a gathered call; larger ones are no faster


class Gathering:
    """Runs a network for several threads. Every caller gets the answers to its own rows."""

    def __init__(
        self, run: Callable[[Planes], Answers], most_calls: int | None = None, most_rows: int = MOST_ROWS
    ) -> None:
        """run: a network, which several threads may call at once. most_calls: at the same time."""
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
        """Until the request is answered, or it is its turn to call."""
        try:
            request.woken.acquire()
        except BaseException:  # Ctrl-C: those who wait behind it must not wait for ever
            with self._lock:
                request.is_given_up = True
                if request in self._waiting:
                    self._waiting.remove(request)
            if request.calls_for:
                self._wake(request.calls_for[1:])
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        """After a call: whoever waits first makes the next one, for as many as fit into it."""
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
        """Runs the network for all of them, and wakes those that another thread waits for."""
        try:
            if len(requests) > 1:
                self._answer_together(requests)
            else:
                self._answer_one(requests[0])
        finally:
            self._wake(requests[1:])

    def _wake(self, requests: "list[_Request]") -> None:
        """The threads whose answers are there. If the call was interrupted, the others wait for the next."""
        with self._lock:
            unanswered = [one for one in requests if not one.answers and one.error is None]
            self._waiting.extendleft(one for one in reversed(unanswered) if not one.is_given_up)
        for request in requests:
            if request not in unanswered:
                request.woken.release()

    def _answer_together(self, requests: "list[_Request]") -> None:
        try:
            answers = self._run(np.concatenate([request.planes for request in requests]))
        except Exception:  # noqa: BLE001  (whatever it is, it reaches the caller whose rows caused it)
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
    """Rows that a thread asks about, and what becomes of them."""

    def __init__(self, planes: Planes) -> None:
        self.planes = planes
        self.calls_for: list[_Request] = []  # if its thread is to call: itself, and those it calls for
        self.answers: Answers = ()
        self.error: Exception | None = None
        self.is_given_up = False  # its thread was interrupted while it waited
        self.woken = threading.Lock()  # released once: a lock wakes sooner than an Event
        self.woken.acquire()


def _processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
