"""The browser for the tests: Chromium or Chrome as it is installed, or Playwright's own.

`python -m tests.web.browser.chromium` installs one if there is none; `make test` calls it.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PACKAGES = ["chromium", "fonts-dejavu-core", "fonts-noto-cjk"]
FLAGS = [  # no sandbox: tests may run as root; nothing is asked of the network
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
]  # fmt: skip


def installed() -> str | None:
    """The path of an installed browser; None if there is none."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        with sync_playwright() as playwright:
            own = Path(playwright.chromium.executable_path)
            found = str(own) if own.exists() else None
    return found


@contextmanager
def launched() -> Iterator[Browser]:
    path = installed()
    assert path is not None, "the tests of the page need Chromium: make test installs it"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


def main() -> None:
    """Installs a browser if there is none: by apt as root, else Playwright's own."""
    if installed() is not None:
        return
    print("Installing Chromium for the tests of the page (once) ...", flush=True)
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "-qq", "update"], check=False, stdout=subprocess.DEVNULL)
        install = ["apt-get", "-qq", "install", "-y", "--no-install-recommends", *PACKAGES]
        subprocess.run(install, check=False, env=quiet, stdout=subprocess.DEVNULL)
    else:
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)
    if installed() is None:
        sys.exit(
            "the tests of the page need Chromium or Chrome, and none could be installed: install one, then make test again"
        )


if __name__ == "__main__":
    main()
