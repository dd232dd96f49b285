"""A recording from wherever it is: the path of a file, bytes, or a stream. Read whole: it may be sent again."""

from __future__ import annotations

import os
from collections.abc import AsyncIterable, Iterable
from pathlib import Path
from typing import IO, Union

Recording = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, IO[bytes], Iterable[bytes]]
AsyncRecording = Union[Recording, AsyncIterable[bytes]]
#: A list or a tuple has several recordings of the same speaker; other iterables are the chunks of one.
Baseline = Union[Recording, "list[Recording]", "tuple[Recording, ...]"]
AsyncBaseline = Union[AsyncRecording, "list[AsyncRecording]", "tuple[AsyncRecording, ...]"]


def read(recording: Recording, part: str = "audio") -> bytes:
    """
    :param part: of the form, for errors
    :raises TypeError: for neither a path nor bytes nor a stream of bytes
    :raises ValueError: for a stream at its end
    """
    if isinstance(recording, (str, os.PathLike)):
        return Path(recording).read_bytes()
    if isinstance(recording, (bytes, bytearray, memoryview)):
        return bytes(recording)
    if not isinstance(recording, Iterable):
        raise TypeError(f"{EXPECTED} `{part}`, got {'None' if recording is None else type(recording).__name__}")
    return _join(list(recording), part)


async def read_async(recording: AsyncRecording, part: str = "audio") -> bytes:
    """As read."""
    if isinstance(recording, AsyncIterable):
        return _join([chunk async for chunk in recording], part)
    return read(recording, part)


EXPECTED = "Expected the path of a file, bytes, or a stream of bytes for"


def _join(chunks: list[bytes], part: str) -> bytes:
    for chunk in chunks:
        if not isinstance(chunk, (bytes, bytearray, memoryview)):
            raise TypeError(f'{EXPECTED} `{part}`, got a stream of {type(chunk).__name__}: open files with mode "rb"')
    content = b"".join(chunks)
    if not content:
        raise ValueError(f"{EXPECTED} `{part}`, got a stream at its end: seek to its start, or read it again")
    return content


def read_all(baseline: Baseline | None) -> list[bytes]:
    if baseline is None:
        return []
    return [read(one, "baseline") for one in (baseline if isinstance(baseline, (list, tuple)) else (baseline,))]


async def read_all_async(baseline: AsyncBaseline | None) -> list[bytes]:
    if baseline is None:
        return []
    return [await read_async(one, "baseline") for one in (baseline if isinstance(baseline, (list, tuple)) else (baseline,))]
