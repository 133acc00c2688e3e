"""Progress on stderr: a bar with rate and time left or, outside a terminal, a line every ten seconds."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from typing import TypeVar

Item = TypeVar("Item")

SECONDS_A_FRAME = 0.2
SECONDS_A_LINE = 10.0


def progress(
    items: Iterable[Item], total: int, unit: str, status: Callable[[], str] = lambda: ""
) -> Iterator[Item]:
    """The same items, with progress shown. `status` is called for each line or frame."""
    shown = _in_a_bar if sys.stderr.isatty() else _in_lines
    return shown(items, total, unit, status)


def _in_lines(items: Iterable[Item], total: int, unit: str, status: Callable[[], str]) -> Iterator[Item]:
    began = last = time.monotonic()
    for done, item in enumerate(items, start=1):
        yield item
        now = time.monotonic()
        if now - last >= SECONDS_A_LINE:
            last = now
            left = timedelta(seconds=round((now - began) / done * (total - done)))
            parts = [f"{done}/{total} {unit}", _rate(done, now - began), f"about {left} left", status()]
            print(", ".join(part for part in parts if part), file=sys.stderr, flush=True)


def _in_a_bar(items: Iterable[Item], total: int, unit: str, status: Callable[[], str]) -> Iterator[Item]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[status]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(unit, total=total, rate="", status="")
        began = last = time.monotonic()
        for done, item in enumerate(items, start=1):
            yield item
            now = time.monotonic()
            if now - last >= SECONDS_A_FRAME:
                last = now
                bar.update(task, completed=done, rate=_rate(done, now - began), status=status())


def _rate(done: int, seconds: float) -> str:
    rate = done / max(seconds, 1e-9)
    return f"{rate:.1f}/s" if rate >= 0.5 else f"{1 / rate:.0f} s each"
