r"""The syntax of SGF: turns a text into nodes with their properties, and a property into text.

Within a value a backslash escapes the next character (`\]`, `\\`), and removes a line break after it.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from tengen.errors import UserError
from tengen.games.reading import shown, split_lines

VALUE = r"\[[^\]\\]*(?:\\.[^\]\\]*)*\]"
PROPERTY = re.compile(rf"([A-Za-z]+)((?:\s*{VALUE})+)", re.DOTALL)


@dataclass(frozen=True)
class Property:
    line: int
    name: str
    values: tuple[str, ...]

    @property
    def is_move(self) -> bool:
        return self.name in ("B", "W")

    @property
    def player(self) -> int:
        """Whose move it is, 1 or 2."""
        return "BW".index(self.name) + 1


@dataclass(frozen=True)
class SyntaxNode:
    """A node of a file. Numbers follow the order of the file, so a parent comes before its children."""

    number: int
    parent: int | None  # a number
    is_main: bool  # on the main line
    properties: list[Property] = field(default_factory=list)


def parse_nodes(text: str) -> list[SyntaxNode]:
    """The nodes of the first game of a file."""
    text = "\n".join(split_lines(text))
    start = re.search(r"\(\s*;", text)
    if start is None:
        raise UserError(f"line 1: expected '(;', got '{shown(text)}'")
    nodes: list[SyntaxNode] = []
    opened: list[int | None] = []  # for every open parenthesis, the node before it
    last: int | None = None  # the node that the next one follows
    starts_node = True  # a property after a parenthesis begins a node, with a semicolon or without
    has_closed = False  # the main line ends at the first closing parenthesis
    at, line = start.start(), 1 + text.count("\n", 0, start.start())
    while at < len(text):
        match = PROPERTY.match(text, at)
        character = text[at]
        if character == ";" or (match and starts_node):
            nodes.append(SyntaxNode(len(nodes), last, is_main=not has_closed))
            last, starts_node = len(nodes) - 1, False
        if match:
            values = [_unescape(value[1:-1]) for value in re.findall(VALUE, match[2], re.DOTALL)]
            nodes[-1].properties.append(Property(line, _name(match[1]), tuple(values)))
            line += text.count("\n", at, match.end())
            at = match.end()
            continue
        if character == "(":
            opened.append(last)
            starts_node = True
        elif character == ")":
            last = opened.pop()
            starts_node = has_closed = True
            if not opened:
                return nodes
        elif character == "\n":
            line += 1
        elif character != ";" and not character.isspace():
            is_open = re.match(rf"(?!{VALUE})[A-Za-z]*\s*\[", text[at:], re.DOTALL)
            what = "']' at the end of" if is_open else "a property, got"
            raise UserError(f"line {line}: expected {what} '{shown(text[at:])}'")
        at += 1
    raise UserError(f"line {line}: expected ')', the file ends")


def main_line(nodes: list[SyntaxNode]) -> list[Property]:
    """All properties of the main line."""
    return [found for node in nodes if node.is_main for found in node.properties]


def head(nodes: list[SyntaxNode]) -> list[SyntaxNode]:
    """The first nodes, up to the first that has a move or branches."""
    num_children = Counter(node.parent for node in nodes)
    for node in nodes:  # as long as none branches, they follow each other
        if num_children[node.number] != 1 or any(found.is_move for found in node.properties):
            return nodes[: node.number + 1]
    return nodes


def first_of_each(properties: list[Property]) -> dict[str, Property]:
    """The first property of each name."""
    return {found.name: found for found in reversed(properties)}


def written(name: str, *values: str) -> str:
    """A property as SGF text."""
    return name + "".join("[" + re.sub(r"([\]\\])", r"\\\1", value) + "]" for value in values)


def _name(letters: str) -> str:
    """Up to FF[3] small letters were decoration, `GaMe` for GM; without capitals they are a mistake."""
    return "".join(letter for letter in letters if letter.isupper()) or letters.upper()


def _unescape(value: str) -> str:
    return re.sub(r"\\(.)", lambda escaped: escaped[1].strip("\n"), value, flags=re.DOTALL)
