"""Files that contain the SHA-256 of their own content, so that damage is detected.

A file cannot contain the hash of all of itself. So the file is hashed with zeros in place of the hash, and
then the hash replaces the zeros. This works in any format that can contain a text of 64 characters:

    config.toml     # sha256 = "0000…"       ──►   # sha256 = "3fa9…"
    JSON            "sha256": "0000…"
    safetensors     the same JSON, in the metadata of the header
"""

import hashlib
import re
from pathlib import Path

from tengen.errors import UserError

BLANK = "0" * 64
_SEAL = re.compile(rb'sha256\\?"?\s?[:=]\s?\\?"([0-9a-f]{64})')


def seal(data: bytes) -> bytes:
    """The content with its hash filled in where `sha256` is BLANK."""
    match = _SEAL.search(data)
    assert match is not None and match[1] == BLANK.encode(), "expected sha256 and 64 zeros"
    return data[: match.start(1)] + _hash_without(data, match) + data[match.end(1) :]


def is_sealed(data: bytes) -> bool:
    """True if the content contains a hash. Files of older versions do not."""
    return _SEAL.search(data) is not None


def check(path: Path, data: bytes, advice: str) -> None:
    """UserError if the content does not match its hash. Content without a hash is accepted."""
    match = _SEAL.search(data)
    if match is not None and match[1] != _hash_without(data, match):
        raise UserError(f"{path} is damaged or was edited: {advice}")


def _hash_without(data: bytes, match: re.Match[bytes]) -> bytes:
    """The hash, as text, of the content with zeros in place of the hash."""
    digest = hashlib.sha256(data[: match.start(1)])
    digest.update(BLANK.encode())
    digest.update(data[match.end(1) :])
    return digest.hexdigest().encode()
