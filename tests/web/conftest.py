"""A real server on a free port, in a thread of the test, and a client that speaks to it as a page does."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

import pytest
from websockets.sync.client import ClientConnection, connect

from tengen.web.guard import Address
from tengen.web.server import address_of, listen, make_server
from tengen.web.shared import Shared
from tengen.web.visitors import Visitors

PERSON = {"kind": "person"}
SECONDS = 60.0  # the longest that any test waits for a message


class Watch:
    """A time that passes only when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Client:
    """A page: asks and waits for the answer; what is pushed meanwhile is kept."""

    def __init__(self, address: Address, session: str | None = None, **fields: Any) -> None:
        self._stack = ExitStack()
        connecting = connect(f"ws://127.0.0.1:{address.port}/ws", max_size=2**24, compression=None)
        self.socket: ClientConnection = self._stack.enter_context(connecting)
        self.pushed: list[dict[str, Any]] = []
        self._id = 0
        self.hello = self.ask("hello", session=session, **fields)
        self.session: str | None = self.hello.get("session")

    def send(self, kind: str, **fields: Any) -> int:
        self._id += 1
        self.socket.send(json.dumps({"id": self._id, "type": kind, **fields}))
        return self._id

    def ask(self, kind: str, **fields: Any) -> dict[str, Any]:
        return self.answer(self.send(kind, **fields))

    def answer(self, number: int | None) -> dict[str, Any]:
        while True:
            message = self.receive()
            if "id" in message and message["id"] == number:
                return message
            self.pushed.append(message)

    def done(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Asks, expects no error, and returns the state that is pushed after it."""
        answer = self.ask(kind, **fields)
        assert answer["type"] == "answer", answer
        self.pushed.clear()  # these came before
        return self.state()

    def refused(self, kind: str, **fields: Any) -> tuple[str, str | None]:
        """(message, field) of the error that this gives."""
        answer = self.ask(kind, **fields)
        assert answer["type"] == "error", answer
        return answer["message"], answer["field"]

    def wait(
        self, kind: str, fits: Callable[[dict[str, Any]], bool] = lambda message: True
    ) -> dict[str, Any]:
        """The next push of a kind that fits."""
        while True:
            message = self.pushed.pop(0) if self.pushed else self.receive()
            if message["type"] == kind and fits(message):
                return message

    def state(self, fits: Callable[[dict[str, Any]], bool] = lambda state: True) -> dict[str, Any]:
        found: dict[str, Any] = self.wait("state", lambda message: fits(message["state"]))["state"]
        return found

    def reach(self, state: dict[str, Any], fits: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """This state if it fits, else the next one that does."""
        return state if fits(state) else self.state(fits)

    def new(
        self, game: str, first: dict[str, Any] = PERSON, second: dict[str, Any] = PERSON, **fields: Any
    ) -> dict[str, Any]:
        return self.done("new", game=game, first=first, second=second, **fields)

    def receive(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self.socket.recv(timeout=SECONDS))
        return message

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()


class Running:
    """A server that runs in a thread of this process."""

    def __init__(self, most_pages: int = 1000, num_threads: int = 4) -> None:
        self.watch = Watch()
        self.shared = Shared.create(256, self.watch, num_threads)
        self.visitors = Visitors(self.shared, most_pages=most_pages)
        self._socket = listen("127.0.0.1", 0)
        self.address = address_of(self._socket, "127.0.0.1")
        self._server = make_server(self.address, self.shared, self.visitors)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]})
        self._thread.start()

    @property
    def url(self) -> str:
        return self.address.url.rstrip("/")

    def page(self, session: str | None = None, **fields: Any) -> Client:
        return Client(self.address, session, **fields)

    def is_idle(self) -> bool:
        """Waits until no search runs."""
        return all(lane.wait_until_idle(SECONDS) for lane in self.shared.searches.lanes)

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(SECONDS)
        assert not self._thread.is_alive()
        self._socket.close()


@pytest.fixture(scope="session")
def server() -> Iterator[Running]:
    running = Running()
    yield running
    running.stop()


@pytest.fixture
def client(server: Running) -> Iterator[Client]:
    """A page that has said hello. (Playwright has a fixture named page.)"""
    with server.page() as connected:
        yield connected
