"""What an output stream can show: colours, and characters beyond ASCII."""

import codecs
import io
import os
import sys
from typing import TextIO

DISC = "●"
PLAIN = {  # replacements of the characters that we print beyond ASCII
    "×": "x", "·": ".", "●": "@", "…": "...", "–": "-", "—": "-", "±": "+-", "≥": ">=", "≤": "<=", "≈": "~",
    "½": "1/2", "∞": "inf", "→": "->", "│": "|", "─": "-", "“": '"', "”": '"', "’": "'", "√": "sqrt",
}  # fmt: skip


def has_color(stream: TextIO) -> bool:
    """True if the stream shows colours and discs; else the two sides are drawn as X and O."""
    if not stream.isatty() or "NO_COLOR" in os.environ:
        return False
    if os.environ.get("TERM", "").lower() in ("dumb", "unknown"):
        return False
    try:
        DISC.encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def make_streams_safe() -> None:
    """Makes stdin, stdout and stderr exist and accept every character, whatever their encoding is."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:  # closed by the parent process
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115  (open to the end)
        elif mode == "w" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_plain.__name__)


def _plain(error: UnicodeError) -> tuple[str, int]:
    """The replacement for a character that an encoding lacks: a similar one in ASCII, or a question mark."""
    assert isinstance(error, UnicodeEncodeError)
    characters = error.object[error.start : error.end]
    return "".join(PLAIN.get(character, "?") for character in characters), error.end


codecs.register_error(_plain.__name__, _plain)
