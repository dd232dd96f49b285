"""Reports as a pandas data frame; pandas is the extra ``undertone-client[pandas]``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import TYPE_CHECKING, Any, Literal, get_args

from . import reports

if TYPE_CHECKING:
    import pandas

PARTS = ("channel", "speaker")
QUALITY = ("duration_s", "speech_s", "gaps_s", "snr_db")


def to_frame(
    reports: Iterable[Mapping[str, Any]] | Mapping[str, Any],
    *,
    by: Literal["recording", "utterance"] = "recording",
    keys: Iterable[object] | None = None,
) -> pandas.DataFrame:
    """
    One row per recording or per utterance (entry of the timeline of emotion), from reports of any method or job.

    A report of several channels or speakers has a row for each, with ``channel`` or ``speaker``. Columns have the names and the
    order of ``undertone analyze --output csv``, with ``--wide`` or ``--by utterance`` (``/docs/columns.md``): the signals, the bounds
    of their 80 % intervals (``valence_low``, ``valence_high``), the probabilities (``p_angry``), the measures (``pause_ratio``), and
    the state of the recording. ``request_id`` precedes them. A signal that a report lacks is NaN.

    :param keys: names of the rows, such as the paths of the recordings, one per report; they become the index
    """
    import pandas

    listed = [reports] if isinstance(reports, Mapping) else list(reports)
    names = list(range(len(listed))) if keys is None else list(keys)
    if len(names) != len(listed):
        raise ValueError(f"Expected {len(listed)} keys, one per report, got {len(names)}")
    rows_of = _recording if by == "recording" else _utterances
    rows = [
        (name, row)
        for name, report in zip(names, listed)
        for part in _parts(report)
        for row in rows_of(part)
    ]
    index = pandas.Index([name for name, _ in rows], name="recording")
    return pandas.DataFrame([row for _, row in rows], index=index)


def _parts(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The reports of channels or speakers, or the report itself, with the request id."""
    shared = {"request_id": report.get("request_id")}
    if "channels" in report:
        return [{**part, **shared, "channel": at} for at, part in enumerate(report["channels"])]
    if "speakers" in report:
        return [{**part, **shared} for part in report["speakers"]]
    return [dict(report)]


def _signals(part: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """The reports of the signals in a report of all or of one, which is that of the signal whose fields it has."""
    names = get_args(reports.Signal)
    found = [(name, part[name]) for name in names if name in part]
    return found or [(max(names, key=lambda name: len(part.keys() & _fields(name))), part)]


def _fields(name: str) -> Set[str]:
    annotations: Mapping[str, Any] = getattr(reports, f"{name.capitalize()}ReportOk").__annotations__
    return annotations.keys()


def _recording(part: Mapping[str, Any]) -> list[dict[str, Any]]:
    audio = part.get("audio", {})
    reports = _signals(part)
    row = {
        **_shared(part),
        "status": _status([report["status"] for _, report in reports]),
        **{name: audio[name] for name in QUALITY if audio.get(name) is not None},
    }
    warnings: list[str] = []
    for name, report in reports:
        warnings += [warning for warning in report.get("warnings", []) if warning not in warnings]
        row.update(_values(name, report["signals"]))
        row.update({measure: value["value"] for measure, value in report.get("measures", {}).items()})
    for name, report in reports:
        row.update(_comparisons(report))
    row["warnings"] = " ".join(warnings)
    row.update({f"{name}_warnings": " ".join(report.get("warnings", [])) for name, report in reports})
    return [row]


def _status(statuses: list[str]) -> str:
    """That of the signals that the models have."""
    return next((status for status in statuses if status != "not_available"), statuses[0])


def _comparisons(report: Mapping[str, Any]) -> dict[str, Any]:
    """The number of moments, the most unusual one, and the change from a baseline."""
    if "moments" not in report or report["status"] != "ok":
        return {}
    moments = report["moments"]
    first = moments[0] if moments else {}
    return {
        "moments": None if moments is None else len(moments),
        "moment_start_s": first.get("start_s"),
        "moment_emotion": first.get("emotion"),
        "moment_spreads": first["differences"][0]["spreads"] if first else None,
        **_changes(report["relative"]),
    }


def _changes(relative: Mapping[str, Any] | None) -> dict[str, Any]:
    """How the voice differs from what is usual for the speaker."""
    values: dict[str, Any] = {}
    found = relative or {}
    for name in ("valence", "arousal"):
        change = found.get(name, {})
        values[f"{name}_change"] = change.get("change")
        values[f"{name}_change_low"], values[f"{name}_change_high"] = change.get("interval", (None, None))
        values[f"{name}_change_spreads"] = change.get("spreads")
    values["relative_emotion"], values["relative_probability"] = found.get("emotion"), found.get("probability")
    return values


def _utterances(part: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows = []
    for name, report in _signals(part):
        spreads = {moment["start_s"]: moment["differences"][0]["spreads"] for moment in report.get("moments") or []}
        for at, entry in enumerate(report.get("timeline", [])):
            row = {**_shared(part), "utterance": at, **_values(name, entry)}
            rows.append({**row, "moment_spreads": spreads.get(entry["start_s"]), **_changes(entry["relative"])})
    return rows


def _shared(part: Mapping[str, Any]) -> dict[str, Any]:
    return {name: part[name] for name in ("request_id", *PARTS) if part.get(name) is not None}


def _values(name: str, signals: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    intervals = signals.get("intervals", {})
    for key, value in signals.items():
        if key in ("intervals", "emotions", "confidence", "relative"):
            continue
        values[key] = value
        if key in intervals:
            values[f"{key}_low"], values[f"{key}_high"] = intervals[key] or (None, None)
    if "confidence" in signals:
        values[f"{name}_confidence"] = signals["confidence"]
    values.update({f"p_{label}": share for label, share in signals.get("emotions", {}).items()})
    return values
