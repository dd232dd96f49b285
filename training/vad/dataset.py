"""Training data of the VAD model: recordings and generated sounds, plain and over telephone codecs, labelled by Silero VAD and drawn as mixtures."""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import silero_vad

from training import cache
from training.augment import audio, synthetic_music, synthetic_noise, telephone_codecs
from training.augment.audio import read_clip
from training.augment.mix import gated_power, mix_at_snr
from training.augment.spectral import random_curve
from training.corpora.corpus import Clip, Part
from training.corpora.recipe import SOLD
from training.corpora.registry import sold_clips
from training.features import log_mel
from training.features.log_mel import BINS, of_corpora
from training.features.spec import HOP_LENGTH
from training.features.windows import SILENCE
from training.session import Session

SILERO_STEP = 512  # samples
SILERO_CONTEXT = 64  # samples
ABOVE_FLOOR = 1.0  # log10 of power: some of BAVED's rooms hum
SYNTHETIC_SPEECH_WEIGHT = 3.0
MIN_FRAMES = 20
SPOKEN = 0.9  # speech probability of a frame at which an example may start
FITTED = (Part.TRAIN, Part.CALIBRATION)  # parts of the weights; the dev part sets the threshold of the speech check
TELEPHONE_SHARE = 0.25  # of the examples
TELEPHONE_BINS = 60  # mel bins up to 3.8 kHz
CURVE_POINTS = 6
AT_ONCE_SHARE = 0.2  # of the examples: they start within a word
JUMP_SHARE = 0.25  # of the clips
JUMP = (-2.0, 0.5)  # log10 of power: a quiet voice may follow a loud one


def silero_probabilities(model: Session, samples: np.ndarray) -> np.ndarray:
    """One per STEP."""
    padded = np.concatenate([np.zeros(SILERO_CONTEXT, np.float32), samples, np.zeros(SILERO_STEP, np.float32)])
    count = (len(padded) - SILERO_CONTEXT) // SILERO_STEP
    steps = np.lib.stride_tricks.sliding_window_view(padded, SILERO_CONTEXT + SILERO_STEP)[: count * SILERO_STEP : SILERO_STEP]
    state = np.zeros((1, 1, 128), np.float32)
    return model.run(input=steps, h=state, c=state)[model.outputs[0]]


def label_frames(model: Session, samples: np.ndarray, frames: int) -> np.ndarray:
    """[frames]: two passes half a step apart, interpolated at the centre of each frame."""
    early = silero_probabilities(model, samples)
    late = silero_probabilities(model, samples[SILERO_STEP // 2 :])
    centres = np.concatenate([np.arange(len(early)) * SILERO_STEP + SILERO_STEP // 2, (np.arange(len(late)) + 1) * SILERO_STEP])
    order = np.argsort(centres)
    return np.interp(np.arange(frames) * HOP_LENGTH, centres[order], np.concatenate([early, late])[order])


def label_corpora() -> np.ndarray:
    """float16 [frames of the corpora]"""
    clips = sold_clips()
    store = log_mel.of_corpora()
    weights = Path(silero_vad.__file__).parent / "data" / "silero_vad_16k_sequence.onnx"
    model = Session(weights)

    def label(index: int) -> np.ndarray:
        return label_frames(model, read_clip(clips[index]).astype(np.float32), len(store[index])).astype(np.float32)

    inputs = {"weights": cache.file_hash(weights), "code": cache.code_hash(label_corpora, audio)}
    return log_mel.map_frames(store, "silero", inputs, label)


def is_fitted(clip: Clip) -> bool:
    return clip.part in FITTED and clip.corpus in SOLD.corpora


def relative_level(log_mel: np.ndarray) -> np.ndarray:
    """[T,80] -> log10 of each frame's power over the mean power of the loud frames."""
    power = (10.0**log_mel).sum(1)
    return np.log10(power) - np.log10(gated_power(power))


def correct_labels(clip: Clip, log_mel: np.ndarray, silero_labels: np.ndarray) -> np.ndarray:
    """Speech target [T]: Silero's probability. In studio recordings loud frames are speech and silent ones are not."""
    if not clip.definition.is_speech:
        return np.zeros(len(log_mel), np.float32)
    target = silero_labels.astype(np.float32)
    level = relative_level(log_mel)
    if clip.definition.studio:
        loud = level > max(-1.5, np.quantile(level, 0.1) + ABOVE_FLOOR)
        target = np.maximum(target, 0.95 * loud)
        target = target * (level > -3.2)
    return (target * (level > -4.5)).astype(np.float32)


@dataclass(frozen=True)
class LabelledClip:
    corpus: str  # name of the corpus, or "sounds" or "music"
    log_mel: np.ndarray  # [T,80] log10 of mel energies
    target: np.ndarray  # [T] speech probability
    syllables: int | None


class WeightedClips:
    """Clips, drawn in proportion to their weights."""

    def __init__(self) -> None:
        self.clips: list[LabelledClip] = []
        self.weights: list[float] = []

    def add(self, clip: LabelledClip, weight: float) -> None:
        self.clips.append(clip)
        self.weights.append(weight)

    @cached_property
    def cumulative(self) -> np.ndarray:
        return np.cumsum(self.weights) / np.sum(self.weights)

    def draw(self, rng: np.random.Generator) -> LabelledClip:
        return self.clips[min(int(np.searchsorted(self.cumulative, rng.random())), len(self.clips) - 1)]


class LabelledPool:
    """Labelled clips, either plain or as telephone copies."""

    def __init__(self) -> None:
        self.speech = WeightedClips()
        self.other = WeightedClips()

    def add(self, clip: LabelledClip, speech: bool, weight: float) -> None:
        (self.speech if speech else self.other).add(clip, weight)


class VadDataset:
    """All clips that the weights are fitted on, or those of the test part, in memory."""

    def __init__(self, tested: bool):
        self.plain = LabelledPool()
        self.telephone = LabelledPool()
        self.copies = telephone_codecs.features_by_name()
        corpora = of_corpora()
        labels = label_corpora()
        for clip in sold_clips():
            log_mel = np.asarray(corpora[clip.index])
            if len(log_mel) >= MIN_FRAMES and (clip.tested if tested else is_fitted(clip)) and clip.corpus != "RIR":
                own = labels[corpora.offsets[clip.index] : corpora.offsets[clip.index + 1]]
                item = LabelledClip(clip.corpus, log_mel, correct_labels(clip, log_mel, own), clip.syllables)
                self.add(f"corpora-{clip.index}", item, clip.definition.is_speech, clip.definition.sampling.vad)
        for name, source in (("sounds", synthetic_noise), ("music", synthetic_music)):
            store = source.features()
            for index, path in enumerate(store.paths):
                if synthetic_noise.is_held_out(path) == tested:
                    speech = path.startswith("speech-")
                    log_mel = np.asarray(store[index])
                    target = (speech & (relative_level(log_mel) > -3)).astype(np.float32)
                    item = LabelledClip(name, log_mel, target, None)
                    self.add(f"{name}-{index}", item, speech, SYNTHETIC_SPEECH_WEIGHT if speech else 1)

    def add(self, name: str, item: LabelledClip, speech: bool, weight: float) -> None:
        self.plain.add(item, speech, weight)
        if name in self.copies:
            log_mel = self.copies[name][: len(item.log_mel)]
            self.telephone.add(replace(item, log_mel=log_mel, target=item.target[: len(log_mel)]), speech, weight)


@dataclass(frozen=True)
class Mixture:
    log_mel: np.ndarray  # float32 [T,80] log10 of mel energies
    target: np.ndarray  # [T] speech probability
    syllables: list[tuple[int, int, int]]  # (first frame, frame after the last, count) of whole clips with known text


def draw_noise(pool: LabelledPool, rng: np.random.Generator, frames: int) -> np.ndarray:
    """[frames,80]: sounds one after the other, through a random response."""
    sounds: list[np.ndarray] = []
    count = 0
    while count < frames:
        sounds.append(pool.other.draw(rng).log_mel)
        count += len(sounds[-1])
    joined = np.concatenate(sounds)
    start = rng.integers(0, count - frames + 1)
    return joined[start : start + frames] + curve(rng, 0.3)


def curve(rng: np.random.Generator, spread: float) -> np.ndarray:
    return random_curve(rng, spread, CURVE_POINTS).astype(np.float32)


def add_noise_to_log_mel(log_mel: np.ndarray, noise: np.ndarray, snr_db: float, speech_frames: np.ndarray | slice) -> np.ndarray:
    """Both [T,80] log10. The level of speech is the mean power of `speech_frames`; without any there is no scaling."""
    energies = 10.0**log_mel
    noise_energies = 10.0**noise
    noise_power = noise_energies.sum(1).mean()
    speech = energies[speech_frames]
    speech_power = speech.sum(1).mean() if len(speech) else noise_power
    return np.log10(mix_at_snr(energies, noise_energies, snr_db, speech_power, noise_power))


def write_speech(pool: LabelledPool, rng: np.random.Generator, log_mel: np.ndarray, target: np.ndarray) -> list[tuple[int, int, int]]:
    """Writes clips into `log_mel` and `target`, some with gaps -> Mixture.syllables"""
    syllables = []
    frames = len(log_mel)
    at_once = rng.random() < AT_ONCE_SHARE
    at = int(rng.integers(0, frames // 4)) if not at_once and rng.random() < 0.5 else 0
    while at < frames - 60:
        item = pool.speech.draw(rng)
        start = int(rng.integers(0, max(1, len(item.log_mel) - frames)))
        if at_once and at == 0 and (spoken := np.flatnonzero(item.target[:-MIN_FRAMES] > SPOKEN)).size:
            start = int(rng.choice(spoken))
        clip = item.log_mel[start : start + frames - at]
        jump = rng.uniform(*JUMP) if rng.random() < JUMP_SHARE else 0
        shift = rng.normal(0, 0.3) + jump + curve(rng, 0.25)
        end = at + len(clip)
        log_mel[at:end] = np.maximum(clip + shift, SILENCE)
        target[at:end] = item.target[start : start + len(clip)]
        if item.syllables is not None and len(clip) == len(item.log_mel):
            syllables.append((at, end, item.syllables))
        at = end + (int(rng.integers(0, 250)) if rng.random() < 0.5 else 0)
    return syllables


def draw_mixture(dataset: VadDataset, rng: np.random.Generator, frames: int) -> Mixture:
    log_mel = np.full((frames, BINS), SILENCE, np.float32)
    target = np.zeros(frames, np.float32)
    by_telephone = rng.random() < TELEPHONE_SHARE
    pool = dataset.telephone if by_telephone else dataset.plain
    spoken = rng.random() > 0.22
    syllables = write_speech(pool, rng, log_mel, target) if spoken else []
    if not spoken or rng.random() < 0.55:
        noise = draw_noise(pool, rng, frames)
        log_mel = add_noise_to_log_mel(log_mel, noise, rng.uniform(0, 35) if spoken else 0, target > 0.5)
    elif rng.random() < 0.7:
        hiss = rng.uniform(-9, -4) + 0.25 * rng.standard_normal((frames, BINS)) + curve(rng, 0.5)
        bins = TELEPHONE_BINS if by_telephone else BINS
        log_mel[:, :bins] = np.log10(10.0 ** log_mel[:, :bins] + 10.0 ** hiss[:, :bins])
    return Mixture(np.maximum(log_mel + rng.normal(0, 0.6), SILENCE).astype(np.float32), target, syllables)
