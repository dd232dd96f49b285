"""Descriptions of the models of each set."""

from pathlib import Path

from training import settings
from training.encoder import spec as encoder_spec
from training.export.model_spec import ModelSpec
from training.heads import spec as head_spec
from training.vad import spec as vad_spec

SPECS: dict[str, dict[str, ModelSpec]] = {
    name: {spec.name: spec for spec in specs}
    for name, specs in {
        "standard": (encoder_spec.STANDARD, vad_spec.SPEC, head_spec.EMOTION, head_spec.CLARITY),
        "fast": (encoder_spec.FAST, vad_spec.SPEC, head_spec.EMOTION, head_spec.CLARITY),
        "large": (encoder_spec.LARGE, vad_spec.SPEC, head_spec.EMOTION, head_spec.CLARITY),
        "open": (encoder_spec.OPEN, vad_spec.OPEN, head_spec.OPEN_EMOTION, head_spec.OPEN_CLARITY),
    }.items()
}


def specs_of(models: Path) -> dict[str, ModelSpec]:
    """By the name of the folder; other folders are of the recipe that is trained."""
    return SPECS[models.resolve().name if models.resolve().name in SPECS else settings.RECIPE]
