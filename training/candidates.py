"""Accuracy against cost of the trunks that were tried (training/candidates.json), and how the shipped one was tuned.

weigh.py writes candidates.json, tune.py curves.json.
"""

from __future__ import annotations

import json

import pictures
from corpus import HERE
from tables import table

CANDIDATES, CURVES = HERE / "candidates.json", HERE / "curves.json"


def candidate_table(candidates: list[dict]) -> str:
    titles = list(dict.fromkeys(title for one in candidates for title in one["figures"]))
    rows = [[("**" + one["name"] + "**" if one.get("shipped") else one["name"]), one.get("trunk", ""), f"{one['msPer10s']:.1f}",
             f"{one['MB']:.1f}", *(shown(one["figures"].get(title)) for title in titles)]
            for one in sorted(candidates, key=lambda one: -one["msPer10s"])]  # fmt: skip
    return table(["candidate", "trunk", "ms of the trunk for 10 s", "MB", *titles], rows)


def shown(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def section() -> str:
    """What is there of table and pictures."""
    parts = []
    if CANDIDATES.exists():
        candidates = json.loads(CANDIDATES.read_text())
        pictures.draw_candidates(candidates)
        parts += [candidate_table(candidates), "![Accuracy against cost](pictures/candidates.svg)"]
    if CURVES.exists():
        pictures.draw_curves(json.loads(CURVES.read_text()))
        parts += ["Loss while the trunk was tuned, a mean of 25 steps:", "![Training curve](pictures/training-curves.svg)"]
    return "\n\n".join(parts)
