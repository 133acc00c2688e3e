r"""The syntax of SGF: a file's main line as properties, each with its line number. FF[4], red-bean.com/sgf.

    (;FF[4]GM[4]SZ[15]PB[Ann]    a tree in parentheses; a node begins with a semicolon;
     ;B[hh];W[ig]                a property is capital letters and one or more values in brackets
     (;B[gg])(;B[ii]))           variations: the first one goes on with the game

So the main line is all that comes before the first closing parenthesis. Within a value a backslash makes
the next character ordinary (`\]`, `\\`), and a line break after it vanishes.
"""

import re
from dataclasses import dataclass

from tengen.errors import UserError

VALUE = r"\[[^\]\\]*(?:\\.[^\]\\]*)*\]"
PROPERTY = re.compile(rf"([A-Za-z]+)((?:\s*{VALUE})+)", re.DOTALL)


@dataclass(frozen=True)
class Property:
    """A property of the main line."""

    line: int
    name: str
    values: tuple[str, ...]


def main_line(text: str) -> list[Property]:
    """The properties of the first game in a file, without its variations, in the order of the file."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    start = re.search(r"\(\s*;", text)
    if start is None:
        raise UserError(f"line 1: expected '(;', got '{shown(text)}'")
    found: list[Property] = []
    at, line = start.start(), 1 + text.count("\n", 0, start.start())
    depth, on_main_line = 0, True
    while at < len(text):
        property_ = PROPERTY.match(text, at)
        if property_:
            if on_main_line:
                values = tuple(_unescape(value[1:-1]) for value in re.findall(VALUE, property_[2], re.DOTALL))
                found.append(Property(line, _name(property_[1]), values))
            line += text.count("\n", at, property_.end())
            at = property_.end()
            continue
        character = text[at]
        if character == "(":
            depth += 1
        elif character == ")":
            depth, on_main_line = depth - 1, False
            if depth == 0:
                return found
        elif character == "\n":
            line += 1
        elif re.match(r"[A-Za-z]*\s*\[", text[at:]):
            raise UserError(f"line {line}: expected ']' after '{shown(text[at:])}'")
        elif character != ";" and not character.isspace():
            raise UserError(f"line {line}: expected a property such as B[hh], got '{shown(text[at:])}'")
        at += 1
    raise UserError(f"line {line}: expected ')', the file ends")


def property_text(name: str, *values: str) -> str:
    """A property as it is written."""
    return name + "".join("[" + re.sub(r"([\]\\])", r"\\\1", value) + "]" for value in values)


def shown(text: str) -> str:
    """The beginning of a text, on one line, for an error message."""
    words = " ".join(text[:200].split())
    return words if len(words) <= 20 else words[:20] + "…"


def _name(letters: str) -> str:
    """Up to FF[3] small letters were decoration, GaMe for GM; names in small letters only are a mistake."""
    return "".join(letter for letter in letters if letter.isupper()) or letters.upper()


def _unescape(value: str) -> str:
    return re.sub(r"\\(.)", lambda escaped: escaped[1].strip("\n"), value, flags=re.DOTALL)
