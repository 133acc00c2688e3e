"""Who may talk to the server: over real sockets, with the headers that an attacker or a browser would send."""

import json
import threading
from collections.abc import Iterator

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from tengen.web.guard import Address
from tengen.web.server import listen, make_server
from tengen.web.shared import Shared
from tests.web.conftest import Running


@pytest.mark.parametrize(
    ("host", "is_own"),
    [
        ("127.0.0.1:8361", True), ("localhost:8361", True), ("LOCALHOST:8361", True), ("[::1]:8361", True),
        ("127.0.0.1:8362", False), ("127.0.0.1", False), ("evil.example:8361", False), ("", False),
        ("localhost.evil.example:8361", False), ("192.168.1.5:8361", False), ("127.0.0.1:8361x", False),
    ],
)  # fmt: skip
def test_a_local_server_knows_its_names(host: str, is_own: bool) -> None:
    assert Address(port=8361).is_own(host) is is_own


def test_an_open_server_takes_addresses_but_no_foreign_names() -> None:
    """A name can be pointed to any machine (DNS rebinding), an address cannot."""
    address = Address("0.0.0.0", 8361, "secret")
    assert address.is_own("192.168.1.5:8361") and address.is_own("127.0.0.1:8361")
    assert not address.is_own("evil.example:8361")
    assert address.url.endswith(":8361/?token=secret") and not address.is_local
    assert Address("::1", 80).url == "http://[::1]:80/" and Address("::1", 80).is_local
    assert address.knows("secret") and not address.knows("") and not Address().knows("")


def test_other_names_and_other_sites_are_refused(server: Running) -> None:
    for headers in (
        {"Host": "evil.example"},
        {"Host": f"evil.example:{server.address.port}"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
    ):
        for path in ("/", "/api/games", "/static/index.html"):
            assert httpx.get(server.url + path, headers=headers).status_code == 403, headers
    assert httpx.get(f"{server.url}/api/health", headers={"Origin": server.url}).status_code == 200


def test_another_site_cannot_open_the_websocket(server: Running) -> None:
    address = f"ws://127.0.0.1:{server.address.port}/ws"
    with pytest.raises(InvalidStatus, match="403"), connect(address, origin=Origin("http://evil.example")):
        pass
    with connect(address, origin=Origin(server.url)) as socket:
        socket.send(json.dumps({"id": 1, "type": "hello"}))
        assert json.loads(socket.recv(timeout=10))["type"] == "answer"


def test_every_answer_has_a_strict_policy(server: Running) -> None:
    for path in ("/", "/api/games", "/nowhere", "/static/nothing.js"):
        headers = httpx.get(server.url + path).headers
        policy = headers["content-security-policy"]
        assert (
            "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
        )
        assert f"ws://127.0.0.1:{server.address.port}" in policy
        assert headers["x-content-type-options"] == "nosniff" and headers["x-frame-options"] == "DENY"
        assert headers["cross-origin-resource-policy"] == "same-origin" and "server" not in headers


def test_only_files_of_the_page_are_served(server: Running) -> None:
    assert httpx.get(f"{server.url}/").headers["content-type"].startswith("text/html")
    for path in (
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static//etc/passwd",
        "/app.py",
    ):
        assert httpx.get(server.url + path).status_code == 404, path
    assert httpx.post(f"{server.url}/api/games").status_code == 405


def test_what_the_server_says_about_its_games(server: Running) -> None:
    assert httpx.get(f"{server.url}/api/health").json()["name"] == "tengen"
    games = {game["name"]: game for game in httpx.get(f"{server.url}/api/games").json()["games"]}
    families = {name: game["family"] for name, game in games.items()}
    assert (
        families["gomoku9"] == "gomoku" and families["caro15-exact"] == "caro" and families["hex7"] == "hex"
    )
    assert families["tictactoe"] == "tictactoe" and families["renju15"] == "renju"
    assert games["connect4"]["network"] == "connect4" and games["connect4"]["can_solve"]
    assert games["hex7"]["network"] == "hex11" and "gomoku15" in games["standard15"]["note"]
    assert [level["level"] for level in games["gomoku9"]["levels"]] == list(range(1, 11))
    paths = httpx.get(f"{server.url}/openapi.json").json()["paths"]
    assert set(paths) == {"/api/health", "/api/games"}


@pytest.fixture
def guarded() -> Iterator[Address]:
    """A server that demands a token, as on any address but this machine's own."""
    with listen("127.0.0.1", 0) as socket:
        address = Address("0.0.0.0", socket.getsockname()[1], "a-secret-token")
        server = make_server(address, Shared.create(256))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]})
        thread.start()
        yield address
        server.should_exit = True
        thread.join(30)


def test_without_the_token_nothing_is_told(guarded: Address) -> None:
    url = f"http://127.0.0.1:{guarded.port}"
    for path in ("/", "/api/games", "/?token=wrong", "/?token=", "/static/index.html"):
        answer = httpx.get(url + path)
        assert answer.status_code == 403 and "token" in answer.text
    with pytest.raises(InvalidStatus, match="403"), connect(f"ws://127.0.0.1:{guarded.port}/ws"):
        pass
    with httpx.Client() as browser:
        entered = browser.get(f"{url}/?token={guarded.token}")
        assert entered.status_code == 303 and entered.headers["location"] == "/"
        cookie = entered.headers["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
        assert browser.get(f"{url}/api/games").status_code == 200
        evil = {"Origin": "http://evil.example"}
        assert browser.get(f"{url}/api/games", headers=evil).status_code == 403
    headers = {"Cookie": f"other; x=1; {guarded.cookie}={guarded.token}"}
    with connect(f"ws://127.0.0.1:{guarded.port}/ws", additional_headers=headers) as socket:
        socket.send('{"id": 1, "type": "hello"}')
        assert json.loads(socket.recv(timeout=10))["type"] == "answer"
