"""The class of all commands, which refuses arguments that would fail later."""

import math
from typing import Any

import typer
from typer.core import TyperCommand

from tengen.errors import UserError

LARGEST = 2**63 - 1


class Command(TyperCommand):
    """A command that refuses infinite or huge numbers, and text that cannot be printed."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        rest = super().parse_args(ctx, args)
        for parameter in self.params:
            given = ctx.params.get(parameter.name)
            for value in given if isinstance(given, list | tuple) else [given]:
                _check(_shown(parameter), value)
        return rest


def help_without_a_command(context: typer.Context) -> None:
    """Shows the help of a group of commands if none is named."""
    if context.invoked_subcommand is None:
        print(context.get_help())
        raise typer.Exit(2)


def _shown(parameter: Any) -> str:
    """`--seed`, or `GAME` for an argument."""
    options = [option for option in parameter.opts if option.startswith("--")]
    return str(options[0] if options else parameter.name.upper())


def _check(name: str, value: object) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise UserError(f"{name} is a finite number, got {value}")
    if isinstance(value, int) and abs(value) > LARGEST:
        raise UserError(f"{name} is a number below 2^63, got {len(str(abs(value)))} digits")
    if isinstance(value, str) and not all(one.isprintable() or one in " \t\r\n" for one in value):
        raise UserError(f"{name} is plain text, got control characters or invalid text: {value[:60]}")
