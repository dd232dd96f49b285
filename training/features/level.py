"""Level normalisation of log-mel features. training.export.graph writes the same into the exported graphs."""

import torch

OFFSET = 0.5  # mean log10 of the reference power over LibriSpeech (0.52, standard deviation 0.40)
FLOOR = 6.5  # log10 units below the reference


def normalize_level(features: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
    """[B,T,80] log10 of mel energies -> the same in Whisper's scale, at one loudness. `lengths` [B]: frames past it do not count.

    The reference is the mean power of the frames above a tenth of the mean (the relative gate of ITU-R BS.1770, one
    pass). Whisper's log_mel_spectrogram scales by (x + 4) / 4.
    """
    power = torch.pow(10.0, features).sum(2, keepdim=True)
    real = torch.ones_like(power)
    if lengths is not None:
        real = (torch.arange(power.shape[1])[None, :, None] < lengths[:, None, None]).float()
    power = power * real
    mean = power.sum(1, keepdim=True) / real.sum(1, keepdim=True)
    loud = ((power > 0.1 * mean) & (real > 0)).float()
    reference = (power * loud).sum(1, keepdim=True) / loud.sum(1, keepdim=True)
    relative = torch.clamp(features - torch.log10(reference), min=-FLOOR)
    return (relative + OFFSET + 4) / 4
