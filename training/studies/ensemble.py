"""Ensembles of emotion heads and more weight on corpora of higher loss, compared on the dev part: a table in docs/models.md.

On the embeddings of models/fast: its trunk has weights of the train part alone. Differences come with a 95 % interval of a
paired bootstrap over speakers.
"""

import json

import numpy as np

from training import settings
from training.encoder import embeddings
from training.heads import emotion
from training.reporting.tables import replace_between, study_table
from training.studies.ordinary_speech import Study

PAGE = settings.REPOSITORY / "docs" / "models.md"
RESULT = settings.RESULTS / "ensemble.json"
FRAMES_PER_EMBEDDING = 4


def run() -> None:
    study = Study(embeddings.load(settings.weights("trunk", settings.fast_models()), FRAMES_PER_EMBEDDING, None))
    windows, names = study.training(True), np.array([clip.corpus for clip in study.clips])
    robust = emotion.group_robust(study.store, study.targets, windows, names)
    linear, network, linear_robust, network_robust = (
        fit for targets in (study.targets, robust)
        for fit in (study.fit(targets, windows), emotion.fit_networks(study.store, targets, windows, 1)[0])
    )  # fmt: skip
    found = study.compare({
        "linear and network": lambda: [linear, network],
        "both group-robust": lambda: [linear_robust, network_robust],
        "linear alone": lambda: [linear],
        "network alone": lambda: [network],
        "linear, group-robust": lambda: [linear_robust],
        "network, group-robust": lambda: [network_robust],
    })  # fmt: skip
    RESULT.write_text(json.dumps(found, indent=1) + "\n")
    replace_between(PAGE, "ensemble", study_table(found))
