"""Numba's cache of compiled kernels, made safe: the kernel of a damaged file is compiled again, a full disk
costs only a line on stderr, and several processes may compile at the same time, each kernel only once.

    FUNCTION-LINE.pyXY.KEY.nbc     sha256 of the rest (32 bytes) │ pickled by Numba

KEY is a hash of all that a kernel depends on: the types it is compiled for, the processor, the versions.
Numba itself numbers the files and keeps an index of them: if two processes give two kernels the same number,
one of them is loaded in place of the other.

Numba also numbers the functions that a process compiles, and a compiled loop calls another by its name and
this number. A process that loads two loops of one name, compiled by two processes under one number, would
run one in place of the other: Hex by the rules of Othello. So here the numbers are random.

It is enough to import this module before the first kernel. Without it, Numba unpickles any file it finds,
saves kernels beside their sources if it cannot write to the folder it was given, and raises an error if it
cannot write anywhere.
"""

import hashlib
import pickle
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from numba.core import bytecode, caching, dispatcher

from tengen import notices
from tengen.kernel_turns import TURNS

DIGEST_BYTES = 32
TEXTS: dict[str, bytes] = {}  # sources that games.load_source loaded: a worker may not have the file


class _Files(caching.IndexDataCacheFile):
    """The compiled versions of a function, each in its own file, with a digest. Damaged means missing."""

    def load(self, key: tuple[Any, ...]) -> Any:
        content = _read(self.path(key))
        return None if content is None else pickle.loads(content)  # noqa: S301  (our own file, digest checked)

    def save(self, key: tuple[Any, ...], data: Any) -> None:
        content = self._dump(data)
        with self._open_for_write(self.path(key)) as file:
            file.write(hashlib.sha256(content).digest() + content)

    def flush(self) -> None:
        """Deletes the cached versions: Numba calls this when a function must be compiled again."""
        for file in Path(self._cache_path).glob(self._index_name.removesuffix("nbi") + "*.nbc"):
            file.unlink(missing_ok=True)

    def path(self, key: tuple[Any, ...]) -> str:
        name = hashlib.sha256(repr((self._version, self._source_stamp, key)).encode()).hexdigest()[:16]
        return str(self._data_path(self._index_name.removesuffix("nbi") + f"{name}.nbc"))


class _Locator(caching.UserProvidedCacheLocator):
    """The folder that kernel_cache.py chose. It may be read-only: writing is tried later."""

    def ensure_cache_path(self) -> None:
        pass

    @classmethod
    def from_function(cls, function: Any, path: str) -> Any:
        return cls(function, path) if path in TEXTS else super().from_function(function, path)

    def get_source_stamp(self) -> Any:
        """How Numba recognises an edited source: the content of a game's file as it was loaded."""
        if self._py_file in TEXTS:
            return hashlib.sha256(TEXTS[self._py_file]).hexdigest()
        return super().get_source_stamp()


class _Implementation(caching.CompileResultCacheImpl):
    _locator_classes = [_Locator]  # noqa: RUF012  (as Numba has it)


class KernelCache(caching.FunctionCache):
    """The cached kernels of one function."""

    _impl_class = _Implementation

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file: _Files = _Files(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The kernel; None if it must be compiled, by this process alone."""
        found = super().load_overload(signature, target_context)
        if found is None:
            TURNS.begin(self._cache_file.path(self._index_key(signature, target_context.codegen())))
            found = super().load_overload(signature, target_context)
            if found is not None:
                TURNS.end()
        return found

    def save_overload(self, signature: Any, data: Any) -> None:
        """Saves a kernel if possible; if not, the kernel still works, in memory."""
        try:
            Path(self._cache_path).mkdir(parents=True, exist_ok=True)
            super().save_overload(signature, data)
        except OSError as error:
            folder = Path(self._cache_path).parent.parent
            notices.say_once(
                f"compiled kernels cannot be kept in {folder} ({error.strerror}): they are compiled again "
                "each time; TENGEN_CACHE_DIR can name another folder"
            )
        finally:
            TURNS.end()


def _random_numbers() -> Iterator[int]:
    while True:
        yield secrets.randbits(64)


def _read(path: str) -> bytes | None:
    """The content of a file without its digest; None if the file is missing or damaged."""
    try:
        data = Path(path).read_bytes()
    except OSError:
        return None
    content = data[DIGEST_BYTES:]
    return content if hashlib.sha256(content).digest() == data[:DIGEST_BYTES] else None


dispatcher.FunctionCache = KernelCache  # type: ignore[attr-defined]  # the class that cache=True uses
bytecode.FunctionIdentity._unique_ids = _random_numbers()  # type: ignore[assignment]  # in place of 1, 2, 3
