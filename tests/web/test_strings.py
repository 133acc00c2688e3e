"""Every language has every text, with the same placeholders; and every text is used."""

import json
import re
from pathlib import Path

import pytest

import tengen

STATIC = Path(tengen.__file__).parent / "web" / "static"
LANGUAGES = ("en", "zh-Hans", "zh-Hant", "ru", "vi")
COMPOSED = {  # t(`new.${kind}`): the beginnings, and what may follow
    "family.": None, "judgement.": None, "theme.": None, "game.wins_": None, "player.person_": None,
    "new.": ("computer", "perfect", "friend", "free"), "analysis.": ("visits", "prior", "value", "nothing"),
    "game.": ("undo", "redo", "hint", "swap", "resign"),
}  # fmt: skip


def texts(language: str) -> dict[str, str]:
    found: dict[str, str] = json.loads((STATIC / "strings" / f"{language}.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_a_language_is_complete(language: str) -> None:
    english, other = texts("en"), texts(language)
    assert list(other) == list(english)
    for key, text in english.items():
        assert sorted(re.findall(r"{\w+}", text)) == sorted(re.findall(r"{\w+}", other[key])), key
        assert other[key].strip()


def test_there_is_a_file_for_each_language_that_can_be_chosen() -> None:
    source = (STATIC / "language.js").read_text(encoding="utf-8")
    files = sorted(file.stem for file in (STATIC / "strings").glob("*.json"))
    assert files == sorted(LANGUAGES)
    for language in LANGUAGES:
        assert re.search(rf"\"?{language}\"?: \"", source), language


def test_every_text_is_used_and_every_used_text_exists() -> None:
    source = "\n".join(file.read_text(encoding="utf-8") for file in STATIC.glob("*.js"))
    known = set(texts("en"))
    groups = {key.partition(".")[0] for key in known if "." in key}
    literals = re.findall(rf"[\"`]((?:{'|'.join(groups)})\.[a-z_ 0-9]+)[\"`]", source)
    used = {*re.findall(r"\bt\(\"([^\"]+)\"", source), *literals}
    assert used <= known, used - known
    composed = {
        key for key in known for start, ends in COMPOSED.items()
        if key.startswith(start) and (ends is None or key.removeprefix(start) in ends)
    }  # fmt: skip
    assert known == used | composed
