"""`tengen serve`: the address, its mistakes, and a clean end."""

import signal
import socket
import subprocess
import sys
import urllib.request
from importlib.machinery import ModuleSpec

import pytest

from tengen.cli import serve
from tests.cli.conftest import Here


def started(*options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tengen", "serve", "--port", "0", "--no-browser", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_it_prints_its_address_serves_and_ends_by_ctrl_c() -> None:
    with started() as process:
        assert process.stdout
        url = process.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:") and "token" not in url
        with urllib.request.urlopen(url, timeout=60) as page:
            assert page.status == 200
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 0 and "Traceback" not in errors and errors.endswith("stopped\n")


def test_another_address_needs_a_token_and_warns() -> None:
    with started("--host", "0.0.0.0") as process:
        assert process.stdout
        url = process.stdout.readline().strip()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert "/?token=" in url and len(url.partition("token=")[2]) >= 32
    assert "warning: other machines can connect" in errors and "Traceback" not in errors


def test_mistakes_are_one_line(here: Here) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, out, errors = here("serve", "--port", str(port), "--no-browser")
    assert (code, out) == (2, "") and errors.count("\n") == 1
    assert f"cannot listen on 127.0.0.1 port {port}" in errors and "choose another --port" in errors
    for options in (("--port", "70000"), ("--port", "x"), ("--memory", "1"), ("--host", "no such host")):
        code, out, errors = here("serve", "--no-browser", *options)
        assert code == 2 and out == "" and "Traceback" not in errors, options


def test_it_needs_the_web_extra(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> ModuleSpec | None:
        return None

    monkeypatch.setattr(serve, "find_spec", missing)
    code, _, errors = here("serve")
    assert code == 2 and "tengen serve needs the web extra: pip install '.[web]' in the clone" in errors
