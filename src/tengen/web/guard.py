"""Who may talk to the server: checks of Host, Origin and token before any route, and headers on every answer.

Host     must be an address or a name of this server. A site that lets its own name point to 127.0.0.1 (DNS
         rebinding) sends its own name here, and is refused.
Origin   is sent by browsers with every WebSocket and every request that could change something. If there is
         one, it must be this server: no other site that is open in the same browser can use it.
Token    is needed if the server listens on another address than 127.0.0.1. It comes once in the URL, and is
         kept in a cookie from then on, which browsers send to this server only.
"""

import hmac
import ipaddress
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = "127.0.0.1"
ANY = ("0.0.0.0", "::")  # these listen on every address of the machine
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "manifest-src 'self'; connect-src 'self' ws://{host} wss://{host}; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-cache",  # asked again each time, answered by "not modified"
}


@dataclass(frozen=True)
class Address:
    """Where the server listens, and the token that it demands there."""

    host: str = LOOPBACK
    port: int = 0
    token: str | None = None

    @property
    def is_local(self) -> bool:
        """Can only programs on this machine connect?"""
        return is_local(self.host)

    @property
    def url(self) -> str:
        """The address of the page; the token is part of it."""
        host = socket.gethostname() if self.host in ANY else self.host
        token = f"?token={self.token}" if self.token else ""
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/{token}"

    @property
    def cookie(self) -> str:
        """The name of the cookie with the token: cookies do not know ports."""
        return f"tengen-{self.port}"

    def is_own(self, host: str) -> bool:
        """Is this Host (name and port) one of ours?"""
        name, colon, port = host.rpartition(":")
        if not colon or not port.isdigit() or not port.isascii():
            name, port = host, "80"
        if port.lstrip("0") != str(self.port):
            return False
        name = name.strip("[]").lower()
        if name in ("localhost", self.host.lower()) or (is_address(name) and is_local(name)):
            return True
        # A name can point anywhere, a bare address only to the machine that has it.
        names = (socket.gethostname().lower(), f"{socket.gethostname().lower()}.local")
        return not self.is_local and (is_address(name) or name in names)

    def knows(self, token: str) -> bool:
        """Is this the token?"""
        return self.token is not None and hmac.compare_digest(token.encode(), self.token.encode())


def is_local(host: str) -> bool:
    return host.lower() == "localhost" or (is_address(host) and ipaddress.ip_address(host).is_loopback)


def is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


class Guard:
    """The outermost layer of the application."""

    def __init__(self, app: App, address: Address) -> None:
        self._app, self._address = app, address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope)
        refusal = self._refusal(headers)
        if refusal is None and self._address.token is not None and not self._has_cookie(headers):
            given = _token_in_query(scope)
            if scope["type"] == "http" and self._address.knows(given):
                await _redirect(send, self._address)
                return
            refusal = "open the address that tengen serve has printed: it contains a token"
        if refusal is not None:
            await _refuse(scope, send, refusal)
            return
        await self._app(scope, receive, _with_headers(send, headers.host))

    def _refusal(self, headers: "Headers") -> str | None:
        """Why these headers are refused; None if they are not."""
        if len(headers.hosts) != 1 or not self._address.is_own(headers.host):
            return "this is not a name of this server: open the address that tengen serve has printed"
        if any(
            origin not in (f"http://{headers.host}", f"https://{headers.host}") for origin in headers.origins
        ):
            return "other sites may not use this server"
        return None

    def _has_cookie(self, headers: "Headers") -> bool:
        return any(self._address.knows(token) for token in headers.cookies(self._address.cookie))


class Headers:
    """The headers of a request that the guard looks at."""

    def __init__(self, scope: Scope) -> None:
        self._all: list[tuple[bytes, bytes]] = list(scope["headers"])
        self.hosts, self.origins = self._values(b"host"), self._values(b"origin")
        self.host = self.hosts[0] if self.hosts else ""

    def cookies(self, name: str) -> list[str]:
        """The values of the cookies of this name. Other programs on this machine may have set odd ones."""
        pairs = [pair.partition("=") for text in self._values(b"cookie") for pair in text.split(";")]
        return [value.strip() for key, _, value in pairs if key.strip() == name]

    def _values(self, name: bytes) -> list[str]:
        return [value.decode("latin-1") for key, value in self._all if key.lower() == name]


def _token_in_query(scope: Scope) -> str:
    query: dict[str, list[str]] = parse_qs(scope.get("query_string", b"").decode("latin-1"))
    return query.get("token", [""])[0]


def _with_headers(send: Send, host: str) -> Send:
    """Adds our headers to every answer over HTTP."""
    ours = {**HEADERS, "Content-Security-Policy": POLICY.format(host=host)}

    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            kept = [(key, value) for key, value in message.get("headers", []) if key.lower() != b"server"]
            message["headers"] = kept + [(k.lower().encode(), v.encode()) for k, v in ours.items()]
        await send(message)

    return sending


async def _redirect(send: Send, address: Address) -> None:
    """To the page without the token in its URL, which would stay in the browser's history."""
    cookie = f"{address.cookie}={address.token}; HttpOnly; SameSite=Strict; Path=/"
    headers = [(b"location", b"/"), (b"set-cookie", cookie.encode()), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": 303, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


async def _refuse(scope: Scope, send: Send, reason: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": reason})  # 403 before it is accepted
        return
    sending = _with_headers(send, "127.0.0.1")
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    await sending({"type": "http.response.start", "status": 403, "headers": headers})
    await sending({"type": "http.response.body", "body": f"{reason}\n".encode()})
