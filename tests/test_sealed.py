"""Files that notice damage: every flipped bit, every cut."""

import json
from pathlib import Path

import pytest

from tengen import sealed
from tengen.errors import UserError

JSON = json.dumps({"a": 1, "sha256": sealed.BLANK, "b": "text"}).encode()
TOML = f'game = "x"\n# sha256 = "{sealed.BLANK}"\n[a]\nb = 3\n'.encode()
ESCAPED = json.dumps({"note": json.dumps({"sha256": sealed.BLANK, "stats": {}})}).encode() + bytes(range(256))


@pytest.mark.parametrize("blank", [JSON, TOML, ESCAPED])
def test_every_flipped_bit_is_noticed_or_takes_the_seal_away(blank: bytes) -> None:
    data = sealed.seal(blank)
    sealed.check(Path("file"), data, "advice")
    assert sealed.is_sealed(data) and len(data) == len(blank)
    for place in range(len(data)):
        damaged = bytearray(data)
        damaged[place] ^= 1
        if sealed.is_sealed(bytes(damaged)):
            with pytest.raises(UserError, match=r"^file is damaged or was edited: advice$"):
                sealed.check(Path("file"), bytes(damaged), "advice")
        else:  # a bit of the seal itself: the rest is as it was
            assert b"sha256" in data[max(0, place - 80) : place + 80]


def test_a_file_that_is_cut_short_is_noticed() -> None:
    data = sealed.seal(TOML)
    with pytest.raises(UserError):
        sealed.check(Path("file"), data[:-1], "advice")


def test_a_file_of_an_older_version_passes() -> None:
    sealed.check(Path("file"), b"no hash in here", "advice")
