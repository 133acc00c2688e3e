"""The layers: a folder imports only folders listed before it; heavy libraries stay where they belong."""

import ast
import importlib
from pathlib import Path
from typing import Any

import pytest

import tengen
from tengen import kernel_cache

PACKAGE = Path(tengen.__file__).parent
LAYERS = (
    "games", "evaluators", "search", "tactics", "players", "workers", "arena",
    "nets", "training", "protocols", "web", "bench", "cli",
)  # fmt: skip
BOTTOM = {
    "command_line",
    "compiling",
    "errors",
    "files",
    "kernel_cache",
    "kernel_files",
    "kernel_turns",
    "notices",
    "sealed",
    "system_locks",
    "terminal",
}  # single files that everybody may import

HEAVY = {
    "torch": ("nets/", "training/gradients.py", "training/learner.py", "training/muon.py"),
    "ray": ("workers/ray.py",),
    "fastapi": ("web/",),
    "pydantic": ("web/",),
    "uvicorn": ("web/",),
    "websockets": ("web/", "bench/serve.py"),
    "typer": ("cli/",),
    "pyspiel": ("bench/peers/", "protocols/openspiel.py"),
    "open_spiel": ("bench/peers/", "protocols/openspiel.py"),
    "pettingzoo": ("protocols/pettingzoo.py",),
    "gymnasium": ("protocols/pettingzoo.py",),
    "jax": ("bench/peers/",),
}

SOURCES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))


def imports(source: str) -> list[str]:
    """Every module a file imports, wherever the import stands."""
    found = []
    for node in ast.walk(ast.parse((PACKAGE / source).read_text())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module, f"{source}: imports are written out in full"
            found.append(node.module)
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


@pytest.mark.parametrize("source", [source for source in SOURCES if "/" in source])
def test_a_folder_imports_only_folders_before_it(source: str) -> None:
    mine = LAYERS.index(source.split("/")[0])
    for module in imports(source):
        parts = module.split(".")
        if parts[0] != "tengen" or len(parts) == 1 or parts[1] in BOTTOM | {"__version__"}:
            continue
        assert parts[1] in LAYERS, f"{source} imports {module}, which is in no layer"
        assert LAYERS.index(parts[1]) <= mine, f"{source} imports {module}, a layer above it"


@pytest.mark.parametrize("library", HEAVY)
def test_heavy_libraries_stay_where_they_belong(library: str) -> None:
    for source in SOURCES:
        if any(module.split(".")[0] == library for module in imports(source)):
            assert source.startswith(HEAVY[library]), f"{source} imports {library}"


def test_kernels_read_only_what_the_cache_folder_is_named_after() -> None:
    """Every constant and function that a kernel reads is defined in a source that is part of the hash."""
    hashed = {path.relative_to(PACKAGE).as_posix() for path in kernel_cache.kernel_sources()}
    kernels = 0
    for source in sorted(hashed):
        name = "tengen." + source.removesuffix(".py").replace("/", ".")
        module = importlib.import_module(name.removesuffix(".__init__"))
        defined = defined_at_top(source)
        for kernel in compiled_functions(module):
            kernels += 1
            for word in kernel.py_func.__code__.co_names:
                if word in kernel.py_func.__globals__ and word not in defined:
                    origin = imported_from(source, word)
                    if not origin.startswith("tengen."):
                        continue  # numpy and numba have their own versions in the cache's key
                    path = origin.replace(".", "/").removeprefix("tengen/") + ".py"
                    assert path in hashed, f"{kernel.__name__} in {source} reads {word} from {path}"
    assert kernels > 30


def compiled_functions(module: Any) -> list[Any]:
    own = vars(module).values()
    return [f for f in own if hasattr(f, "py_func") and f.py_func.__module__ == module.__name__]


def defined_at_top(source: str) -> set[str]:
    found: set[str] = set()
    for node in ast.parse((PACKAGE / source).read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found |= {
                name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)
            }
    return found


def imported_from(source: str, word: str) -> str:
    for node in ast.walk(ast.parse((PACKAGE / source).read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if (alias.asname or alias.name) == word:
                    return node.module
    return ""
