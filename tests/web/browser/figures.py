"""How quick the page is, in a real browser: `python -m tests.web.browser.figures`, on a quiet machine.

start       from `tengen serve` to a board that takes a move, with kernels compiled before
opening     from opening the page on a running server to a board that takes a move
weight      bytes that a first visit loads, all of them from this server
snapshot    from the moment the search made a snapshot until the browser has painted it
"""

import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page

from tests.web.browser.chromium import launched

ROUNDS = 10
ANALYSIS_SECONDS = 10.0
BOARD = "/#game=gomoku9&first=person&second=person&moves="
OPTIONS = '["serve", "--no-browser", "--port", "0"]'
SERVE = f"from tengen.cli import main; import sys; sys.argv[1:] = {OPTIONS}; main()"
# A server that also notes when each snapshot was made, and its number of simulations.
NOTING = """
import json, sys, time
from tengen.web import thread_work
notes, snapshots = open(sys.argv[1], "w", buffering=1), thread_work.Search.snapshots
def noted(*arguments):
    for snapshot in snapshots(*arguments):
        notes.write(json.dumps([snapshot.simulations, time.time()]) + "\\n")
        yield snapshot
thread_work.Search.snapshots = noted
"""
# In the page: when each number of simulations was painted.
WATCH = """
window.painted = [];
new MutationObserver(() => requestAnimationFrame(() => {
  const channel = new MessageChannel();  // its message comes after the frame
  const text = document.querySelector(".analysis .hint")?.textContent ?? "";
  channel.port1.onmessage = () => window.painted.push([text, (performance.timeOrigin + performance.now()) / 1000]);
  channel.port2.postMessage(null);
})).observe(document.querySelector(".analysis .hint"), {childList: true, characterData: true, subtree: true});
"""


@contextmanager
def server(code: str = SERVE, *arguments: str) -> Iterator[str]:
    """The address of a server in a process of its own."""
    command = [sys.executable, "-c", code, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout
        try:
            yield next(found[0] for line in process.stdout if (found := re.search(r"http://[\d.:]+", line)))
        finally:
            process.terminate()


def opened(browser: Browser, address: str) -> Page:
    """A new visitor's page, when its board takes a move."""
    page = browser.new_context(locale="en", viewport={"width": 1200, "height": 900}).new_page()
    page.goto(address + BOARD)
    page.wait_for_selector(".status:has-text('to move')")
    return page


def start_seconds(browser: Browser) -> float:
    began = time.monotonic()
    with server() as address:
        opened(browser, address)
        return time.monotonic() - began


def opening_seconds(browser: Browser, address: str) -> list[float]:
    opened(browser, address).context.close()  # loads the rules
    found = []
    for _ in range(ROUNDS):
        began = time.monotonic()
        page = opened(browser, address)
        found.append(time.monotonic() - began)
        page.context.close()
    return found


def weight(browser: Browser, address: str) -> int:
    """Bytes of all files of a first visit, as they are transferred."""
    page = opened(browser, address)
    sizes = "performance.getEntries().filter(e => e.encodedBodySize).map(e => e.encodedBodySize)"
    return sum(page.evaluate(sizes))


def snapshot_delays(browser: Browser) -> list[float]:
    """Seconds, for every snapshot of an analysis that was painted."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "made.jsonl"
        with server(NOTING + SERVE, str(file)) as address:
            page = opened(browser, address)
            page.evaluate(WATCH)
            page.locator("#analyse").check()
            page.wait_for_selector(".analysis .hint:has-text('simulations')")
            page.wait_for_timeout(1000 * ANALYSIS_SECONDS)
            painted = page.evaluate("window.painted")
        made = dict(json.loads(line) for line in file.read_text().splitlines())
    delays = []
    for text, seconds in painted:
        simulations = int("".join(re.findall(r"\d", text.split(" ")[0])) or 0)
        if simulations in made:
            delays.append(seconds - made[simulations])
    return delays


def main() -> None:
    with launched() as browser:
        start_seconds(browser)
        starts = [start_seconds(browser) for _ in range(3)]
        print(f"start      {max(starts):.2f} s (longest of {len(starts)})")
        with server() as address:
            openings = opening_seconds(browser, address)
            print(
                f"opening    {statistics.median(openings):.2f} s, longest {max(openings):.2f} s of {ROUNDS}"
            )
            print(f"weight     {weight(browser, address) / 1000:.0f} KB")
        delays = snapshot_delays(browser)
        print(
            f"snapshot   {1000 * statistics.median(delays):.0f} ms, longest {1000 * max(delays):.0f} ms "
            f"of {len(delays)}"
        )


if __name__ == "__main__":
    main()
