"""Specs: how games and players are named in text.  NAME[:PATH][:key=value,key=value]"""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field

from tengen.errors import UserError


@dataclass(frozen=True)
class Spec:
    """A spec split into its parts."""

    name: str
    path: str | None = None
    settings: dict[str, str] = field(default_factory=dict)


def parse_spec(text: str) -> Spec:
    """`zero:zoo/connect4:sims=400` → name 'zero', path 'zoo/connect4', settings {'sims': '400'}."""
    name, *rest = text.strip().split(":")
    if not name:
        raise UserError(f"a spec is NAME[:PATH][:key=value,…], got '{text}'")
    path, settings = None, {}
    for i, part in enumerate(rest):
        if "=" not in part:
            if path is not None or i > 0:
                raise UserError(f"in '{text}' a setting is key=value, got '{part}'")
            path = part
            continue
        for item in part.split(","):
            key, equals, value = item.partition("=")
            if not (key and equals and value):
                raise UserError(f"in '{text}' a setting is key=value, got '{item}'")
            if key in settings:
                raise UserError(f"in '{text}' {key} is given twice")
            settings[key] = value
    return Spec(name, path, settings)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`, did you mean gomoku15?` for the nearest known word, or an empty text."""
    near = difflib.get_close_matches(word, list(known), n=1)
    return f", did you mean {near[0]}?" if near else ""
