"""Numba's error message for a function that it cannot compile, in one line instead of fifty."""

import re
from typing import Any

import numba

NOISE = (
    "Failed in ",
    "During",
    "File ",
    "There are ",
    "- Of which",
    "Overload",
    "With argument",
    "raised from",
)
SPECIFIC = re.compile(r"^(?:\w*(?:Typing|Type|Value|Index|Attribute)Error): (.+)$", re.MULTILINE)

UNKNOWN = re.compile(  # a global of the file whose type Numba does not know
    r"Untyped global name '(\w+)': Cannot determine Numba type of <class '([\w.]+)'>"
    r"|The use of a reflected (list).* type, assigned to variable '(\w+)' in globals"
)


def compile_problem(name: str, kernel: Any, arguments: tuple[object, ...]) -> str | None:
    """Why a kernel cannot be compiled for these arguments; None if it can."""
    try:
        kernel.compile(tuple(numba.typeof(argument) for argument in arguments))
    except Exception as error:  # noqa: BLE001 (Numba raises anything; here it is a finding about the rules)
        return f"{name}{_line(str(error), kernel)}: {essence(str(error)) or type(error).__name__}"
    return None


def _line(text: str, kernel: Any) -> str:
    """`, line 34`: the line in the function's file that Numba names; else the function's first line."""
    file = re.escape(kernel.py_func.__code__.co_filename.replace("\\", "/").rpartition("/")[2])
    found = re.search(rf'File "(?:[^"]*[/\\])?{file}", line (\d+)', text)
    return f", line {found[1] if found else kernel.py_func.__code__.co_firstlineno}"


def essence(text: str) -> str:
    """The line of Numba's message that says what is wrong."""
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith(NOISE)]
    first = lines[0] if lines else ""
    if found := UNKNOWN.search(first):
        name, kind = found[1] or found[4], (found[2] or found[3]).split(".")[-1]
        if kind == "function":
            return f"{name} is not compiled: decorate it with @njit(cache=True)"
        return f"{name} is a {kind}: compiled functions know numbers, tuples and NumPy arrays"
    if not first.startswith("No implementation of function"):
        return first
    call = next((line.removeprefix(">>> ") for line in lines if line.startswith(">>> ")), "this call")
    why = SPECIFIC.search("\n".join(lines))
    return f"Numba has no {call}" + (f": {why[1]}" if why else "")
