"""Malformed command lines and files, made from a seed and run one by one.

A case is a valid command line of some command in which words, options and files are damaged. Every path that
a case might write to is relative and stays in the folder of the case: root may run this. Whatever comes out,
it must end soon, with an exit code that is documented, and with one line on stderr if it is a mistake.

    python -m tests.cli.fuzz --seed 1 --first 4711 --count 1      # runs one case again, and shows it
"""

import argparse
import io
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tengen import cli, compiling, games
from tengen.games import records
from tengen.games.position import Position
from tests.cli.fuzz_words import (
    BAD_GAMES,
    BAD_PLAYERS,
    COMMANDS,
    DAMAGED,
    GAMES,
    LONG,
    MOVES,
    NUMBERS,
    PLAYERS,
    SETTINGS,
    TEXTS,
    TINY,
    TYPED,
    WHOLE_FILES,
)

REPOSITORY = Path(__file__).parents[2]
ZOO = REPOSITORY / "src" / "tengen" / "zoo" / "tictactoe"
REFERENCE = REPOSITORY / "src" / "tengen" / "reference" / "connect4.jsonl"
GAME_FILE = REPOSITORY / "examples" / "connect6.py"

SECONDS = 20  # a case that takes longer hangs; the slowest that does not takes a few
MAY_FAIL = ("check",)  # commands whose exit code 1 says that what they checked is wrong


@dataclass(frozen=True)
class Case:
    """A command line, and what is typed meanwhile."""

    number: int
    arguments: tuple[str, ...]
    typed: str

    def __str__(self) -> str:
        shown = " ".join(repr(word if len(word) < 100 else word[:100] + "…") for word in self.arguments)
        return f"case {self.number}: tengen {shown}"


class Fuzz:
    """Makes cases, each in a folder of its own with the files it names, and runs them."""

    def __init__(self, seed: int, folder: Path) -> None:
        self._seed, self._folder = seed, folder
        self._whole = folder / "whole"  # files as they should be
        _make_whole_files(self._whole)
        self._options = dict(_all_options())

    def case(self, number: int) -> tuple[Case, Path]:
        """A case, the same for the same seed and number, and its folder."""
        chance = random.Random(f"{self._seed} {number}")
        folder = self._folder / f"case-{number}" / "a" / "b"  # so deep that ../.. is within
        folder.mkdir(parents=True)
        template = chance.choices(list(COMMANDS), list(COMMANDS.values()))[0]
        if {"run", "runs"} & set(template.split()) or chance.random() < 0.1:
            _copy_damaged(self._whole / "run", folder / "runs" / "run", chance)
        words = self._fill(template, folder, chance)
        for _ in range(chance.choice((0, 0, 0, 0, 1, 1, 2, 3))):
            words = self._mutate(words, chance)
        words = _kept_short(words)
        typed = "\n".join(chance.choice(TYPED) for _ in range(chance.randrange(8)))
        return Case(number, tuple(words), typed), folder

    def run(self, number: int) -> str | None:
        """Runs a case in this process; what is wrong with how it ended, or nothing."""
        case, folder = self.case(number)
        with _place(folder), _streams(case.typed) as (out, err), _time_limit():
            try:
                code: int | str = cli.run(case.arguments)
            except _HangsError:
                code = f"it did not end within {SECONDS} s"
            except BaseException as error:  # noqa: BLE001  (to be reported)
                code = f"{type(error).__name__} escaped:\n{traceback.format_exc()}"
        shutil.rmtree(folder.parents[1])
        said = err()
        wrong = code if isinstance(code, str) else _judge(case, code, out(), said)
        return f"{case}\n{wrong}\n{said[-3000:]}" if wrong else None

    def run_process(self, number: int) -> str | None:
        """Runs a case as a real process."""
        case, folder = self.case(number)
        try:
            done = subprocess.run(
                [sys.executable, "-m", "tengen", *(os.fsencode(word) for word in case.arguments)],
                input=case.typed.encode("utf-8", "replace"),
                cwd=folder,
                capture_output=True,
                timeout=60 + SECONDS,
            )
        except subprocess.TimeoutExpired:
            return f"{case}\nit did not end"
        finally:
            shutil.rmtree(folder.parents[1])
        said = done.stderr.decode("utf-8", "replace")
        wrong = _judge(case, done.returncode, done.stdout.decode("utf-8", "replace"), said)
        return f"{case}\n{wrong}\n{said[-3000:]}" if wrong else None

    def _fill(self, template: str, folder: Path, chance: random.Random) -> list[str]:
        words: list[str] = []
        for part in _parts(template):
            if part.startswith("["):
                if chance.random() < 0.5:
                    continue
                part = part[1:-1]
            for word in part.split():
                words += self._word(word, folder, chance)
        return words

    def _word(self, word: str, folder: Path, chance: random.Random) -> list[str]:
        if not word.startswith("<"):
            return [word]
        kind, _, rest = word[1:].partition(">")
        if rest:  # <log>/games.jsonl
            return [one + rest for one in self._word(f"<{kind}>", folder, chance)]
        if kind == "game":
            return [chance.choice(GAMES if chance.random() < 0.7 else BAD_GAMES)]
        if kind == "player":
            return [chance.choice(PLAYERS if chance.random() < 0.5 else BAD_PLAYERS)]
        if kind == "moves":
            return [chance.choice(MOVES) for _ in range(chance.randrange(4))]
        if kind == "setting":
            return [chance.choice(SETTINGS)]
        if kind == "number":
            return [chance.choice(NUMBERS)]
        if kind == "text":
            return [chance.choice(TEXTS + NUMBERS + ["mnk", "connect4", "rules"])]
        if kind == "out":
            return [
                chance.choice(["out.txt", "out.svg", "out.html", "nowhere/out.svg", ".", "..", "", "x" * 300])
            ]
        if kind in ("network", "log"):
            _copy_damaged(self._whole / kind, folder / kind, chance)
            return [kind]
        name = kind + DAMAGED[kind]
        _write_damaged(self._whole / name, folder / name, chance)
        return [name]

    def _mutate(self, words: list[str], chance: random.Random) -> list[str]:
        """Another command line, near to this one."""
        words, place, kind = list(words), chance.randrange(len(words) + 1), chance.randrange(7)
        if kind == 0 and words:
            del words[place - 1]
        elif kind == 1 and words:
            words.insert(place, chance.choice(words))
        elif kind == 2:
            words.insert(place, chance.choice(TEXTS))
        elif kind == 3 and words:
            words[place - 1] = chance.choice(TEXTS + NUMBERS)
        elif kind == 4 and words and words[place - 1]:
            word = words[place - 1]
            at = chance.randrange(len(word))
            words[place - 1] = word[:at] + chance.choice("=:,-.0 9x天") + word[at + chance.randrange(2) :]
        elif words:
            options = self._options.get(" ".join(words[:2])) or self._options.get(words[0]) or ["--json"]
            option = chance.choice(options)
            if option not in LONG:
                words += [option, chance.choice(NUMBERS + TEXTS)]
            elif option not in ("--live", "--open", "--make-book"):
                words += [option, chance.choice([one for one in NUMBERS if one not in ("1.5", "1_0")])]
        return words


def _kept_short(words: list[str]) -> list[str]:
    """The command line, such that it does not take minutes if it should be valid after all."""
    if words[:1] == ["reference"] or "connect4" in words:  # there it takes minutes from an early position
        words = ["uniform" if word == "perfect" else word for word in words]
    command = " ".join(words[:2])
    if command in ("reference run", "reference check", "reference curve") and "jsonl.jsonl" not in words:
        return [*words, "jsonl.jsonl"]  # without a file it is Tengen's own set
    if words[:1] == ["solve"] and "44444" not in "".join(words):
        return [*words, "44444326"]  # not an empty board
    if words[:1] == ["demo"]:
        return [*words, "--minutes", "nan"]
    if words[:1] == ["serve"]:
        return [*words, "--memory", "nan"]  # a server would run for ever
    if words[:1] == ["train"] and "--resume" not in words:
        return [*words, *(word for setting in TINY for word in ("--set", setting))]
    if words[:1] == ["net"] and "--seconds" not in words:
        return [*words, "--seconds", "0"]
    return words


def _parts(template: str) -> list[str]:
    """The words of a template, those in square brackets together."""
    found: list[str] = []
    inside = False
    for word in template.split():
        if inside:
            found[-1] += " " + word
        else:
            found.append(word)
        inside = found[-1].startswith("[") and not found[-1].endswith("]")
    return found


def _judge(case: Case, code: int, out: str, said: str) -> str | None:
    """What is wrong with how a case ended."""
    if "Traceback" in said or "Exception ignored" in said:
        return f"a traceback, exit code {code}"
    notices = (compiling.TEXT, " was trained for ", "no network for ")  # on a line of their own
    lines = [line for line in said.splitlines() if line.startswith("tengen: ")]
    lines = [line for line in lines if not any(notice in line for notice in notices)]
    if code == 2 and len(lines) != 1 and "Usage: tengen" not in out:
        return f"exit code 2 with {len(lines)} lines of explanation"
    if code == 2 and lines and len(lines[0]) > 1200:
        return f"a line of {len(lines[0])} characters"
    may_fail = any(word in MAY_FAIL for word in case.arguments) or "No space left" in said
    if code not in (0, 2) and not (code == 1 and may_fail):
        return f"exit code {code}"
    return None


class _HangsError(BaseException):
    """Not an Exception, so that nobody takes it for one of theirs."""


@contextmanager
def _time_limit() -> Iterator[None]:
    def ring(*_: object) -> None:
        raise _HangsError

    before = [(number, signal.getsignal(number)) for number in (signal.SIGALRM, signal.SIGINT)]
    signal.signal(signal.SIGALRM, ring)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        for number, handler in before:
            signal.signal(number, handler)


@contextmanager
def _place(folder: Path) -> Iterator[None]:
    """The folder as the current one; games that are loaded meanwhile are forgotten."""
    before, known = Path.cwd(), dict(games.REGISTRY)
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
        games.REGISTRY.clear()
        games.REGISTRY.update(known)
        games.LOADED_FILES.clear()
        games.find.cache_clear()


@contextmanager
def _streams(typed: str) -> Iterator[tuple[Callable[[], str], Callable[[], str]]]:
    """stdin, stdout and stderr as pipes would be."""
    before = sys.stdin, sys.stdout, sys.stderr
    out, err = io.BytesIO(), io.BytesIO()
    sys.stdin = io.TextIOWrapper(io.BytesIO(typed.encode("utf-8", "replace")), "utf-8")
    sys.stdout = io.TextIOWrapper(out, "utf-8", errors="_plain", write_through=True)
    sys.stderr = io.TextIOWrapper(err, "utf-8", errors="_plain", write_through=True)
    try:
        yield lambda: out.getvalue().decode(), lambda: err.getvalue().decode()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
            stream.detach()
        sys.stdin, sys.stdout, sys.stderr = before


def _all_options() -> Iterator[tuple[str, list[str]]]:
    """(command, its options) for every command there is."""
    import typer

    def walk(command: object, name: str) -> Iterator[tuple[str, list[str]]]:
        subcommands = getattr(command, "commands", None)
        if subcommands is None:
            params = getattr(command, "params", [])
            yield name, [opt for param in params for opt in param.opts if opt.startswith("-")] or ["--help"]
            return
        for word, one in subcommands.items():
            yield from walk(one, f"{name} {word}".strip())

    yield from walk(typer.main.get_command(cli.app), "")


def _damage(data: bytes, chance: random.Random) -> bytes:
    """The content of a file, with something wrong in it."""
    kind, place = chance.randrange(9), chance.randrange(len(data) + 1)
    if kind == 0:
        return chance.choice(WHOLE_FILES).encode("utf-8")
    if kind == 1:
        return chance.randbytes(chance.randrange(2000))
    if kind == 2:
        return data[:place]
    if kind == 3 and data:
        found = bytearray(data)
        for _ in range(chance.randrange(1, 9)):
            found[chance.randrange(len(found))] ^= 1 << chance.randrange(8)
        return bytes(found)
    if kind == 4:
        return (
            data[:place]
            + chance.choice([b"\0", b"\xff", b"[", b"(", b'"', b"{", b"\n", b"9" * 5000])
            + data[place:]
        )
    if kind == 5:
        return data.replace(
            b"1", chance.choice([b"1e999", b"-1", b"null", b"99999999999999999999", b"NaN", b'"x"'])
        )
    if kind == 6:
        return data + data[place:]
    if kind == 7:
        return data.replace(b"0", b"true", 3).replace(b":", b": [", 1)
    return data


def _write_damaged(source: Path, target: Path, chance: random.Random) -> None:
    kind = chance.randrange(30)
    if kind == 0:
        target.mkdir()
    elif kind == 1:
        target.symlink_to("/dev/null")
    elif kind == 2:
        target.symlink_to(target.name)  # to itself
    elif kind > 3:  # else there is none
        target.write_bytes(_damage(source.read_bytes(), chance))


def _copy_damaged(source: Path, target: Path, chance: random.Random) -> None:
    """A folder with one of its files damaged."""
    shutil.copytree(source, target)
    file = chance.choice(sorted(path for path in target.rglob("*") if path.is_file()))
    data = file.read_bytes()
    file.unlink()
    whole = target / ".whole"
    whole.write_bytes(data)
    _write_damaged(whole, file, chance)
    whole.unlink()


def _make_whole_files(folder: Path) -> None:
    """One good file of every kind, a run, a network, and the log of a match."""
    folder.mkdir()
    position = Position.from_moves("gomoku15", "h8 h9 i8")
    for kind in ("sgf", "psq"):
        records.write(records.Record.from_position(position), folder / f"{kind}.{kind}")
    records.write(records.Record.from_position(Position.from_moves("connect4", "4435")), folder / "txt.txt")
    (folder / "openings.txt").write_text("a1\nb2 c3\n# nothing\n")
    (folder / "jsonl.jsonl").write_text("".join(REFERENCE.read_text().splitlines(keepends=True)[:2]))
    shutil.copy(GAME_FILE, folder / "py.py")
    shutil.copytree(ZOO, folder / "network")
    lines = [
        "solve connect4 44444322555577331 --make-book book.book --plies 1",
        "match tictactoe uniform uct:sims=5 -n 2 --workers 1 --out log",
        "train connect4 -n run --generations 1 --workers 1 --seed 1 --plain --set " + " --set ".join(TINY),
    ]
    for line in lines:
        with _place(folder), _streams("") as (_, err):
            code = cli.run(line.split())
        assert code == 0, f"{line}: {err()}"
    (folder / "runs" / "run").rename(folder / "run")


def main() -> None:
    parser = argparse.ArgumentParser(description="Run malformed command lines and files.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--processes", action="store_true", help="each as a process of its own")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        fuzz = Fuzz(options.seed, Path(folder))
        for number in range(options.first, options.first + options.count):
            if options.count == 1:
                print(fuzz.case(number)[0])
                shutil.rmtree(Path(folder) / f"case-{number}")
            wrong = fuzz.run_process(number) if options.processes else fuzz.run(number)
            if wrong:
                print(wrong + "\n", flush=True)


if __name__ == "__main__":
    main()
