"""Intermediate results, keyed by their inputs: bytes of files, sizes, and the code that computes them.

A change of an input gives another folder. Old folders can be deleted at any time.
"""

import ast
import functools
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from training import settings

DONE = "inputs.json"


def digest(value: object) -> str:
    """SHA-256 of the canonical JSON."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def file_hash(path: Path) -> str:
    """SHA-256 of the content; read once per process and version of the file."""
    stat = path.stat()
    return hash_content(path, stat.st_mtime_ns, stat.st_size)


@functools.cache
def hash_content(path: Path, _modified: int, _size: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@functools.cache
def code_hash(*modules: ModuleType) -> str:
    """SHA-256 of the syntax trees: comments, docstrings, imports and formatting do not count."""
    trees = [ast.parse(Path(module.__file__).read_text()) for module in modules]
    for tree in trees:
        tree.body = [node for node in tree.body if not isinstance(node, (ast.Import, ast.ImportFrom))]
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node, clean=False) is not None:
                node.body = node.body[1:] or [ast.Pass()]
    return digest([ast.dump(tree) for tree in trees])


def folder(name: str, inputs: dict) -> Path:
    """CACHE/NAME-KEY. Dependent results use its name as an input."""
    return settings.CACHE / f"{name}-{digest(inputs)[:16]}"


def build(name: str, inputs: dict, make: Callable[[Path], object]) -> Path:
    """Returns the folder of these inputs, and calls `make(folder)` first unless that finished before.

    `make` may find files of an interrupted call.
    """
    path = folder(name, inputs)
    if not (path / DONE).exists():
        path.mkdir(parents=True, exist_ok=True)
        make(path)
        (path / DONE).write_text(json.dumps(inputs, indent=1) + "\n")
    return path


def finished(name: str, inputs: dict, command: str) -> Path:
    """Like `build` for results that only their own command computes."""
    path = folder(name, inputs)
    if not (path / DONE).exists():
        raise SystemExit(f"`{path}` is missing for the current recordings, models and code: run `{command}`")
    return path
