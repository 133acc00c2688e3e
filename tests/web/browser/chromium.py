"""The browser for the tests: Chromium or Chrome as it is installed, or Playwright's own."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [  # no sandbox: tests may run as root; nothing is asked of the network
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
]  # fmt: skip


def installed() -> str | None:
    """The path of an installed browser; None if there is none outside Playwright's own folder."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@contextmanager
def launched() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        path = installed()
        own = Path(playwright.chromium.executable_path)
        if path is None and not own.exists():
            raise RuntimeError("the browser tests need Chromium: `make test` installs it, or install it yourself")
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()
