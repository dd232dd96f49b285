"""Batches for fine-tuning and distillation: utterances of like length; those of recordings are augmented on the fly."""

import numpy as np
import torch

from training.augment.spectral import Noises, augment_log_mel, stretch_time, warp_frequency
from training.corpora.corpus import Clip
from training.encoder.window_store import WindowStore
from training.features.batches import stack_padded, stack_weights
from training.features.log_mel import BINS
from training.features.windows import MAX_FRAMES, SILENCE, embedding_weights

BATCH_FRAMES = 9000


def draw_epoch(clips: list[Clip], windows: WindowStore, members: np.ndarray, seed: int, epoch: int) -> list[np.ndarray]:
    """The batches of an epoch: corpora repeated or thinned by their sampling weight, windows of like length together."""
    rng = np.random.default_rng([seed, epoch])
    mean_draws = np.array([clips[i].definition.sampling.finetune for i in windows.clips[members]])
    drawn = np.repeat(members, np.floor(mean_draws + rng.random(len(members))).astype(int))
    order = drawn[np.argsort(windows.lengths[drawn] * rng.uniform(0.97, 1.03, len(drawn)))]
    batch_of = np.cumsum(windows.lengths[order]) // BATCH_FRAMES
    batches = np.split(order, np.flatnonzero(np.diff(batch_of)) + 1)
    return [batches[i] for i in rng.permutation(len(batches))]


def stack_log_mel(windows: list[np.ndarray]) -> tuple[torch.Tensor, torch.Tensor]:
    """[T,80] each -> [B,longest T,80] filled with silence, lengths [B]"""
    return torch.from_numpy(stack_padded(windows, SILENCE)), torch.tensor(list(map(len, windows)))


class FinetuneDataset:
    def __init__(self, windows: WindowStore):
        self.windows, self.noises = windows, Noises()

    def draw(self, window: int, rng: np.random.Generator | None) -> tuple[np.ndarray, np.ndarray]:
        """Log-mel frames [T,80], speech [T]; as recorded without `rng`."""
        frames, speech = self.windows.log_mel(window), self.windows.speech_of(window)
        if rng is None or self.windows.copied[window]:
            return frames, speech
        if rng.random() < 0.4 and len(frames) > 20:
            both = stretch_time(np.concatenate([frames, speech[:, None]], 1), rng)
            frames, speech = both[:MAX_FRAMES, :BINS], both[:MAX_FRAMES, BINS]
        if rng.random() < 0.4:
            frames = warp_frequency(frames, rng)
        if rng.random() < 0.85:
            frames = augment_log_mel(frames, self.noises, rng)
        return frames, speech

    def batch(self, members: np.ndarray, rng: np.random.Generator | None) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """-> features [B,T,80] log10 of mel energies, lengths [B], weights [B,ceil(T/2)]"""
        frames, speech = zip(*(self.draw(i, rng) for i in members))
        return *stack_log_mel(frames), torch.from_numpy(stack_weights([embedding_weights(s) for s in speech]))
