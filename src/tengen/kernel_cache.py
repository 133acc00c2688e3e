"""Where compiled kernels are kept: one folder per state of the sources that hold them.

Numba notices an edit of the file that holds a function, not of the files that function calls into:
after such an edit it silently runs the old rules. So the folder's name is a hash of every source
that holds kernels; another state of the sources has another folder, and old folders are deleted.

A loop over the rules of any game is a closure. Numba distinguishes closures by the values they capture,
pickled. Compiled rules pickle differently in every process, so Numba would never find such a loop again. We
cache these loops under the names of their rules instead.
"""

import hashlib
import os
import shutil
import sys
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parent
DECORATORS = (b"njit", b"@kernel", b"@inlined", b".compiled")  # search/tree.py, games/batch.py
FORMAT = b"KernelCache"  # kernel_files.py, which says what a compiled kernel's file holds
VARIABLE = "NUMBA_CACHE_DIR"  # in the environment, where Numba reads it
FOLDERS_KEPT = 4  # several checkouts may share the per-user folder; each needs its own


def kernel_sources(package: Path = PACKAGE) -> list[Path]:
    """The sources that decide what a kernel's file holds: they contain one of the DECORATORS or FORMAT."""
    sources = sorted(package.rglob("*.py"))
    words = (*DECORATORS, FORMAT)
    return [path for path in sources if any(word in path.read_bytes() for word in words)]


def sources_hash(package: Path = PACKAGE) -> str:
    """A short hash of the current state of these sources."""
    digest = hashlib.sha256()
    for path in kernel_sources(package):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0")
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def use() -> Path:
    """The folder for this state of the sources; tells Numba about it before anything is compiled.

    If it cannot be written, kernel_files.py says so when the first kernel is saved."""
    parent = parent_folder()
    folder = parent / f"kernels-{sources_hash()}"
    with suppress(OSError):
        is_new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        if is_new:
            prune(parent, keep=FOLDERS_KEPT)
    os.environ[VARIABLE] = str(folder)
    if "numba" in sys.modules:  # it has read its environment already
        sys.modules["numba"].config.CACHE_DIR = str(folder)
    return folder


def keep(loop: Any, rules: tuple[Any, ...]) -> None:
    """Makes Numba cache a compiled closure that depends on these compiled rules and nothing else.

    Not for rules from outside this package: an edit of a file they call into would not be noticed."""
    from tengen.kernel_files import KernelCache

    functions = [rule.py_func for rule in rules if rule is not None]
    names = [f"{function.__module__}.{function.__qualname__}" for function in functions]
    if not all(name.startswith("tengen.") and "<locals>" not in name for name in names):
        return

    class Kept(KernelCache):
        def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
            return sig, codegen.magic_tuple(), tuple(names)

    loop._cache = Kept(loop.py_func)


def prune(parent: Path, keep: int) -> None:
    """Removes all but the most recently used kernel folders."""
    folders = sorted(parent.glob("kernels-*"), key=_last_used, reverse=True)
    for folder in folders[keep:]:
        shutil.rmtree(folder, ignore_errors=True)  # another process may be pruning too


def _last_used(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except FileNotFoundError:  # pruned by another process a moment ago
        return 0.0


@lru_cache(maxsize=1)
def parent_folder() -> Path:
    """$TENGEN_CACHE_DIR, or the package's own folder, or the user's cache when that is read-only.

    If none can be written: one that already has kernels, or else the first, which may not exist."""
    chosen = os.environ.get("TENGEN_CACHE_DIR")
    if chosen:
        return Path(chosen).absolute()
    beside = PACKAGE / "__pycache__"
    if _is_writable(beside):
        return beside
    import platformdirs  # only here: most installations never need it

    users = Path(platformdirs.user_cache_dir("tengen"))
    if not users.is_absolute():  # there is no home folder
        return beside
    if _is_writable(users):
        return users
    return next((folder for folder in (beside, users) if _holds_kernels(folder)), beside)


def _is_writable(folder: Path) -> bool:
    """Can we write here? Tries it: permissions do not show read-only or full disks."""
    trial = folder / f".trial-{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        trial.write_bytes(b"1")
        trial.unlink()
    except OSError:
        return False
    return True


def _holds_kernels(folder: Path) -> bool:
    try:
        return any(folder.glob("kernels-*"))
    except OSError:
        return False
