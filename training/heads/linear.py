"""Linear maps of standardised moments: multinomial logistic regression, and ridge regression."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional as F

DEVIATION_FLOOR = 1e-4
ROUNDS = 100  # of L-BFGS


@dataclass(frozen=True)
class Linear:
    weight: np.ndarray  # float32 [inputs, outputs]
    bias: np.ndarray  # float32 [outputs]

    def __call__(self, inputs: np.ndarray) -> np.ndarray:
        """[n, inputs] -> [n, outputs]"""
        return inputs @ self.weight + self.bias


def fit_logistic(inputs: np.ndarray, targets: np.ndarray, share: np.ndarray, decay: float) -> Linear:
    """Least mean cross-entropy plus `decay` times the sum of the squared weights.

    inputs [n,D], targets [n,C] distributions, share [n] that sums to 1
    """
    y, w = torch.from_numpy(targets), torch.from_numpy(share)
    return minimize(inputs, targets.shape[1], lambda logits: (w * F.cross_entropy(logits, y, reduction="none")).sum(), decay)


def fit_ridge(inputs: np.ndarray, targets: np.ndarray, share: np.ndarray, decay: float) -> Linear:
    """Least mean squared error plus `decay` times the sum of the squared weights.

    inputs [n,D], targets [n,C], share [n,C] whose columns sum to 1
    """
    y, w = torch.from_numpy(targets), torch.from_numpy(share)
    return minimize(inputs, targets.shape[1], lambda values: (w * (values - y) ** 2).sum(), decay)


def minimize(inputs: np.ndarray, outputs: int, loss: Callable[[torch.Tensor], torch.Tensor], decay: float) -> Linear:
    """By L-BFGS, on standardised inputs. `loss`: of the outputs [n, outputs]"""
    mean = inputs.mean(0)
    deviation = inputs.std(0) + DEVIATION_FLOOR
    x = torch.from_numpy((inputs - mean) / deviation)
    weight = torch.zeros(x.shape[1], outputs, requires_grad=True)
    bias = torch.zeros(outputs, requires_grad=True)
    optimizer = torch.optim.LBFGS([weight, bias], max_iter=ROUNDS, history_size=10, line_search_fn="strong_wolfe")

    def cost() -> torch.Tensor:
        optimizer.zero_grad()
        total = loss(x @ weight + bias) + decay * (weight**2).sum()
        total.backward()
        return total

    optimizer.step(cost)
    raw = weight.detach().numpy() / deviation[:, None]
    return Linear(raw, bias.detach().numpy() - mean @ raw)
