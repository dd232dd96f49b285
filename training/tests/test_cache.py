"""Cached results are keyed by content."""

import sys
import types
from pathlib import Path

import pytest

from training import cache, settings
from training.evaluation import invariances
from training.tests.test_corpora import make_clip


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "CACHE", tmp_path / "cache")


def module_of(path, text):
    path.write_text(text)
    return types.SimpleNamespace(__file__=str(path), __hash__=lambda self: id(self))


def test_the_same_inputs_are_built_once():
    calls = []
    for inputs in ({"a": 1}, {"a": 1}, {"a": 2}):
        cache.build("thing", inputs, lambda folder: calls.append(folder))
    assert len(calls) == 2 and calls[0] != calls[1]


def test_an_interrupted_build_is_taken_up_again():
    def fail(folder):
        (folder / "part").write_text("kept")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache.build("thing", {}, fail)
    with pytest.raises(SystemExit, match="training/train trunk"):
        cache.finished("thing", {}, "training/train trunk")
    folder = cache.build("thing", {}, lambda folder: None)
    assert (folder / "part").read_text() == "kept" and cache.finished("thing", {}, "") == folder


def test_the_hash_of_a_file_follows_its_content(tmp_path):
    path = tmp_path / "file"
    path.write_text("one")
    before = cache.file_hash(path)
    path.write_text("two, longer")
    assert cache.file_hash(path) != before


def test_comments_docstrings_and_imports_do_not_change_the_hash_of_code(tmp_path):
    plain = module_of(tmp_path / "a.py", "def f(x):\n    return x + 1\n")
    commented = module_of(tmp_path / "b.py", '"""Doc."""\n\nimport os\n\ndef f(x):\n    """Doc."""\n    return x + 1  # why\n')
    other = module_of(tmp_path / "c.py", "def f(x):\n    return x + 2\n")
    hashes = [cache.code_hash.__wrapped__(module) for module in (plain, commented, other)]
    assert hashes[0] == hashes[1] != hashes[2]


def test_the_hash_of_a_definition_follows_what_it_uses_of_its_module(tmp_path, monkeypatch):
    plain = "SCALE, SHIFT = 2, 3\n\ndef inner(x):\n    return SCALE * x\n\ndef outer(x):\n    return inner(x)\n\ndef other(x):\n    return x\n"
    hashes = []
    for text in (plain, plain.replace("return x\n", "return -x\n"), plain.replace("SCALE, SHIFT = 2", "SCALE, SHIFT = 4")):
        module = module_of(tmp_path / f"{len(hashes)}.py", text)
        monkeypatch.setitem(sys.modules, "joined", module)
        hashes.append(cache.code_hash.__wrapped__(types.SimpleNamespace(__qualname__="outer.<locals>.<lambda>", __module__="joined")))
    assert hashes[0] == hashes[1] != hashes[2]


def test_a_changed_copy_is_keyed_by_the_code_of_the_change(tmp_path, monkeypatch):
    codes = []
    monkeypatch.setattr(invariances, "altered_copy", lambda clip, name, code: codes.append(code) or Path(__file__))
    for change in (invariances.add_pauses, invariances.whisper, None, invariances.add_pauses):
        invariances.write_copy(make_clip("MFA"), "copy", change)
    assert codes[0] == codes[3] and len(set(codes)) == 3
