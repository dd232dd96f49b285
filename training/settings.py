"""Folders, sizes and constants that every step shares.

Read the folders as attributes (`settings.CACHE`) at the time of use: `use_small` replaces them.
"""

import os
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
REPOSITORY = PACKAGE.parent
RESULTS = PACKAGE / "results"  # measurements that the documents and model cards quote
PAGES = REPOSITORY / "docs"
RESULT_PAGES = PAGES / "results"  # tables that steps write; pages of `PAGES` explain them
SHIPPED_MODELS = REPOSITORY / "models" / "standard"
DATA = Path(os.environ.get("UNDERTONE_DATA", REPOSITORY / "data"))
CACHE = Path(os.environ.get("UNDERTONE_TRAINING_CACHE", PACKAGE / ".cache"))
MODELS = SHIPPED_MODELS
SEED = 7
THREADS = 2  # of PyTorch and ONNX Runtime; another number changes the order of sums and so the weights
SAMPLE_RATE = 16000  # Hz of all audio that training handles


@dataclass(frozen=True)
class Sizes:
    """Steps, epochs and pieces of each stage."""

    vad_steps: int = 8400
    music_pieces: int = 240
    speech_check_steps: int = 2000
    voice_steps: int = 6000


SIZES = Sizes()


def use_small() -> None:
    """The same steps over a few recordings. The models go into the cache."""
    global DATA, CACHE, MODELS, SIZES
    CACHE = CACHE / "small"
    DATA = CACHE / "data"
    MODELS = CACHE / "models" / "standard"
    SIZES = Sizes(vad_steps=30, music_pieces=12, speech_check_steps=50, voice_steps=10)


def sibling_models(name: str) -> Path:
    """Folder of another set, next to that of the standard one."""
    return MODELS.with_name(name)


def weights(kind: str, models: Path | None = None) -> Path:
    return (models or MODELS) / kind / "weights.onnx"


def results_folder() -> Path:
    """Folder of a training run's measurements: results/ for the shipped models, otherwise the cache."""
    return RESULTS if MODELS == SHIPPED_MODELS else CACHE
