"""Intermediate results, keyed by their inputs: bytes of files, sizes, and the code that computes them.

A change of an input gives another folder. Old folders can be deleted at any time.
"""

import ast
import functools
import hashlib
import json
import sys
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
def code_hash(*parts: ModuleType | type | Callable) -> str:
    """SHA-256 of the syntax trees of modules, and of single definitions with what they use of their own module.

    Comments, docstrings, imports and formatting do not count.
    """
    trees = [ast.Module(statements_of(part), []) for part in parts]
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node, clean=False) is not None:
                node.body = node.body[1:] or [ast.Pass()]
    return digest([ast.dump(tree) for tree in trees])


def statements_of(part: ModuleType | type | Callable) -> list[ast.stmt]:
    """The top-level statements of a module, or those of them that a definition reaches by name. A nested one counts as the one around it."""
    if hasattr(part, "__file__"):
        return parse(part)
    statements = parse(sys.modules[part.__module__])
    reached = {part.__qualname__.partition(".")[0]}
    used: list[ast.stmt] = []
    while found := [one for one in statements if one not in used and bound_by(one) & reached]:
        used += found
        reached |= {node.id for one in found for node in ast.walk(one) if isinstance(node, ast.Name)}
    return [one for one in statements if one in used]


def parse(module: ModuleType) -> list[ast.stmt]:
    body = ast.parse(Path(module.__file__).read_text()).body
    return [node for node in body if not isinstance(node, (ast.Import, ast.ImportFrom))]


def bound_by(statement: ast.stmt) -> set[str]:
    """Names that a top-level statement defines."""
    if isinstance(statement, (ast.ClassDef, ast.FunctionDef)):
        return {statement.name}
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def replace(path: Path, save: Callable[[Path], object]) -> None:
    """Calls `save` with a path next to `path` and moves that file to `path`: an interruption leaves no partial file."""
    partial = path.with_suffix(".partial")
    save(partial)
    partial.replace(path)


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
