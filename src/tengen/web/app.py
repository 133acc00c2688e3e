"""The application: routes, the page's files, the WebSocket. It translates; pages.py does the work."""

import asyncio
import mimetypes
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from fastapi import FastAPI, WebSocket
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles

import tengen
from tengen.web.catalogue import catalogue
from tengen.web.connection import Connection
from tengen.web.guard import Address, Guard
from tengen.web.schemas import Games, Health
from tengen.web.shared import Shared
from tengen.web.visitors import Visitors

STATIC = Path(__file__).parent / "static"
EXPIRY_SECONDS = 60.0  # between two looks for pages that nobody uses
TYPES = {".js": "text/javascript", ".css": "text/css", ".json": "application/json", ".svg": "image/svg+xml"}


def create_app(address: Address, visitors: Visitors, shared: Shared) -> FastAPI:
    """The application for a server at an address. It closes what is shared when it ends."""
    for ending, kind in TYPES.items():
        mimetypes.add_type(kind, ending)  # some systems have others, with which no script runs

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        expiring = asyncio.create_task(_expire(visitors))
        try:
            yield
        finally:
            expiring.cancel()
            with suppress(asyncio.CancelledError):
                await expiring
            visitors.close()
            await asyncio.to_thread(shared.close)

    app = FastAPI(
        title="Tengen", version=tengen.__version__, lifespan=lifespan, docs_url=None, redoc_url=None
    )  # their pages of documentation load scripts from elsewhere
    app.add_middleware(Guard, address=address)

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(STATIC / "index.html")

    @app.get("/api/health")
    async def health() -> Health:
        return Health(version=tengen.__version__)

    @app.get("/api/games")
    async def games() -> Games:
        return Games(games=await asyncio.to_thread(catalogue))

    @app.websocket("/ws")
    async def talk(websocket: WebSocket) -> None:
        await Connection(websocket, visitors).run()

    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    return app


async def _expire(visitors: Visitors) -> None:
    while True:
        await asyncio.sleep(EXPIRY_SECONDS)
        visitors.expire()
