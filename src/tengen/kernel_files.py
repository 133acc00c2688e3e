"""Numba's cache of compiled kernels, made safe: a damaged file is compiled anew, a disk that takes no more
costs a line on stderr, and nothing else.

    sha256 of the rest (32 bytes) │ pickled by Numba

Importing this module, before the first kernel, is enough. Numba alone unpickles whatever it finds, keeps
kernels beside their sources if it may not write where it was told to, and raises if it may write nowhere.
"""

import hashlib
import pickle
from pathlib import Path
from typing import Any

from numba.core import caching, dispatcher

from tengen import notices

DIGEST_BYTES = 32
TEXTS: dict[str, bytes] = {}  # sources that games.load_source loaded: a worker may not have the file


class _CheckedFiles(caching.IndexDataCacheFile):
    """The index of a function and its compiled versions, each with a digest. Damaged means missing."""

    def _load_index(self) -> dict[Any, str]:
        content = _read(self._index_path)
        if content is None:
            return {}
        version, stamp, overloads = pickle.loads(content)  # noqa: S301  (our own file, digest checked)
        if (version, stamp) != (self._version, self._source_stamp):
            return {}
        found: dict[Any, str] = pickle.loads(overloads)  # noqa: S301
        return found

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._write(self._index_path, (self._version, self._source_stamp, self._dump(overloads)))

    def _load_data(self, name: str) -> Any:
        content = _read(self._data_path(name))
        if content is None:
            raise FileNotFoundError(name)  # `load` takes this as not compiled yet
        return pickle.loads(content)  # noqa: S301

    def _save_data(self, name: str, data: Any) -> None:
        self._write(self._data_path(name), data)

    def _write(self, path: str, data: Any) -> None:
        content = self._dump(data)
        with self._open_for_write(path) as file:
            file.write(hashlib.sha256(content).digest() + content)


class _Locator(caching.UserProvidedCacheLocator):
    """The folder that kernel_cache.py chose. One that can only be read will do: writing is tried later."""

    def ensure_cache_path(self) -> None:
        pass

    @classmethod
    def from_function(cls, function: Any, path: str) -> Any:
        return cls(function, path) if path in TEXTS else super().from_function(function, path)

    def get_source_stamp(self) -> Any:
        """What Numba tells an edited source by: the content of a game's file as it was loaded."""
        if self._py_file in TEXTS:
            return hashlib.sha256(TEXTS[self._py_file]).hexdigest()
        return super().get_source_stamp()


class _Implementation(caching.CompileResultCacheImpl):
    _locator_classes = [_Locator]  # noqa: RUF012  (as Numba has it)


class KernelCache(caching.FunctionCache):
    """The kept kernels of one function."""

    _impl_class = _Implementation

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = _CheckedFiles(self._cache_path, self._impl.filename_base, stamp)

    def save_overload(self, signature: Any, data: Any) -> None:
        """Keeps a kernel if it can; if not, the kernel is there all the same, in memory."""
        try:
            Path(self._cache_path).mkdir(parents=True, exist_ok=True)
            super().save_overload(signature, data)
        except OSError as error:
            folder = Path(self._cache_path).parent.parent
            notices.say_once(
                f"compiled kernels cannot be kept in {folder} ({error.strerror}): they are compiled again "
                "each time; TENGEN_CACHE_DIR can name another folder"
            )


def _read(path: str) -> bytes | None:
    """What a file holds, without its digest; None if there is no such file, or it is damaged."""
    try:
        data = Path(path).read_bytes()
    except OSError:
        return None
    content = data[DIGEST_BYTES:]
    return content if hashlib.sha256(content).digest() == data[:DIGEST_BYTES] else None


dispatcher.FunctionCache = KernelCache  # type: ignore[attr-defined]  # what cache=True makes
