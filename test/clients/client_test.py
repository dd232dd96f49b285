"""Both Python clients against the service at UNDERTONE_URL and scripted servers (SERVERS: JSON of their addresses)."""

import asyncio
import contextlib
import io
import json
import os
import unittest
import unittest.mock

import httpx
import undertone_client as undertone
from undertone_client import errors, retry

URL, TOKEN, SAMPLE = os.environ["UNDERTONE_URL"], os.environ["UNDERTONE_TOKEN"], os.environ["SAMPLE"]
SERVERS = json.loads(os.environ["SERVERS"])
BYTES = open(SAMPLE, "rb").read()


@contextlib.contextmanager
def waits():
    """The waits that the clients ask for, in seconds; none of them takes any time."""
    asked = []
    pause = asyncio.sleep

    async def note(seconds):
        if seconds > 0:  # 0 lets other tasks run
            asked.append(seconds)
        await pause(0)

    with unittest.mock.patch("time.sleep", asked.append), unittest.mock.patch("asyncio.sleep", note):
        yield asked


class Methods:
    """The methods of an async object, as functions that wait."""

    def __init__(self, of, loop):
        self._of, self._loop = of, loop

    def __getattr__(self, name):
        method = getattr(self._of, name)
        return lambda *given, **named: self._loop.run_until_complete(method(*given, **named))


class Both(Methods):
    """The async client behind the methods of the sync one."""

    def __init__(self, *given, **named):
        super().__init__(undertone.AsyncClient(*given, **named), asyncio.new_event_loop())
        self.jobs = Methods(self._of.jobs, self._loop)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
        self._loop.close()


async def chunks(content=BYTES):
    for start in range(0, len(content), 65536):
        yield content[start : start + 65536]


def scores(report):
    return {**report, "request_id": ""}


class Case:
    def test_every_kind_of_recording_gives_the_same_report(self):
        with self.make(URL, TOKEN) as client:
            want = scores(client.emotion(SAMPLE))
            streams = [BYTES, bytearray(BYTES), io.BytesIO(BYTES), iter([BYTES[:9], BYTES[9:]]), *self.more()]
            for recording in streams:
                self.assertEqual(scores(client.emotion(recording)), want)
            self.assertEqual(client.analyze(SAMPLE)["emotion"]["signals"], want["signals"])

    def test_what_is_no_recording_is_refused_before_it_is_sent(self):
        end = io.BytesIO(BYTES)
        end.read()
        with self.make("http://127.0.0.1:1", TOKEN) as client:
            for value, error, message in [
                (None, TypeError, "`audio`, got None"),
                (7, TypeError, "`audio`, got int"),
                (end, ValueError, "`audio`, got a stream at its end"),
                (iter([]), ValueError, "`audio`, got a stream at its end"),
                (["sound"], TypeError, "`audio`, got a stream of str"),
                *self.wrong(),
            ]:
                for call in (client.analyze, client.emotion, client.embed, client.jobs.submit):
                    with self.assertRaisesRegex(error, message):
                        call(value)
            with self.assertRaisesRegex(TypeError, "`baseline`, got None"):
                client.analyze(SAMPLE, baseline=[None])

    def test_baseline_and_channel_are_sent_and_refusals_carry_what_is_wrong(self):
        with self.make(URL, TOKEN) as client:
            self.assertTrue(client.cognitive(SAMPLE, baseline=[BYTES, BYTES], channel=0)["relative"])
            with self.assertRaises(undertone.ValidationError) as wrong:
                client.cognitive(SAMPLE, channel=7)
            with self.assertRaises(undertone.ValidationError) as mono:
                client.analyze_channels(SAMPLE)
            speakers = client.analyze_speakers(SAMPLE, [{"start": 0, "end": 4, "speaker": "A"}])["speakers"]
            self.assertEqual([one["speaker"] for one in speakers], ["A"])
            rttm = client.analyze_speakers(SAMPLE, "SPEAKER x 1 0 4 <NA> <NA> A")["speakers"]
            self.assertEqual(rttm[0]["emotion"], speakers[0]["emotion"])
            voices = client.analyze_speakers(SAMPLE, speakers="auto")
            self.assertEqual([one["speaker"] for one in voices["speakers"]], ["1"])
            self.assertIsNone(voices["conversation"])
            for wrong_parts in ({}, {"segments": "", "speakers": "2"}):
                with self.assertRaises(ValueError):
                    client.analyze_speakers(SAMPLE, **wrong_parts)
        self.assertEqual(wrong.exception.status, 422)
        self.assertEqual(wrong.exception.items[0]["loc"], ["body", "channel"])
        self.assertEqual(wrong.exception.items[0]["type"], "value_error.audio.channel")
        self.assertEqual(mono.exception.items[0]["loc"], ["body", "channels"])
        self.assertRegex(wrong.exception.request_id, r"^[\w-]{36}$")
        with self.make(URL, "any-token-of-20-characters") as client:
            with self.assertRaises(undertone.ApiError) as refused:
                client.analyze(SAMPLE)
        self.assertEqual((refused.exception.status, refused.exception.code), (401, "unauthenticated"))

    def test_500_and_503_are_asked_again(self):
        with self.make(SERVERS["busy"], TOKEN) as client, waits() as asked:
            with self.assertRaises(undertone.ApiError) as failed:
                client.analyze(io.BytesIO(BYTES))
        self.assertEqual((failed.exception.status, failed.exception.code), (503, "overloaded"))
        # The async client comes first: a 500 and no header, then 503 and Retry-After: 3.
        self.assertEqual(asked, [1, 3, 4] if self.kind == "async" else [3, 3, 4])

    def test_retry_after_is_at_least_a_second_and_at_most_an_hour(self):
        past = "Thu, 01 Jan 1970 00:00:00 GMT"
        for text, seconds in [("0", 1), ("2147484", 3600), ("9" * 400, 3600), ("soon", None), (past, 1)]:
            response = httpx.Response(503, headers={"Retry-After": text})
            self.assertEqual(errors.error_of(response).retry_after, seconds)
            self.assertEqual(retry.wait_before_retry(response, 0), seconds or 1)
        self.assertEqual(retry.wait_before_retry(None, 5000), 3600)

    def test_a_lost_connection_is_asked_again_and_unknown_warnings_are_returned(self):
        with self.make(SERVERS["lost"][self.kind], TOKEN) as client, waits() as asked:
            self.assertEqual(client.analyze(BYTES), {"warnings": ["of_a_later_release"]})
        self.assertEqual(asked, [1, 2])

    def test_a_retried_cancel_that_finds_no_job_has_cancelled_it(self):
        with self.make(SERVERS["cancels"][self.kind], TOKEN) as client, waits():
            client.jobs.cancel("job_1")
            for call in [client.jobs.cancel, client.jobs.get]:
                with self.assertRaises(undertone.NotFoundError):
                    call("job_1")

    def test_others_are_not(self):
        for url in SERVERS["refusing"]:
            with self.make(url, TOKEN) as client, self.assertRaises(undertone.ApiError):
                client.analyze(BYTES)

    def test_late_and_absent_answers(self):
        with self.make(SERVERS["slow"], TOKEN, timeout=0.2) as client:
            self.assertRaises(undertone.NoAnswerError, client.analyze, BYTES)
        with self.make("http://127.0.0.1:1", TOKEN, retries=0) as client:
            self.assertRaises(undertone.NoAnswerError, client.analyze, BYTES)


class Sync(Case, unittest.TestCase):
    make = undertone.Client
    kind = "sync"

    def more(self):
        return []

    def wrong(self):
        return []


class Async(Case, unittest.TestCase):
    make = Both
    kind = "async"

    def more(self):
        return [chunks()]

    def wrong(self):
        return [(chunks(""), ValueError, "`audio`, got a stream at its end")]


if __name__ == "__main__":
    unittest.main()
