"""Runs the application: a socket, an address, a server that ends cleanly."""

import secrets
import socket
from collections.abc import Callable

import uvicorn

from tengen.errors import UserError
from tengen.web.app import create_app
from tengen.web.guard import Address, is_local
from tengen.web.schemas import MAX_MESSAGE
from tengen.web.shared import MEMORY, Shared
from tengen.web.visitors import Visitors

SHUTDOWN_SECONDS = 2  # for open connections, after Ctrl-C


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; UserError says why it cannot. Port 0: any free one."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UserError(
            f"cannot listen on {host} port {port}: {reason}: choose another --port or --host"
        ) from None


def address_of(listening: socket.socket, host: str) -> Address:
    """Where a socket listens; with a new token if others than this machine can connect."""
    port = listening.getsockname()[1]
    return Address(host, port, None if is_local(host) else secrets.token_urlsafe(24))


def make_server(address: Address, shared: Shared, visitors: Visitors | None = None) -> uvicorn.Server:
    """The server, which is started by its `run(sockets=[…])`."""
    app = create_app(address, Visitors(shared) if visitors is None else visitors, shared)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        ws_max_size=MAX_MESSAGE,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    return uvicorn.Server(config)


def serve(
    host: str, port: int, memory: int = MEMORY, ready: Callable[[Address], None] = lambda address: None
) -> None:
    """Serves until Ctrl-C. `ready` is told the address when pages can connect: the socket listens then."""
    with listen(host, port) as listening:
        address = address_of(listening, host)
        server = make_server(address, Shared.create(memory))
        ready(address)
        server.run(sockets=[listening])
