"""Arrays of different lengths as one padded batch."""

import numpy as np


def stack_padded(arrays: list[np.ndarray], padding: float) -> np.ndarray:
    """[N,...] each -> float32 [B,longest N,...]"""
    result = np.full((len(arrays), max(map(len, arrays)), *arrays[0].shape[1:]), padding, np.float32)
    for row, array in zip(result, arrays):
        row[: len(array)] = array
    return result


def stack_weights(weights: list[np.ndarray]) -> np.ndarray:
    """[N] each -> [B,longest N]; without speech all embeddings count alike"""
    result = stack_padded(weights, 0)
    result[result.sum(1) == 0] = 1e-9
    return result
