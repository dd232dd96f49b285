"""Jobs: recordings of hours, and lists of URLs, analysed in the background."""

from __future__ import annotations

import asyncio
import json
import math
import time
import urllib.parse
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, Union, cast

import httpx
from typing_extensions import TypedDict, Unpack

from .base import SpeakerMode
from .errors import JobFailedError, RateLimitedError
from .recording import AsyncBaseline, AsyncRecording, Baseline, Recording, read, read_all, read_all_async, read_async
from .reports import ChannelsReport, Job, JobBegun, JobPage, JobsBegun, JobSummary, Report, SpeakersReport

JobResult = Union[Report, ChannelsReport, SpeakersReport]
OnProgress = Callable[[Job], object]
Form = Callable[[bytes, Sequence[bytes], Mapping[str, object]], dict[str, Any]]

PATH = "v1/jobs"
FIRST_DELAY_S = 0.5
# An upload may take so long.
UPLOAD_TIMEOUT = httpx.Timeout(600.0, connect=60.0)


class UrlOptions(TypedDict, total=False):
    channel: int
    track: int
    channels: Literal["split"]
    #: Separates 2 to 6 voices on one channel, or as many as auto finds.
    speakers: SpeakerMode
    #: Adds a signed receipt to the report.
    receipt: bool
    #: URL that receives the finished job.
    callback: str
    #: Your own data, returned with the job and in the callback; at most 2048 bytes as JSON.
    metadata: Mapping[str, str]
    #: A repeat with the same key returns the existing job; a new key for each call by default.
    idempotency_key: str


class JobOptions(UrlOptions, total=False):
    #: Segments of speakers, or RTTM.
    segments: Sequence[Mapping[str, object]] | str


class Jobs:
    """Calls raise ApiError and its subclasses, or NoAnswerError."""

    def __init__(self, request: Callable[[str, str, Mapping[str, Any]], object], form: Form) -> None:
        self._request = request
        self._form = form

    def submit(
        self, audio: Recording, *, baseline: Baseline | None = None, **options: Unpack[JobOptions]
    ) -> JobBegun:
        content = _upload(self._form, read(audio), read_all(baseline), options)
        return cast(JobBegun, self._request("POST", PATH, content))

    def submit_urls(self, urls: Sequence[str], **options: Unpack[UrlOptions]) -> JobsBegun:
        """One job per URL, in the same order."""
        return cast(JobsBegun, self._request("POST", PATH, _list(urls, options)))

    def get(self, job_id: str, *, wait: float = 0) -> Job:
        """:param wait: the answer comes when the job has ended, after so many seconds at the latest; up to 60"""
        return cast(Job, self._request("GET", _path(job_id), _wait(wait)))

    def wait(
        self, job_id: str, *, on_progress: OnProgress | None = None, max_delay: float = 5.0
    ) -> JobResult:
        """
        Returns the report. After a 429 it waits for ``Retry-After`` and asks again.

        :param on_progress: called with each state of the job, ``progress`` included, when it has changed
        :param max_delay: longest time between two states, s; the end is reported at once
        :raises JobFailedError:
        """
        changed = _Changes(on_progress)
        delay = FIRST_DELAY_S
        while True:
            asked = time.monotonic()
            try:
                result = changed.see(self.get(job_id, wait=max_delay))
            except RateLimitedError as error:
                time.sleep(error.retry_after or 1.0)
                continue
            if result is not None:
                return result
            time.sleep(max(0.0, asked + delay - time.monotonic()))
            delay = min(2 * delay, max_delay)

    def list(self) -> Iterator[JobSummary]:
        """Every job, newest first, page by page."""
        path: str | None = f"/{PATH}"
        while path is not None:
            page = cast(JobPage, self._request("GET", path[1:], {}))
            yield from page["jobs"]
            path = page["next"]

    def cancel(self, job_id: str) -> None:
        """Cancels a job that has not ended, and deletes one that has."""
        self._request("DELETE", _path(job_id), {})


class AsyncJobs:
    """As Jobs, for asyncio."""

    def __init__(
        self, request: Callable[[str, str, Mapping[str, Any]], Awaitable[object]], form: Form
    ) -> None:
        self._request = request
        self._form = form

    async def submit(
        self, audio: AsyncRecording, *, baseline: AsyncBaseline | None = None, **options: Unpack[JobOptions]
    ) -> JobBegun:
        content = _upload(self._form, await read_async(audio), await read_all_async(baseline), options)
        return cast(JobBegun, await self._request("POST", PATH, content))

    async def submit_urls(self, urls: Sequence[str], **options: Unpack[UrlOptions]) -> JobsBegun:
        """As Jobs.submit_urls."""
        return cast(JobsBegun, await self._request("POST", PATH, _list(urls, options)))

    async def get(self, job_id: str, *, wait: float = 0) -> Job:
        """As Jobs.get."""
        return cast(Job, await self._request("GET", _path(job_id), _wait(wait)))

    async def wait(
        self, job_id: str, *, on_progress: OnProgress | None = None, max_delay: float = 5.0
    ) -> JobResult:
        """As Jobs.wait."""
        changed = _Changes(on_progress)
        delay = FIRST_DELAY_S
        while True:
            asked = time.monotonic()
            try:
                result = changed.see(await self.get(job_id, wait=max_delay))
            except RateLimitedError as error:
                await asyncio.sleep(error.retry_after or 1.0)
                continue
            if result is not None:
                return result
            await asyncio.sleep(max(0.0, asked + delay - time.monotonic()))
            delay = min(2 * delay, max_delay)

    async def list(self) -> AsyncIterator[JobSummary]:
        """As Jobs.list."""
        path: str | None = f"/{PATH}"
        while path is not None:
            page = cast(JobPage, await self._request("GET", path[1:], {}))
            for job in page["jobs"]:
                yield job
            path = page["next"]

    async def cancel(self, job_id: str) -> None:
        """As Jobs.cancel."""
        await self._request("DELETE", _path(job_id), {})


class _Changes:
    """The states of a job that is waited for."""

    def __init__(self, on_progress: OnProgress | None) -> None:
        self._on_progress = on_progress
        self._last: object = None

    def see(self, job: Job) -> JobResult | None:
        """Returns the report; None before the end."""
        state = (job["status"], job["progress"])
        if state != self._last and self._on_progress is not None:
            self._on_progress(job)
        self._last = state
        if job["status"] in ("failed", "cancelled"):
            raise JobFailedError(job)
        return job["result"]


def _upload(
    form: Form, audio: bytes, baselines: Sequence[bytes], options: Mapping[str, object]
) -> dict[str, Any]:
    fields = dict(options)
    key = fields.pop("idempotency_key", None)
    for name in ("segments", "metadata"):
        value = fields.get(name)
        if value is not None and not isinstance(value, str):
            fields[name] = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if fields.pop("receipt", False):
        fields["receipt"] = "true"
    return upload_of(form(audio, baselines, fields), key)


def upload_of(form: dict[str, Any], key: object = None) -> dict[str, Any]:
    return {**form, "headers": _key_header(key), "timeout": UPLOAD_TIMEOUT}


def _list(urls: Sequence[str], options: Mapping[str, object]) -> dict[str, Any]:
    fields = dict(options)
    key = fields.pop("idempotency_key", None)
    if "metadata" in fields:
        fields["metadata"] = dict(cast("Mapping[str, str]", fields["metadata"]))
    return {"json": {"urls": list(urls), **fields}, "headers": _key_header(key)}


def _wait(seconds: float) -> dict[str, Any]:
    if seconds <= 0:
        return {}
    return {"params": {"wait": math.ceil(seconds)}, "timeout": httpx.Timeout(seconds + 60.0, connect=60.0)}


def _key_header(key: object) -> dict[str, str]:
    """A request that is retried after a lost connection creates one job."""
    return {"Idempotency-Key": uuid.uuid4().hex if key is None else str(key)}


def _path(job_id: str) -> str:
    return f"{PATH}/{urllib.parse.quote(job_id, safe='')}"
