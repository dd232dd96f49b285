"""Distils the trunk into a coarse, narrow one: half the tokens, a third of the inner width.

fast.py STEPS: goes on from the last checkpoint if there is one of this trunk. The student learns the trunk's own
tokens, from recordings changed in the mel domain to the tokens of the clean ones, and from changed copies to those
copies' tokens.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterator

import numpy as np
import torch
from torch import nn
from tqdm import tqdm

import tokens as token_store
import trunk
from augment import Noises, augment
from copies import available
from corpus import CACHE, SEED, THREADS, is_current, read_clips
from features import FRAMES_PER_SECOND
from features import load as load_features
from tune_data import TUNED, draw_epoch, load_windows, split, tuned
from windows import SILENCE, frames_of

INNER = 512
RATE = 8e-4
CLEAN_SHARE = 0.25
COPY_SHARE = 0.4
PATH, UNFINISHED = CACHE / "fast.pt", CACHE / "fast-unfinished.pt"
LONGEST = trunk.WINDOW_SECONDS * FRAMES_PER_SECOND


def distilled() -> trunk.Trunk:
    body = trunk.Trunk(inner=INNER, coarse=True)
    body.load_state_dict(torch.load(PATH))
    return body.eval()


def narrowed(body: trunk.Trunk) -> trunk.Trunk:
    """The trunk with every second frame left out and its strongest inner units."""
    small = trunk.Trunk(inner=INNER, coarse=True)
    state = {name: value for name, value in body.state_dict().items() if "ffn_in" not in name and "ffn_out" not in name}
    small.load_state_dict(state, strict=False)
    for mine, whole in zip(small.layers, body.layers):
        strength = whole.ffn_in.weight.norm(dim=1) * whole.ffn_out.weight.norm(dim=0)
        kept = strength.topk(INNER).indices
        mine.ffn_in.weight.data, mine.ffn_in.bias.data = whole.ffn_in.weight.data[kept], whole.ffn_in.bias.data[kept]
        mine.ffn_out.weight.data, mine.ffn_out.bias.data = whole.ffn_out.weight.data[:, kept], whole.ffn_out.bias.data
    return small


class Lessons:
    """Batches of features [B,T,80], lengths [B] and the trunk's tokens [B,N,384]."""

    def __init__(self):
        self.store, self.source, self.noises = token_store.load(), load_features("corpora"), Noises()
        copies = available()
        self.copy = copies[0] if copies and self.store.changed else None

    def one(self, index: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        clip, (start, end) = int(self.store.clips[index]), self.store.spans[index]
        if self.copy and rng.random() < COPY_SHARE:
            return self.copy.window(clip, start, end, LONGEST)[0], self.store.changed[index][0]
        rows = frames_of(self.source[clip], start, end, SILENCE)
        return (rows if rng.random() < CLEAN_SHARE else augment(rows, self.noises, rng)), self.store[index][0]

    def batch(self, members: np.ndarray, rng: np.random.Generator):
        pairs = [self.one(i, rng) for i in members]
        longest = max(len(rows) for rows, _ in pairs)
        x = np.full((len(pairs), longest, trunk.BINS), SILENCE, np.float32)
        wanted = np.zeros((len(pairs), (longest + 1) // 2, trunk.WIDTH), np.float32)
        for row, (rows, tokens) in enumerate(pairs):
            x[row, : len(rows)], wanted[row, : len(tokens)] = rows, tokens
        return torch.from_numpy(x), torch.tensor([len(rows) for rows, _ in pairs]), torch.from_numpy(wanted)


def loss_of(guess: torch.Tensor, wanted: torch.Tensor, lengths: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """Squared error of tokens, and of their mean and deviation over the window, in the trunk's own spreads."""
    real = (torch.arange(guess.shape[1])[None] < ((lengths + 1) // 2)[:, None]).float()[:, :, None]
    count = real.sum(1)
    apart = (((guess - wanted) / scale) ** 2 * real).sum() / (count.sum() * trunk.WIDTH)
    pooled = []
    for x in (guess / scale, wanted / scale):
        mean = (x * real).sum(1) / count
        pooled.append(torch.cat([mean, (((x - mean[:, None]) ** 2 * real).sum(1) / count + 1e-4).sqrt()], 1))
    return apart + 4 * ((pooled[0] - pooled[1]) ** 2).mean()


def batches_from(step: int, clips, windows, members: np.ndarray) -> Iterator[np.ndarray]:
    for epoch in itertools.count():
        batches = draw_epoch(clips, windows, members, SEED, epoch)
        yield from batches[step:]
        step = max(0, step - len(batches))


def main(steps: int) -> None:
    torch.set_num_threads(THREADS)
    clips, windows, lessons = read_clips(), load_windows(), Lessons()
    assert np.array_equal(windows.clips, lessons.store.clips), "tokens and windows are of different activity models"
    members, _ = split(clips, windows.clips)
    rows = lessons.store.rows[:: max(1, len(lessons.store.rows) // 50000)].astype(np.float32)
    scale = torch.from_numpy(rows.std(0) + 0.05)
    small, first = narrowed(tuned()), 0
    optimiser = torch.optim.AdamW(small.to(trunk.DEVICE).parameters(), RATE, weight_decay=0.01)
    if is_current(PATH, TUNED, CACHE / "corpora.tokens.npz"):
        small.load_state_dict(torch.load(PATH))
        kept = torch.load(UNFINISHED)
        first = kept["step"]
        optimiser.load_state_dict(kept["optimiser"])
    costs, batches = [], batches_from(first, clips, windows, members)
    bar = tqdm(range(first, steps), "steps of the distilled trunk", steps, initial=first, mininterval=20)
    for step, batch in zip(bar, batches):
        for group in optimiser.param_groups:
            group["lr"] = RATE * min(1, step / 60) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * step / steps)))
        x, lengths, wanted = lessons.batch(batch, np.random.default_rng([SEED, step]))
        guess = small(trunk.normalise(x, lengths).to(trunk.DEVICE), lengths.to(trunk.DEVICE)).cpu()
        cost = loss_of(guess, wanted, lengths, scale)
        optimiser.zero_grad()
        cost.backward()
        nn.utils.clip_grad_norm_(small.parameters(), 1.0)
        optimiser.step()
        costs.append(float(cost.detach()))
        if step % 50 == 49 or step == steps - 1:
            torch.save(small.state_dict(), PATH)
            torch.save({"step": step + 1, "optimiser": optimiser.state_dict()}, UNFINISHED)
            bar.set_postfix(loss=f"{np.mean(costs[-50:]):.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]))
