"""int8 or fp32 on this machine: int8 if it runs, agrees with fp32, and is not much slower.

On some machines int8 is slower than fp32, or wrong, or crashes on an instruction the processor does not have.
So a child process tries it, `python -m tengen.evaluators.probe FOLDER`, and reports its results as JSON:

    FOLDER   fp32.onnx, int8.onnx, planes.npy  ──►  {"kl": …, "same_move": …, …, "int8_rate": …}

If it crashes or its answer makes no sense, we play with fp32. It does not import Numba, and so starts in a
third of the time.

The answer must be the same on a busy machine: runs with the same seed must be equal. So the child counts
processor time, not wall time, alternates the two networks, and takes the fastest of many rounds. Speed can
only exclude int8 where it is much slower; where it is faster, a few rounds are enough. On a processor with
VNNI small networks are 1.1 times as fast in int8 and large ones 3 times, and four busy processes beside the
child change that by 3 %.
"""

import json
import math
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from tengen.evaluators.agreement import Agreement, Floats, agreement
from tengen.evaluators.session import new_session

COMMAND = (sys.executable, "-m", "tengen.evaluators.probe")
PATIENCE = 600.0  # seconds for the child: it needs two, and many times that on a busy machine
KILLED = {
    int(getattr(signal, name, 0)) for name in ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP")
}  # from outside
NUMBERS = ("kl", "same_move", "value_error", "fp32_rate", "int8_rate")  # its answer
MOST_POSITIONS = 256  # to compare: more takes too long with a large network on a busy machine
LEAST_SPEED = 0.75  # of fp32's: below this, int8 is not played
BATCH = 128
SECONDS, FEWEST_ROUNDS = 1.0, 10  # for the rates; of processor time
ROUNDS_IF_FASTER = 3  # if int8 is at least as fast as fp32 then, which is far above LEAST_SPEED
# Windows counts processor time in steps of 16 ms, longer than a round.
CLOCK = time.process_time if time.get_clock_info("process_time").resolution < 1e-4 else time.perf_counter


@dataclass(frozen=True)
class Probe:
    """The result of trying int8 on this machine. The numbers are None if it does not run."""

    runs: bool
    kl: float | None  # these three as in Agreement
    same_move: float | None
    value_error: float | None
    fp32_rate: float | None  # evaluations per second in one thread, in batches of 128
    int8_rate: float | None
    reason: str  # for the precision, in words
    is_conclusive: bool = True  # False: it may work another time, as after a timeout

    @property
    def precision(self) -> Literal["fp32", "int8"]:
        """The precision to play with."""
        return "int8" if self.is_close and self.is_fast else "fp32"

    @property
    def is_close(self) -> bool:
        if self.kl is None or self.same_move is None or self.value_error is None:
            return False
        return Agreement(self.kl, self.same_move, self.value_error).is_close

    @property
    def is_fast(self) -> bool:
        if self.fp32_rate is None or self.int8_rate is None:
            return False
        return self.int8_rate >= LEAST_SPEED * self.fp32_rate


def probe(
    fp32: bytes,
    int8: bytes,
    planes: Floats,
    timeout: float = PATIENCE,
    command: Sequence[str] = COMMAND,
) -> Probe:
    """The comparison of two exports, made in a child process on the first few hundred planes [B, C, H, W]."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "fp32.onnx").write_bytes(fp32)
        Path(folder, "int8.onnx").write_bytes(int8)
        np.save(Path(folder, "planes.npy"), planes[:MOST_POSITIONS])
        try:
            child = subprocess.run([*command, folder], capture_output=True, timeout=timeout)
        except subprocess.TimeoutExpired:
            return _failed(f"the process did not answer in {timeout:g} s", is_conclusive=False)
        except OSError as error:
            return _failed(f"the process did not start: {error.strerror}", is_conclusive=False)
    if child.returncode != 0:
        was_killed = -child.returncode in KILLED
        return _failed(_death(child.returncode, child.stderr), is_conclusive=not was_killed)
    try:
        answer = json.loads(child.stdout)
        numbers = {name: float(answer[name]) for name in NUMBERS}
        is_sense = numbers["fp32_rate"] > 0 and numbers["int8_rate"] > 0
    except (ValueError, TypeError, KeyError):
        is_sense = False
    if not is_sense:
        return _failed(f"the process answered {child.stdout[:40].decode(errors='replace')!r}")
    if not all(map(math.isfinite, numbers.values())):
        return _failed("int8 gives numbers that are not finite")
    kl, same_move, value_error, fp32_rate, int8_rate = (numbers[name] for name in NUMBERS)
    reason = _reason(kl, same_move, value_error, fp32_rate, int8_rate)
    return Probe(True, kl, same_move, value_error, fp32_rate, int8_rate, reason)


def _failed(reason: str, is_conclusive: bool = True) -> Probe:
    return Probe(False, None, None, None, None, None, reason, is_conclusive)


def _death(code: int, stderr: bytes) -> str:
    if code < 0:
        names = {each.value: each.name for each in signal.Signals}
        return f"the process died of {names.get(-code, f'signal {-code}')}"
    words = [line.strip() for line in stderr.decode(errors="replace").strip().splitlines()[-1:]]
    return ": ".join([f"the process ended with code {code}", *words])


def _reason(kl: float, same_move: float, value_error: float, fp32_rate: float, int8_rate: float) -> str:
    speed = f"int8 is {int8_rate / fp32_rate:.2f} × as fast as fp32"
    found = f"KL {kl:.2g}, value error {value_error:.2g}"
    is_close = Agreement(kl, same_move, value_error).is_close
    return f"{speed}: {found}" if is_close else f"{speed} and does not say what fp32 says: {found}"


# ---- in the child


def measure(folder: Path) -> dict[str, float]:
    """The child's answer."""
    fp32, int8 = ((folder / name).read_bytes() for name in ("fp32.onnx", "int8.onnx"))
    planes = np.load(folder / "planes.npy")
    fp32_rate, int8_rate = _rates(fp32, int8, planes)
    return asdict(agreement(fp32, int8, planes)) | {"fp32_rate": fp32_rate, "int8_rate": int8_rate}


def _rates(fp32: bytes, int8: bytes, planes: Floats) -> list[float]:
    """Evaluations per second of processor time, of both in turn; the fastest round counts."""
    batch = np.resize(planes, (BATCH, *planes.shape[1:]))  # repeats them if there are fewer
    sessions = [new_session(data, planes.shape[2:]) for data in (fp32, int8)]
    seconds: tuple[list[float], list[float]] = ([], [])
    for session in sessions:
        session.run(None, {"planes": batch})  # the first run sets up
    began = CLOCK()
    while len(seconds[0]) < FEWEST_ROUNDS or CLOCK() - began < SECONDS:
        for session, times in zip(sessions, seconds, strict=True):
            start = CLOCK()
            session.run(None, {"planes": batch})
            times.append(CLOCK() - start)
        if len(seconds[0]) >= ROUNDS_IF_FASTER and min(seconds[1]) <= min(seconds[0]):
            break
    return [round(BATCH / min(times), 1) for times in seconds]


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]))))
