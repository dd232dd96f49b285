"""Windows of the clips as the service cuts them, and length-sorted batches of changed copies of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

import emotion
import features
import heads
from augment import Noises, augment, stretch, warp
from copies import available
from corpus import CACHE, MODELS, Clip, is_current, read_clips
from tokens import each_window
from trunk import BINS, WINDOW_SECONDS, Trunk
from windows import SILENCE, frames_of, token_weights

TUNE = CACHE / "tune"
TUNED, WINDOWS = TUNE / "tuned.pt", TUNE / "windows.npz"
UNSEEN_CORPUS = "EMOVO"
# How often a clip of a corpus is heard in an epoch, on average.
REPEATS = {"TESS": 0.25, "nEMO": 0.6, "TAVA": 4, "SAVEE": 1.5, "EmotionTTSKorean": 1.5}
FRAMES_IN_BATCH = 9000
COPY_SHARE = 0.5  # of the examples come from the changed copies, the others are changed in the mel domain
LONGEST = WINDOW_SECONDS * features.FRAMES_PER_SECOND


@dataclass(frozen=True)
class Windows:
    """One row a window, in the order of tokens.Tokens; speech is [frames of all windows]."""

    clips: np.ndarray
    starts: np.ndarray
    speech: np.ndarray
    offsets: np.ndarray
    speech_frames: np.ndarray

    def speech_of(self, index: int) -> np.ndarray:
        return self.speech[self.offsets[index] : self.offsets[index + 1]]

    @property
    def lengths(self) -> np.ndarray:
        return np.diff(self.offsets)


def find_windows(activity_path: str) -> None:
    owners, starts, parts, inside = [], [], [], []
    for window in each_window(activity_path):
        owners.append(window.clip)
        starts.append(window.start)
        parts.append(window.speech.astype(np.float16))
        inside.append(window.speech_frames)
    offsets = np.concatenate([[0], np.cumsum([len(p) for p in parts])])
    np.savez(
        WINDOWS,
        clips=owners, starts=starts, speech=np.concatenate(parts), offsets=offsets, speech_frames=inside,
    )  # fmt: skip


def load_windows() -> Windows:
    activity = MODELS / "activity" / "weights.onnx"
    if not is_current(WINDOWS, activity):
        TUNE.mkdir(parents=True, exist_ok=True)
        find_windows(str(activity))
    found = np.load(WINDOWS)
    return Windows(*(found[key] for key in ("clips", "starts", "speech", "offsets", "speech_frames")))


def tuned() -> Trunk:
    """The mean of the tuning runs (tune.py)."""
    body = Trunk()
    body.load_state_dict(tuned_state("trunk."))
    return body.eval()


def tuned_feeling() -> heads.Head:
    """The head of emotion that was tuned with it; it fits the distilled trunk as well, which tells the same tokens."""
    head = heads.plain(emotion.OUTPUTS)
    head.load_state_dict(tuned_state("feeling."))
    return head.eval()


def tuned_state(prefix: str) -> dict[str, torch.Tensor]:
    if not TUNED.exists():
        raise SystemExit(f"Expected `{TUNED}`, which `training/train trunk` makes")
    state = torch.load(TUNED, map_location="cpu")
    return {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}


def left_out(clip: Clip) -> bool:
    return clip.held_out or clip.corpus == UNSEEN_CORPUS


def split(clips: list[Clip], owners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """-> (indices of windows to train on, indices of windows left out)"""
    out = np.array([left_out(clips[i]) for i in owners])
    return np.flatnonzero(~out), np.flatnonzero(out)


def balanced_targets(clips: list[Clip]) -> emotion.Targets:
    """emotion.targets_of with the corpora weighing alike, since REPEATS balances them."""
    targets = emotion.targets_of(clips)
    labelled = targets.label >= 0
    rated = np.array([clip.corpus == "TAVA" for clip in clips])
    targets.class_weight[labelled] = 1
    targets.axes_weight[labelled & ~rated] = 0.3
    return targets


def draw_epoch(clips: list[Clip], windows: Windows, members: np.ndarray, seed: int, epoch: int) -> list[np.ndarray]:
    """The batches of an epoch: corpora repeated or thinned, windows of like length together."""
    rng = np.random.default_rng([seed, epoch])
    wanted = np.array([REPEATS.get(clips[i].corpus, 1.0) for i in windows.clips[members]])
    counts = np.floor(wanted + rng.random(len(members))).astype(int)
    drawn = np.repeat(members, counts)
    lengths = windows.lengths[drawn]
    order = drawn[np.argsort(lengths * rng.uniform(0.97, 1.03, len(drawn)))]
    batch_of = np.cumsum(windows.lengths[order]) // FRAMES_IN_BATCH
    batches = np.split(order, np.flatnonzero(np.diff(batch_of)) + 1)
    return [batches[i] for i in rng.permutation(len(batches))]


class Examples:
    """Makes batches: features [B,T,80] raw log10 mel, lengths [B], weights [B,ceil(T/2)]."""

    def __init__(self, windows: Windows):
        self.windows, self.source, self.noises = windows, features.load("corpora"), Noises()
        self.copies = available()

    def one(self, index: int, rng: np.random.Generator | None) -> tuple[np.ndarray, np.ndarray]:
        speech = self.windows.speech_of(index).astype(np.float32)
        start = self.windows.starts[index]
        rows = frames_of(self.source[self.windows.clips[index]], start, start + len(speech), SILENCE)
        if rng is None:
            return rows, speech
        if self.copies and rng.random() < COPY_SHARE:
            copy = self.copies[rng.integers(len(self.copies))]
            return copy.window(int(self.windows.clips[index]), start, start + len(speech), LONGEST)
        if rng.random() < 0.4 and len(rows) > 20:
            both = stretch(np.concatenate([rows, speech[:, None]], 1), rng)
            rows, speech = both[:LONGEST, :BINS], both[:LONGEST, BINS]
        if rng.random() < 0.4:
            rows = warp(rows, rng)
        if rng.random() < 0.85:
            rows = augment(rows, self.noises, rng)
        return rows, speech

    def batch(self, members: np.ndarray, rng: np.random.Generator | None):
        pairs = [self.one(i, rng) for i in members]
        longest = max(len(rows) for rows, _ in pairs)
        x = np.full((len(pairs), longest, BINS), SILENCE, np.float32)
        weights = np.zeros((len(pairs), (longest + 1) // 2), np.float32)
        for row, (rows, speech) in enumerate(pairs):
            x[row, : len(rows)] = rows
            w = token_weights(speech)
            weights[row, : len(w)] = w
        weights[weights.sum(1) == 0] = 1e-9
        lengths = torch.tensor([len(rows) for rows, _ in pairs])
        return torch.from_numpy(x), lengths, torch.from_numpy(weights)
