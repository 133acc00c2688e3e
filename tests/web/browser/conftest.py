"""A real server in a process of its own, and a real browser."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.browser.chromium import launched

OPTIONS = ["--no-browser", "--port", "0"]
WIDE = {"width": 1200, "height": 900}
PATIENCE = 60_000  # milliseconds: a busy machine may have to compile first
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of `tengen serve`."""
    with subprocess.Popen(
        [sys.executable, "-m", "tengen", "serve", *OPTIONS], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout
        for line in server.stdout:
            if found := re.search(r"http://127\.0\.0\.1:\d+", line):
                yield found[0]
                break
        server.terminate()


@pytest.fixture(scope="module")  # not longer: while it runs, its event loop does too
def browser() -> Iterator[Browser]:
    with launched() as found:
        yield found


OpenPage = Callable[..., Page]


@pytest.fixture
def open_page(browser: Browser, address: str) -> Iterator[OpenPage]:
    """Opens the page of a game. A test fails if the page logs an error or asks another server."""
    problems: list[str] = []
    contexts = []

    def opened(fragment: str = "", **settings: Any) -> Page:
        context = browser.new_context(**{"viewport": WIDE, "locale": "en", **settings})
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
        page.on(
            "request", lambda asked: problems.append(asked.url) if not _is_ours(asked.url, address) else None
        )
        page.goto(f"{address}/{fragment}")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert problems == []


def _is_ours(url: str, address: str) -> bool:
    return url.startswith((address, address.replace("http", "ws"), "data:", "blob:"))
