"""Malformed command lines and files, made from a seed and run one by one.

A case is a valid command line of some command in which words, options and files are damaged. Every path that
a case might write to is relative and stays in the folder of the case: root may run this. Whatever comes out,
it must end soon, with an exit code that is documented, and with one line on stderr if it is a mistake.

    python -m tests.cli.fuzz --seed 1 --first 4711 --count 1      # runs one case again, and shows it
"""

import argparse
import io
import json
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

REPOSITORY = Path(__file__).parents[2]
ZOO = REPOSITORY / "src" / "tengen" / "zoo" / "tictactoe"
REFERENCE = REPOSITORY / "src" / "tengen" / "reference" / "connect4.jsonl"
GAME_FILE = REPOSITORY / "examples" / "connect6.py"

SECONDS = 20  # a case that takes longer hangs; the slowest that does not takes a few
STOPPED = 130
MAY_FAIL = ("check",)  # commands whose exit code 1 says that what they checked is wrong

# Numbers are refused, or are small: a large number that is allowed would only take long.
NUMBERS = ["-1", "0", "1", "2", "-0", "nan", "inf", "-inf", "1e400", "1e-400", str(10**30), str(-(10**30)), "0x10",
           "1.5", "²", "٣", "+", "1_0", "9" * 5000, "1e5000", "", " ", "null", "1,2"]  # fmt: skip
TEXTS = ["", " ", "\t", "\n", "-", "--", "---", "=", ":", "::", ":=", ",", ".", "..", "/", "~", "*", "?", "%s", "{}",
         "{0.__class__}", "$HOME", "`id`", "'", '"', "\\", "\x01", "\x1b[31m", "\u202e", "é", "天元", "🎲", "\udcff",
         "x" * 10_000, "a1 " * 400, "../../etc/passwd", "[bold]x[/bold]",
         "[/]", "None", "true", "[]", "-h1", "--sims", "😀=1"]  # fmt: skip
GAMES = ["tictactoe", "tictactoe", "connect4", "gomoku6", "hex7", "othello6", "mnk:rows=3,cols=3,k=3",
         "connect:rows=4,cols=4,k=3"]  # fmt: skip
BAD_GAMES = ["mnk:rows=0", "mnk:rows=3,cols=3,k=99", "mnk:rows=-3,cols=3,k=3", "mnk", "mnk:", "mnk:rows", "mnk:rows=",
             "mnk:rows=3,rows=3", "mnk:rows=3,cols=3,k=3,rule=chess", "hex:size=0", "hex:size=99999", "othello:size=5",
             "othello:size=nan", "connect:rows=1,cols=1,k=1", "connect:rows=26,cols=99,k=4", "mnk:name=x",
             "tictactoe:rows=4", "gomoku", "all", "tictactoe ", "TICTACTOE", "mnk:rows=1,cols=1,k=1", ":", "hex:size=1",
             "mnk:rows=²,cols=3,k=3", f"mnk:rows={'9' * 5000}"]  # fmt: skip
PLAYERS = ["uniform", "uct:sims=5", "perfect", "zero:sims=2", "zero:zoo/tictactoe:sims=1", "greedy", "minimax:depth=1",
           "alphabeta:depth=1,table_mib=1", "uct:seconds=0.01"]  # fmt: skip
BAD_PLAYERS = ["zero:../../etc", "zero:/dev/null", "zero:zoo/nowhere", "zero:zoo/..", "zero:::", "zero:sims=",
               "engine:cmd=", "engine:cmd=true", "engine:cmd=cat", "engine:cmd='", "engine:cmd=/nowhere", "engine",
               "engine:seconds=nan,cmd=true", "engine:memory=-1,cmd=true", "uct:seconds=nan", "uct:seconds=-1",
               "uct:sims=1e9", "uct:c=inf", "uct:guided=maybe", "uct:vcf=yes", "uct:vcf=yes,sims=3", "human", "human:x",
               "perfect:book=/dev/null", "perfect:book=nowhere", "alphabeta:depth=99", "minimax:depth=-1",
               "alphabeta:table_mib=999999", "zero:precision=fp64", "zero:search=x", "zero:leaves=0", "nobody",
               "uct:rollouts=0", "uct:sims=5,sims=6", "zero:runs/run:sims=1"]  # fmt: skip
SETTINGS = ["selfplay.games=1", "selfplay.games=-1", "selfplay.games=nan", "learner.batch_size=0", "nonsense.key=1",
            "learner", "=", "learner.=1", "network.name=nonsense", "network.channels=0", "network.blocks=-3",
            "selfplay.simulations=1e9", "length.minutes=nan", "channels=8", "blocks=1", "channels=-1", "channels=nan",
            "measure.opponents=nobody", "measure.opponents=zero:nowhere"]  # fmt: skip
MOVES = [
    "a1",
    "b2",
    "c3",
    "1",
    "4",
    "44",
    "4435",
    "a1b2",
    "z99",
    "pass",
    "h8",
    "-1",
    "a1a1",
    "１",
    "a" * 2000,
]
TYPED = ["a1", "b2", "4", "undo", "hint", "eval", "resign", "help", "quit", "save", "save x.sgf", "save nowhere/x.txt",
         "save .", "load", "load x.sgf", "load /dev/null", "\x00", "天", "", "undo undo"]  # fmt: skip
DAMAGED = {  # what stands for a file of a kind, and what its name ends in
    "sgf": ".sgf", "psq": ".psq", "txt": ".txt", "openings": ".txt", "jsonl": ".jsonl", "book": ".book", "py": ".py",
}  # fmt: skip
WHOLE_FILES = ["", "null", "[]", "{}", "0", '"x"', "NaN", "[" * 100_000, '{"a":' * 50_000, "(" * 100_000, "(;" * 20_000,
               "1" * 100_000, "\x00" * 1000, "\ufeff", "\n" * 10_000, "= " * 1000, "[[[[", "raise SystemExit(3)",
               "x = 1/0", "import nowhere", "def f(:"]  # fmt: skip

# Words in angle brackets are filled in; those in square brackets are often left out.
COMMANDS: dict[str, int] = {  # a command line: how often
    "games [--json]": 1,
    "--version": 1,
    "--games <py> games": 3,
    "--games <py> show connect6 f6": 1,
    "show <game> <moves> [--json] [--svg <out>] [--save <out>]": 8,
    "show <sgf> [--json] [--svg <out>]": 8,
    "show <psq> [--save <out>]": 8,
    "show <txt> <moves>": 8,
    "analyse <game> <moves> --sims 20 [--search <number>] [--search uct] [--tree 2] [--top 2] [--json]": 5,
    "analyse <game> --net <network> --sims 5": 5,
    "solve connect4 44444326 <moves> [--weak] [--json]": 3,
    "solve connect4 --cells <text>": 2,
    "solve connect4 4444432255 --book <book>": 4,
    "solve connect4 44444322555577331 --make-book <book> --plies 1": 3,
    "play <game> <moves> --opponent <player> [--side second] [--seed 1]": 6,
    "train tictactoe -n new --generations 1 --workers 1 --set <setting> --set <setting> --plain": 2,
    "train --resume run --generations 1 --workers 1 --plain": 1,
    "train <game> --preset <text> --set <setting>": 2,
    "runs [--json]": 3,
    "report run [--out <out>]": 4,
    "export run <out> --positions 0 --games 0 [--no-weights]": 2,
    "net <text> --game <game> --seconds 0 [--set <setting>] [--svg <out>] [--json]": 2,
    "net mnk --game tictactoe --seconds 0 --set <setting>": 2,
    "match <game> <player> <player> -n 2 --workers 1 [--out <log>] [--json]": 6,
    "match tictactoe <player> uniform -n 2 --workers 1 --openings <openings>": 4,
    "match tictactoe uniform uct:sims=5 -n 2 --workers 1 --out <log>": 4,
    "tournament <game> <player> <player> <player> -r 1 --workers 1 [--csv <out>] [--svg <out>] [--anchor <player>]": 4,
    "sprt <game> <player> <player> --max-games 2 --workers 1 [--elo0 <number>] [--alpha <number>] [--elo1 <number>]": 4,
    "check <game> --positions 5 [--seed 1] [--json]": 3,
    "perft <game> 2 <moves> [--json]": 4,
    "demo --minutes <number>": 1,
    "reference run <jsonl> --player <player> [--json] [--mistakes 1]": 5,
    "reference check <jsonl> [--json]": 4,
    "reference make <out> -n 1 --plies 30-30 [--player <player>] [--seed 1]": 3,
    "reference curve run <jsonl> --sims 1 [--minutes <number>] [--svg <out>] [--beside <text>]": 4,
    "bench rules --peers <out>": 1,
    "bench search --peers <out>": 1,
    "bench <text>": 1,
    "bench selfplay --net <network> --rounds <number> --peers <out>": 1,
    "<text> <text>": 2,
}
LONG = {"--num-games", "--rounds", "--max-games", "--positions", "--games", "--seconds", "--minutes", "--workers", "-n",
        "-r", "--live", "--undecided", "--open", "--generations"}  # fmt: skip


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
        if words[:1] == ["reference"] and "<jsonl>" in template and "jsonl.jsonl" not in words:
            words.append("jsonl.jsonl")  # without a file it is Tengen's own set, which takes minutes
        if words[:1] == ["solve"] and "44444" not in "".join(words):
            words.append("44444326")  # a board that is almost empty takes minutes too
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
        kind = word[1:-1]
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
        words, place = list(words), chance.randrange(len(words) + 1)
        kind = chance.randrange(7)
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
            elif option not in ("--live", "--open"):
                words += [option, chance.choice([one for one in NUMBERS if one not in ("1.5", "1_0")])]
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
    lines = [line for line in said.splitlines() if line.startswith("tengen: ") and compiling.TEXT not in line]
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
    kind = chance.randrange(9)
    place = chance.randrange(len(data) + 1)
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
        "train connect4 -n run --generations 1 --workers 1 --seed 1 --plain --set selfplay.games=4 --set "
        "selfplay.simulations=4 --set network.channels=8 --set network.blocks=1 --set measure.positions=4 --set "
        "measure.games=0",
    ]
    for line in lines:
        with _place(folder), _streams("") as (_, err):
            code = cli.run(line.split())
        assert code == 0, f"{line}: {err()}"
    (folder / "runs" / "run").rename(folder / "run")
    json.loads((folder / "run" / "best" / "card.json").read_text())


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
