"""eGeMAPSv02 functionals of openSMILE for the recordings that the baseline needs."""

import time

import numpy as np
import opensmile

from training import cache, settings
from training.augment.audio import read_audio
from training.corpora.corpus import Clip
from training.corpora.index import read_clips
from training.corpora.recipe import RECIPE
from training.settings import SAMPLE_RATE

SAVE_EVERY = 500


def wanted(clips: list[Clip]) -> list[Clip]:
    """Held-out clips first, so that an interrupted run lacks training data alone."""
    chosen = [clip for clip in clips if clip.corpus in RECIPE.labelled and clip.index % clip.definition.sampling.baseline_every == 0]
    order = np.random.default_rng(1).permutation(len(chosen))
    return sorted((chosen[i] for i in order), key=lambda clip: not clip.held_out)


def extract() -> dict[str, np.ndarray]:
    """Path of a clip -> 88 functionals. The cache is keyed by the content of each recording; a stopped call continues."""
    path = settings.CACHE / "egemaps.npz"
    values: dict[str, np.ndarray] = {}
    if path.exists():
        with np.load(path) as found:
            values = dict(zip(found["keys"].tolist(), found["values"]))
    keys = {clip.path: cache.file_hash(settings.DATA / clip.path) for clip in wanted(read_clips())}
    missing = [name for name, key in keys.items() if key not in values]
    smile = opensmile.Smile(opensmile.FeatureSet.eGeMAPSv02, opensmile.FeatureLevel.Functionals)
    started = time.time()
    for count, name in enumerate(missing, 1):
        samples = read_audio(settings.DATA / name).astype(np.float32)
        values[keys[name]] = smile.process_signal(samples, SAMPLE_RATE).to_numpy(np.float32)[0]
        if count % SAVE_EVERY == 0 or count == len(missing):
            part = path.with_suffix(".part.npz")
            np.savez(part, keys=np.array(list(values)), values=np.stack(list(values.values())))
            part.replace(path)
            left = (time.time() - started) / count * (len(missing) - count)
            print(f"eGeMAPS: {count} of {len(missing)} clips, {left:.0f} s left", flush=True)
    return {name: values[key] for name, key in keys.items()}
