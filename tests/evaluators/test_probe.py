"""int8 or fp32: real children, some of which die, hang or talk rubbish."""

import json
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from tengen import games, nets
from tengen.evaluators.agreement import MOST_KL, MOST_VALUE_ERROR, Floats, agreement
from tengen.evaluators.probe import LEAST_SPEED, MOST_POSITIONS, Probe, probe
from tengen.evaluators.samples import random_planes
from tengen.nets.export import to_int8, to_onnx
from tests.nets.test_nets import trained_a_little
from tests.workers.test_local import is_running

ANSWER = {"kl": 0.001, "same_move": 0.98, "value_error": 0.01, "fp32_rate": 1000.0, "int8_rate": 3000.0}
PLANES = np.zeros((1, 2, 3, 3), np.float32)


@pytest.fixture(scope="module")
def exports() -> tuple[bytes, bytes, Floats]:
    """fp32 and int8 of a network whose policies are not flat, and the planes it sees."""
    game = games.find("tictactoe")
    planes = random_planes(game, 2 * MOST_POSITIONS)
    net = trained_a_little(nets.make("mnk", game), planes)
    for parameter in net.get_submodule("policy").parameters():
        parameter.data *= 3
    seen = np.ascontiguousarray(planes[:, net.planes])
    fp32 = to_onnx(net, planes)
    return fp32, to_int8(fp32, seen), seen


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary folders are made."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def child(code: str, timeout: float = 60.0) -> Probe:
    """What we think of a child that runs this code."""
    return probe(b"", b"", PLANES, timeout, [sys.executable, "-c", f"import os, sys, time\n{code}"])


def judged(**changes: float) -> Probe:
    return child(f"print({json.dumps(json.dumps(ANSWER | changes))})")


def test_the_child_finds_what_we_find(exports: tuple[bytes, bytes, Floats], temporary: Path) -> None:
    found = probe(*exports)
    here = agreement(exports[0], exports[1], exports[2][:MOST_POSITIONS])
    assert found.runs and here.is_close and here.kl > 1e-6
    assert (found.kl, found.same_move, found.value_error) == (here.kl, here.same_move, here.value_error)
    assert found.fp32_rate and found.int8_rate
    assert found.precision == ("int8" if found.int8_rate >= LEAST_SPEED * found.fp32_rate else "fp32")
    assert not list(temporary.iterdir())


def test_a_network_that_says_something_else_is_not_played(exports: tuple[bytes, bytes, Floats]) -> None:
    fp32, _, seen = exports
    game = games.find("tictactoe")
    other = to_onnx(
        trained_a_little(nets.make("mnk", game, seed=7), random_planes(game, 64)), random_planes(game, 9)
    )
    found = probe(fp32, other, seen[:5])  # fewer than a batch
    assert found.runs and found.kl and found.kl > MOST_KL and found.precision == "fp32"
    assert " × as fast as fp32 and does not say what fp32 says: KL " in found.reason


def test_int8_that_cannot_be_loaded_means_fp32(exports: tuple[bytes, bytes, Floats], temporary: Path) -> None:
    found = probe(exports[0], b"no network", exports[2])
    assert not found.runs and found.precision == "fp32" and found.kl is None and found.int8_rate is None
    assert found.reason.startswith("the process ended with code 1: ") and "protobuf" in found.reason.lower()
    assert not list(temporary.iterdir())


@pytest.mark.parametrize(
    ("changes", "precision"),
    [
        ({}, "int8"),
        ({"int8_rate": LEAST_SPEED * 1000}, "int8"),
        ({"int8_rate": LEAST_SPEED * 1000 - 1}, "fp32"),
        ({"int8_rate": 500.0}, "fp32"),
        ({"kl": MOST_KL - 0.001}, "int8"),
        ({"kl": MOST_KL}, "fp32"),
        ({"value_error": MOST_VALUE_ERROR - 0.001}, "int8"),
        ({"value_error": MOST_VALUE_ERROR}, "fp32"),
    ],
)
def test_int8_plays_where_it_agrees_and_is_faster(changes: dict[str, float], precision: str) -> None:
    found = judged(**changes)
    assert found.runs and found.precision == precision
    assert {name: getattr(found, name) for name in ANSWER} == ANSWER | changes


def test_the_reason_is_in_words() -> None:
    assert judged().reason == "int8 is 3.00 × as fast as fp32: KL 0.001, value error 0.01"
    assert judged(int8_rate=640.0).reason == "int8 is 0.64 × as fast as fp32: KL 0.001, value error 0.01"
    far = "int8 is 3.00 × as fast as fp32 and does not say what fp32 says: KL 0.5, value error 0.01"
    assert judged(kl=0.5).reason == far


@pytest.mark.parametrize("name", ["SIGILL", "SIGSEGV", "SIGKILL"])
def test_a_child_that_dies_of_a_signal_means_fp32(name: str, temporary: Path) -> None:
    answer = f"print({json.dumps(json.dumps(ANSWER))}, flush=True)"  # it spoke before it died
    found = child(f"{answer}\nos.kill(os.getpid(), {int(signal.Signals[name])})")
    is_conclusive = name != "SIGKILL"  # which comes from outside, as when memory runs out
    assert found == Probe(
        False, None, None, None, None, None, f"the process died of {name}", is_conclusive=is_conclusive
    )
    assert found.precision == "fp32" and not list(temporary.iterdir())


def test_a_child_that_dies_of_a_signal_without_a_name_means_fp32() -> None:
    number = signal.SIGRTMIN + 3
    assert child(f"os.kill(os.getpid(), {number:d})").reason == f"the process died of signal {number:d}"


def test_a_child_that_hangs_is_stopped_and_means_fp32(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    found = child(f"open({str(note)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)", timeout=3)
    assert found == Probe(
        False, None, None, None, None, None, "the process did not answer in 3 s", is_conclusive=False
    )
    assert found.precision == "fp32" and not is_running(int(note.read_text()))


@pytest.mark.parametrize(
    "answer",
    [
        "", "hello", "[1, 2]", "7", "null", '{"kl": 0.001}', json.dumps(ANSWER | {"kl": "little"}), json.dumps(ANSWER | {"kl": None}),
        json.dumps(ANSWER | {"fp32_rate": 0}), json.dumps(ANSWER | {"int8_rate": -3}), json.dumps(ANSWER)[:-9],
    ],
)  # fmt: skip
def test_a_child_that_talks_rubbish_means_fp32(answer: str) -> None:
    found = child(f"sys.stdout.write({answer!r})")
    assert not found.runs and found.precision == "fp32"
    assert found.reason == f"the process answered {answer[:40]!r}"


def test_a_child_that_answers_with_bytes_means_fp32() -> None:
    found = child("sys.stdout.buffer.write(bytes(range(128, 256)))")
    assert not found.runs and found.reason.startswith("the process answered '\ufffd")


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_numbers_that_are_none_mean_fp32(number: float) -> None:
    found = judged(value_error=number)
    assert not found.runs and found.precision == "fp32" and found.value_error is None
    assert found.reason == "int8 gives numbers that are not finite"


def test_a_child_that_fails_says_why() -> None:
    assert child("sys.exit(3)").reason == "the process ended with code 3"
    assert child("1 / 0").reason == "the process ended with code 1: ZeroDivisionError: division by zero"


def test_a_command_that_is_not_there_means_fp32(tmp_path: Path) -> None:
    found = probe(b"", b"", PLANES, command=[str(tmp_path / "nothing")])
    assert not found.runs and found.reason == "the process did not start: No such file or directory"


def test_the_child_imports_neither_numba_nor_torch() -> None:
    code = "import sys, tengen.evaluators.probe\nprint(*{'numba', 'torch', 'onnxruntime'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.stdout == "onnxruntime\n", found.stderr


def test_busy_processes_beside_it_change_nothing() -> None:
    """Of a network that is hardly faster in int8, two to a core: by the clock the two would differ by chance."""
    game = games.find("tictactoe")
    planes = random_planes(game, MOST_POSITIONS)
    net = nets.make("anysize", game, {"channels": 8, "blocks": 2}).eval()
    seen = np.ascontiguousarray(planes[:, net.planes])
    fp32 = to_onnx(net, planes)
    int8 = to_int8(fp32, seen)
    alone = probe(fp32, int8, seen)
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        beside = probe(fp32, int8, seen)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert alone.runs and beside.runs and alone.precision == beside.precision
    assert alone.fp32_rate and alone.int8_rate and beside.fp32_rate and beside.int8_rate
    ratios = [found.int8_rate / found.fp32_rate for found in (alone, beside)]  # type: ignore[operator]
    assert ratios[1] == pytest.approx(ratios[0], rel=0.2)
