"""The pages that are open or were open a moment ago, each found by the id that it was given."""

import secrets

from tengen.protocols.searches import ServerFullError
from tengen.web.pages import Page
from tengen.web.shared import Shared

IDLE_SECONDS = 30 * 60.0  # a page without a connection is kept this long
MOST_PAGES = 1000


class Visitors:
    def __init__(
        self, shared: Shared, idle_seconds: float = IDLE_SECONDS, most_pages: int = MOST_PAGES
    ) -> None:
        self._shared, self._idle_seconds, self._most_pages = shared, idle_seconds, most_pages
        self._pages: dict[str, Page] = {}

    def __len__(self) -> int:
        return len(self._pages)

    def find(self, session: str | None) -> Page | None:
        """The page with this id, if it is still kept."""
        self.expire()
        return self._pages.get(session or "")

    def add(self) -> tuple[str, Page]:
        """A new page and its id; ServerFullError if there are too many people."""
        self.expire()
        if len(self._pages) >= self._most_pages:
            self._drop_longest_idle()
        session = secrets.token_urlsafe(16)
        page = self._pages[session] = Page(self._shared)
        return session, page

    def drop(self, session: str) -> None:
        page = self._pages.pop(session, None)
        if page is not None:
            page.close()

    def expire(self) -> None:
        """Drops the pages that nobody has used for a long time."""
        oldest = self._shared.now() - self._idle_seconds
        for session, page in list(self._pages.items()):
            if not page.is_connected and page.last_seen < oldest:
                self.drop(session)

    def close(self) -> None:
        for session in list(self._pages):
            self.drop(session)

    def _drop_longest_idle(self) -> None:
        idle = [session for session, page in self._pages.items() if not page.is_connected]
        if not idle:
            raise ServerFullError(f"the server is full, {len(self._pages)} people are here: try again later")
        self.drop(min(idle, key=lambda session: self._pages[session].last_seen))
