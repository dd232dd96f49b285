"""eGeMAPSv02 functionals of openSMILE, and linear models on them: the hand-made features to compare with.

egemaps.py extracts what UNDERTONE_TRAINING_CACHE/egemaps.npz does not hold yet, and can be stopped at any time.
"""

from __future__ import annotations

import time

import numpy as np
import soundfile

from corpus import CACHE, DATA, LABELLED, Clip, read_clips

PATH = CACHE / "egemaps.npz"
TESS_SHARE = 4  # every fourth clip of TESS
SAVE_EVERY = 500


def wanted(clips: list[Clip]) -> list[Clip]:
    """Held-out clips first, so that an early stop costs training data alone."""
    spoken = [c for c in clips if c.corpus in LABELLED and (c.corpus != "TESS" or c.index % TESS_SHARE == 0)]
    order = np.random.default_rng(1).permutation(len(spoken))
    return sorted((spoken[i] for i in order), key=lambda clip: not clip.held_out)


def load() -> dict[str, np.ndarray]:
    """Path of a clip -> its 88 functionals."""
    if not PATH.exists():
        return {}
    with np.load(PATH) as found:
        return dict(zip(found["paths"].tolist(), found["values"]))


def save(values: dict[str, np.ndarray]) -> None:
    part = PATH.with_suffix(".part.npz")
    np.savez(part, paths=np.array(list(values)), values=np.stack(list(values.values())))
    part.replace(PATH)


def extract() -> dict[str, np.ndarray]:
    values = load()
    missing = [clip for clip in wanted(read_clips()) if clip.path not in values]
    if not missing:
        return values
    import opensmile

    smile = opensmile.Smile(opensmile.FeatureSet.eGeMAPSv02, opensmile.FeatureLevel.Functionals)
    began = time.time()
    for count, clip in enumerate(missing, 1):
        samples, rate = soundfile.read(DATA / clip.path, dtype="float32")
        values[clip.path] = smile.process_signal(samples, rate).to_numpy(np.float32)[0]
        if count % SAVE_EVERY == 0 or count == len(missing):
            save(values)
            left = (time.time() - began) / count * (len(missing) - count)
            print(f"eGeMAPS: {count} of {len(missing)} clips, {left:.0f} s left", flush=True)
    return values


if __name__ == "__main__":
    extract()
