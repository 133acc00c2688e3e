"""`tengen serve`: the board in the browser."""

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import typer

from tengen.errors import MissingExtraError

if TYPE_CHECKING:
    from tengen.web.guard import Address

PORT = 8361  # the points of a Go board
NEEDED = ("fastapi", "uvicorn", "websockets", "PIL")


def serve(
    host: Annotated[
        str, typer.Option(help="The address to listen on. Another one than 127.0.0.1 demands a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0: any free one.")] = PORT,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")] = False,
    memory: Annotated[
        int, typer.Option(min=256, max=1_000_000, help="MiB for the searches of all pages together.")
    ] = 1024,
) -> None:
    """Open the board in your browser: play, analyse, review. Ctrl-C ends it."""
    if any(find_spec(package) is None for package in NEEDED):
        raise MissingExtraError("tengen serve", "web")

    from tengen.web import server

    def ready(address: "Address") -> None:
        _announce(address)
        if not no_browser:
            _open_browser(address.url)

    try:
        server.serve(host, port, memory, ready)
    except KeyboardInterrupt:  # the normal end
        print("stopped", file=sys.stderr)


def _announce(address: "Address") -> None:
    if not address.is_local:
        print(
            f"tengen: warning: other machines can connect to {address.host}; the token in this address lets "
            "them in, and nothing is encrypted: share it only in a network that you trust",
            file=sys.stderr,
        )
    print(address.url, flush=True)
    print("Ctrl-C ends it", file=sys.stderr)


def _open_browser(url: str) -> None:
    """Opens the page in a thread: some browsers do not return before they are closed."""
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
