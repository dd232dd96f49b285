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


def read(recording: Recording) -> bytes:
    if isinstance(recording, (str, os.PathLike)):
        return Path(recording).read_bytes()
    if isinstance(recording, (bytes, bytearray, memoryview)):
        return bytes(recording)
    return b"".join(recording)


async def read_async(recording: AsyncRecording) -> bytes:
    if isinstance(recording, AsyncIterable):
        return b"".join([chunk async for chunk in recording])
    return read(recording)


def read_all(baseline: Baseline | None) -> list[bytes]:
    if baseline is None:
        return []
    return [read(one) for one in (baseline if isinstance(baseline, (list, tuple)) else (baseline,))]


async def read_all_async(baseline: AsyncBaseline | None) -> list[bytes]:
    if baseline is None:
        return []
    return [await read_async(one) for one in (baseline if isinstance(baseline, (list, tuple)) else (baseline,))]
