"""Lines in and out of a pipe, for protocols whose other side is a program.

Python's own streams hold a lock while they wait, and a thread that waits at the end of the process would then
be a fatal error. So these functions use the file under a stream, and hold nothing.
"""

import io
import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import TextIO

MAX_LINE = 2**20  # bytes; longer lines are cut
CHUNK = 2**16  # bytes


def read_lines(stream: TextIO) -> Iterator[bytes]:
    """The lines of a stream without their ends, as they arrive; a last line need not have an end.

    Of a line that is longer than MAX_LINE, the first MAX_LINE + 1 bytes: who reads it sees that it is cut."""
    file = _file(stream)
    read: Callable[[int], bytes] = stream.buffer.read if file is None else partial(os.read, file)
    waiting, is_cut = b"", False
    while chunk := read(CHUNK):
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            yield _cut(waiting if is_cut else waiting + end)
            waiting, is_cut = b"", False
        if not is_cut:
            waiting += rest
            is_cut = len(waiting) > MAX_LINE
    if waiting:
        yield _cut(waiting)


def write_text(stream: TextIO, text: str) -> None:
    """Writes a text as UTF-8. Half a character (a surrogate), which UTF-8 lacks, is written as \\ud800."""
    left, file = text.encode("utf-8", "backslashreplace"), _file(stream)
    if file is None:
        stream.buffer.write(left)
        return
    while left:
        left = left[os.write(file, left) :]


def _file(stream: TextIO) -> int | None:
    """The number of the file under a stream; None for a stream in memory."""
    try:
        return stream.fileno()
    except io.UnsupportedOperation:
        return None


def _cut(line: bytes) -> bytes:
    return line[: MAX_LINE + 1].removesuffix(b"\r")
