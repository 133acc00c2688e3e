"""A bar with rate and time left, on stderr; a line now and then where nobody watches."""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")

SECONDS_BETWEEN_LINES = 30.0


def progress(items: Iterable[Item], total: int, unit: str, done: int = 0) -> Iterator[Item]:
    """Passes the items on and shows how far we are; `done` of the total were there before."""
    if sys.stderr.isatty():
        yield from _bar(items, total, unit, done)
        return
    began = last = time.monotonic()
    for count, item in enumerate(items, start=1):
        now = time.monotonic()
        if now - last >= SECONDS_BETWEEN_LINES:
            last = now
            rate = count / (now - began)
            left = (total - done - count) / rate
            print(f"{done + count} of {total} {unit}, {rate:.2g}/s, {left:.0f} s left", file=sys.stderr)
        yield item


def _bar(items: Iterable[Item], total: int, unit: str, done: int) -> Iterator[Item]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    began = time.monotonic()
    with bar:
        task = bar.add_task(unit, total=total, completed=done, rate="")
        for count, item in enumerate(items, start=1):
            bar.update(task, completed=done + count, rate=f"{count / (time.monotonic() - began):.3g}/s")
            yield item
