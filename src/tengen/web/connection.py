"""One WebSocket: reads messages, answers each once, and sends what happens on its page."""

import asyncio
import traceback
from typing import Any

from fastapi import WebSocket, WebSocketDisconnect

from tengen.errors import UserError
from tengen.protocols.analysis_messages import MessageError
from tengen.protocols.outbox import Outbox
from tengen.web import schemas
from tengen.web.pages import Page
from tengen.web.visitors import Visitors

TOO_SLOW, FAILED, SILENT = 1013, 1011, 1008  # close codes: try again later; an error of the server; no hello
HELLO_SECONDS = 10.0  # from the connection to its first message
SLOW_MESSAGES = (schemas.Hint, schemas.Try, schemas.Animate)  # other messages need not wait for their answers


class Connection:
    def __init__(self, websocket: WebSocket, visitors: Visitors) -> None:
        self._websocket, self._visitors = websocket, visitors
        self._outbox = Outbox()
        self._page: Page | None = None
        self._answering: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Serves the page until its connection ends."""
        await self._websocket.accept()
        sending = asyncio.create_task(self._send())
        try:
            while (text := await self._receive()) is not None:
                await self._take(text)
        finally:
            sending.cancel()
            for task in self._answering:
                task.cancel()
            if self._page is not None:
                self._page.detach(self._outbox)

    async def _receive(self) -> str | bytes | None:
        """The next message; None at the end, or if nobody says hello."""
        try:
            event = await asyncio.wait_for(
                self._websocket.receive(), HELLO_SECONDS if self._page is None else None
            )
        except TimeoutError:
            await self._websocket.close(SILENT, "no hello")
            return None
        if event["type"] == "websocket.disconnect":
            return None
        text: str | bytes | None = event.get("text")
        return event.get("bytes", b"") if text is None else text

    async def _send(self) -> None:
        try:
            while True:
                await self._websocket.send_text(await self._outbox.take())
        except (WebSocketDisconnect, RuntimeError):  # closed meanwhile: the reader notices too
            return
        except ValueError:  # what cannot be written as JSON is a bug of ours; a silent page would hide it
            traceback.print_exc()
            await self._websocket.close(FAILED)

    async def _take(self, text: str | bytes) -> None:
        """Starts to do what a message says; most are done when this returns."""
        number: int | None = None
        try:
            values = schemas.read_json(text)
            number = schemas.id_of(values)
            message = schemas.read_message(values)
        except MessageError as error:
            self._outbox.put({"id": number, "type": "error", **error.to_json()})
            return
        if isinstance(message, SLOW_MESSAGES):
            task = asyncio.create_task(self._answer(message))
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)
        else:
            await self._answer(message)
        if self._outbox.is_full:
            await self._websocket.close(TOO_SLOW)

    async def _answer(self, message: schemas.AnyMessage) -> None:
        try:
            if self._page is None:
                answer = await self._hello(message)
            else:
                answer = await self._page.handle(message)
        except UserError as error:
            field = error.field if isinstance(error, MessageError) else _field_of(message)
            self._outbox.put({"id": message.id, "type": "error", "message": str(error), "field": field})
            return
        except Exception:  # noqa: BLE001  (a bug of ours: the page lives on)
            traceback.print_exc()
            said = "an error in Tengen: please report it with the lines in the terminal"
            self._outbox.put({"id": message.id, "type": "error", "message": said, "field": None})
            return
        self._outbox.put({"id": message.id, "type": "answer", **answer})
        if self._page is not None and not isinstance(message, (*SLOW_MESSAGES, schemas.Export)):
            self._page.settle()

    async def _hello(self, message: schemas.AnyMessage) -> dict[str, Any]:
        """Finds the page of a session again, or makes a new one."""
        if not isinstance(message, schemas.Hello):
            raise MessageError("the first message is hello", "type")
        session, page = message.session, self._visitors.find(message.session)
        is_restored = page is not None
        if page is None:
            session, page = self._visitors.add()
            if message.sgf is not None:
                try:
                    await page.load("game.sgf", message.sgf)
                except UserError as error:
                    self._visitors.drop(session)
                    raise MessageError(str(error), "sgf") from None
        page.attach(self._outbox)
        self._page = page
        return {"session": session, "state": page.state(), "is_restored": is_restored}


def _field_of(message: schemas.AnyMessage) -> str | None:
    """The field that an error of the session is about."""
    return next((name for name in ("move", "node") if hasattr(message, name)), None)
