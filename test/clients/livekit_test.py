"""The LiveKit example with the service at UNDERTONE_URL."""

import asyncio
import json
import logging
import os
import re
import unittest
import unittest.mock
import wave
from pathlib import Path

import numpy
from example import ScriptedStream, ScriptedSTT
from livekit import rtc
from livekit.agents import APIConnectionError, APIConnectOptions, LanguageCode, stt
from livekit.agents.stt import SpeechData, SpeechEvent, SpeechEventType
from proxy import Proxy, until
from undertone_client import AsyncClient
from undertone_livekit import VoiceProfileSTT
from undertone_livekit.session import MAX_WAITING_FRAMES

URL, TOKEN, SAMPLE = os.environ["UNDERTONE_URL"], os.environ["UNDERTONE_TOKEN"], os.environ["SAMPLE"]
README = Path("clients/python/examples/livekit/README.md")
with wave.open(SAMPLE) as wav:
    SAMPLES = numpy.frombuffer(wav.readframes(wav.getnframes()), numpy.int16)
SILENCE = numpy.zeros_like(SAMPLES)
#: Where turns of the sample end, s: they have one, two, and two utterances.
ENDS = [3.2, 7.8, 15.1]
NO_RETRY = APIConnectOptions(max_retry=0)
# unittest runs asyncio in its debug mode, which logs callbacks of over 0.1 s.
logging.getLogger("asyncio").setLevel(logging.ERROR)


def to_frames(samples, rate=16000, channels=1):
    size = rate // 50
    samples = numpy.repeat(numpy.repeat(samples, rate // 16000), channels)
    for start in range(0, len(samples) - size * channels + 1, size * channels):
        yield rtc.AudioFrame(samples[start : start + size * channels].tobytes(), rate, channels, size)


def said(text="words", **fields):
    return SpeechData(LanguageCode("en"), text, **fields)


class VoiceProfile(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        self.errors = []

    async def asyncTearDown(self):
        self.assertEqual(asyncio.all_tasks(), {asyncio.current_task()}, "of streams that are closed")

    def wrap(self, client, script, max_wait_s=60):
        voice = VoiceProfileSTT(ScriptedSTT(script), client, max_wait_s=max_wait_s)
        voice.on("error", self.errors.append)
        return voice

    async def transcribe(self, script, frames, url=URL, token=TOKEN, **options):
        """Plays up to where each transcript is due, and waits for it."""
        transcripts = []
        async with AsyncClient(url, token) as client, self.wrap(client, script, **options).stream() as stream:
            played_s = 0.0
            for end_s, _ in script:
                while played_s < end_s - 0.001:
                    frame = next(frames)
                    stream.push_frame(frame)
                    played_s += frame.duration
                transcripts.append((await anext(stream)).alternatives[0])
        return transcripts

    async def test_each_transcript_has_the_profile_of_its_utterances(self):
        own = {"voice_profile": {"accent": ["british"]}, "model": "scripted"}
        script = [(ENDS[0], said("one")), (ENDS[1], said("two", metadata=own)), (ENDS[2], said("three"))]
        transcripts = await self.transcribe(script, to_frames(SAMPLES))
        self.assertEqual([data.text for data in transcripts], ["one", "two", "three"])
        bounds = [
            [(one["start_s"], one["end_s"]) for one in data.metadata["undertone"]["utterances"]] for data in transcripts
        ]
        self.assertEqual([len(one) for one in bounds], [1, 2, 2])
        for (first, *_), (*_, last), start_s, end_s in zip(bounds, bounds, [0, *ENDS], ENDS):
            self.assertTrue(start_s < first[0] < last[1] < end_s, (first, last))
        for data in transcripts:
            emotion, messages = data.metadata["voice_profile"]["emotion"], data.metadata["undertone"]
            confidences = [candidate["confidence"] for candidate in emotion]
            self.assertEqual(confidences, sorted(confidences, reverse=True))
            self.assertAlmostEqual(sum(confidences), 1, places=2)
            self.assertIn("warnings", messages["measurement"])
            self.assertIn("tone", messages["measurement"]["emotion"])
            self.assertGreater(messages["measurement"]["end_s"], messages["utterances"][-1]["start_s"])
        self.assertIn("short_speech", transcripts[0].metadata["undertone"]["measurement"]["warnings"])
        only, (first, second) = (data.metadata["undertone"]["utterances"] for data in transcripts[:2])
        best, scores = transcripts[0].metadata["voice_profile"]["emotion"][0], only[0]["emotion"]
        self.assertEqual((best["label"], best["confidence"]), (scores["dominant_emotion"], scores["confidence"]))
        profile = transcripts[1].metadata["voice_profile"]
        low, high = sorted(one["emotion"]["emotions"]["neutral"] for one in (first, second))
        self.assertTrue(low < {one["label"]: one["confidence"] for one in profile["emotion"]}["neutral"] < high)
        self.assertEqual((profile["accent"], transcripts[1].metadata["model"]), (["british"], "scripted"))
        self.assertEqual(self.errors, [])

    async def test_frames_of_other_rates_and_channels_have_the_same_profile(self):
        script = [(ENDS[0], said())]
        [expected] = await self.transcribe(script, to_frames(SAMPLES))
        [data] = await self.transcribe(script, to_frames(SAMPLES, 48000, 2))
        [want], [got] = (one.metadata["undertone"]["utterances"] for one in (expected, data))
        for name in ("start_s", "end_s"):
            self.assertAlmostEqual(got[name], want[name], delta=0.1)
        for name in ("valence", "arousal"):
            self.assertAlmostEqual(got["emotion"][name], want["emotion"][name], delta=0.05)

    async def test_a_transcript_without_scores_has_no_profile(self):
        own = {"model": "scripted"}
        script = [(1, said()), (2, said(metadata=own))]
        transcripts = await self.transcribe(script, to_frames(SILENCE), max_wait_s=1)
        self.assertEqual([data.metadata for data in transcripts], [None, own])
        self.assertEqual(self.errors, [])

    async def test_a_transcript_without_words_has_no_profile(self):
        empty, data = await self.transcribe([(2, said("")), (ENDS[0], said())], to_frames(SAMPLES))
        self.assertIsNone(empty.metadata)
        self.assertEqual(len(data.metadata["undertone"]["utterances"]), 1)

    async def test_times_of_a_transcript_choose_its_utterances(self):
        """All of the audio has been received before the first transcript."""

        class Timed(ScriptedSTT):
            def stream(self, *, conn_options, **_):
                return TimedStream(self, conn_options)

        class TimedStream(ScriptedStream):
            async def _run(self):
                offset_s = self.start_time_offset
                self._script = [(end_s, said(end_time=offset_s + end_s - 0.2)) for end_s, _ in self._script]
                await super()._run()

        async with AsyncClient(URL, TOKEN) as client:
            voice = VoiceProfileSTT(Timed([(end_s, said()) for end_s in ENDS]), client, max_wait_s=60)
            async with voice.stream() as stream:
                stream.start_time_offset = 100
                for frame in to_frames(SAMPLES[: 16 * 16000]):
                    stream.push_frame(frame)
                stream.end_input()
                utterances = [event.alternatives[0].metadata["undertone"]["utterances"] async for event in stream]
        self.assertEqual([len(one) for one in utterances], [1, 2, 2])
        for one, start_s, end_s in zip(utterances, [0, *ENDS], ENDS):
            self.assertTrue(start_s < one[0]["start_s"] < one[-1]["end_s"] < end_s)

    async def test_an_utterance_with_two_transcripts_is_in_both(self):
        script = [(13.6, said(end_time=13.5)), (ENDS[2], said())]
        first, second = await self.transcribe(script, to_frames(SAMPLES))
        first, second = (data.metadata["undertone"]["utterances"][-1] for data in (first, second))
        self.assertEqual(first["start_s"], second["start_s"])
        self.assertTrue(first["provisional"])
        self.assertLess(first["end_s"], second["end_s"])

    async def test_an_utterance_replaces_its_provisional_message(self):
        script = [(ENDS[1], said()), (12.5, said(end_time=11)), (ENDS[2], said())]
        _, _, data = await self.transcribe(script, to_frames(SAMPLES))
        [utterance] = data.metadata["undertone"]["utterances"]
        self.assertTrue(utterance["start_s"] < 11 < 12.5 < utterance["end_s"])

    async def test_errors_of_the_service_do_not_end_the_transcripts(self):
        for url, token, frames, words in (
            (URL, "any-token-of-20-characters", to_frames(SAMPLES), "token"),
            (URL, TOKEN, to_frames(SAMPLES, 96000), "sample_rate_hz"),
            (URL, TOKEN, to_frames(SAMPLES, 16000, 3), "channels"),
            ("http://127.0.0.1:1", TOKEN, to_frames(SAMPLES), "Expected a session"),
        ):
            with self.subTest(words):
                self.errors.clear()
                transcripts = await self.transcribe([(1, said()), (2, said())], frames, url, token)
                self.assertEqual([data.metadata for data in transcripts], [None, None])
                self.assertEqual([error.recoverable for error in self.errors], [True])
                self.assertIn(words, str(self.errors[0].error))

    async def test_another_session_follows_a_lost_one(self):
        script = [(end_s, said()) for end_s in ENDS]
        frames, transcripts = to_frames(SAMPLES), []
        async with Proxy() as proxy, AsyncClient(proxy.url, TOKEN) as client:
            voice = self.wrap(client, script, max_wait_s=60)
            with unittest.mock.patch("random.uniform", lambda low, high: 0.0):
                async with voice.stream() as stream:

                    async def play(start_s, end_s):
                        for _ in range(round((end_s - start_s) * 50)):
                            stream.push_frame(next(frames))
                        transcripts.append((await anext(stream)).alternatives[0])

                    await play(0, ENDS[0])
                    proxy.accepts.clear()
                    proxy.cut()
                    await until(lambda: proxy.connections > 1)
                    stream._max_wait_s = 0
                    await play(ENDS[0], ENDS[1])
                    await until(stream._session._inputs.empty)
                    proxy.accepts.set()
                    await until(lambda: self.errors)
                    stream._max_wait_s = 60
                    await play(ENDS[1], ENDS[2])
        first, lost, last = (data.metadata for data in transcripts)
        self.assertIsNone(lost)
        self.assertEqual(len(first["undertone"]["utterances"]), 1)
        utterances, measurement = last["undertone"]["utterances"], last["undertone"]["measurement"]
        self.assertTrue(ENDS[1] < utterances[0]["start_s"] < utterances[-1]["end_s"] < ENDS[2])
        self.assertGreater(measurement["end_s"], utterances[-1]["start_s"])
        self.assertEqual([error.recoverable for error in self.errors], [True])
        self.assertIn("lost connection", str(self.errors[0].error))

    async def test_frames_of_another_format_end_the_profiles(self):
        frames = [*to_frames(SAMPLES[:16000]), *to_frames(SAMPLES[16000:32000], 16000, 2)]
        [data] = await self.transcribe([(2, said())], iter(frames))
        self.assertIsNone(data.metadata)
        self.assertEqual([error.recoverable for error in self.errors], [True])
        self.assertIn("got (16000, 2)", str(self.errors[0].error))

    async def test_a_service_that_does_not_respond_delays_no_frame(self):
        silent = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
        self.addCleanup(silent.close)
        port = silent.sockets[0].getsockname()[1]
        samples = numpy.zeros(320 * (MAX_WAITING_FRAMES + 100), numpy.int16)
        script = [(1, said()), (len(samples) / 16000, said())]
        url = f"http://127.0.0.1:{port}"
        transcripts = await self.transcribe(script, to_frames(samples), url, max_wait_s=0.1)
        self.assertEqual([data.metadata for data in transcripts], [None, None])
        self.assertEqual([error.recoverable for error in self.errors], [True])
        self.assertIn("waiting frames", str(self.errors[0].error))

    async def test_an_error_of_the_wrapped_stt_ends_the_stream(self):
        class Failing(ScriptedSTT):
            def stream(self, *, conn_options, **_):
                return FailingStream(stt=self, conn_options=conn_options)

        class FailingStream(stt.RecognizeStream):
            async def _run(self):
                await anext(self._input_ch)
                raise APIConnectionError("no words")

        async with AsyncClient(URL, TOKEN) as client:
            voice = VoiceProfileSTT(Failing([]), client)
            voice.on("error", self.errors.append)
            async with voice.stream(conn_options=NO_RETRY) as stream:
                for frame in to_frames(SAMPLES):
                    stream.push_frame(frame)
                with self.assertRaisesRegex(APIConnectionError, "no words"):
                    await anext(stream)
        self.assertEqual([error.recoverable for error in self.errors], [False])

    async def test_closing_ends_the_wait_and_the_wrapped_stream(self):
        class Endless(ScriptedSTT):
            def stream(self, *, conn_options, **_):
                return EndlessStream(stt=self, conn_options=conn_options)

        class EndlessStream(stt.RecognizeStream):
            async def _run(self):
                await anext(self._input_ch)
                self._event_ch.send_nowait(SpeechEvent(SpeechEventType.START_OF_SPEECH))
                self._event_ch.send_nowait(SpeechEvent(SpeechEventType.FINAL_TRANSCRIPT, alternatives=[said()]))
                await asyncio.Event().wait()

        async with AsyncClient(URL, TOKEN) as client:
            stream = VoiceProfileSTT(Endless([]), client, max_wait_s=3600).stream()
            stream.push_frame(next(to_frames(SILENCE)))
            self.assertEqual((await anext(stream)).type, "start_of_speech")
            await stream.aclose()

    async def test_the_rest_is_that_of_the_wrapped_stt(self):
        class Full(ScriptedSTT):
            model, provider = "words", "someone"
            keyterms = None

            def _update_session_keyterms(self, keyterms):
                self.keyterms = keyterms

            def stream(self, *, conn_options, **_):
                return Echo(stt=self, conn_options=conn_options)

        class Echo(stt.RecognizeStream):
            async def _run(self):
                async for item in self._input_ch:
                    name = "flush" if isinstance(item, self._FlushSentinel) else "frame"
                    self._event_ch.send_nowait(SpeechEvent(SpeechEventType.END_OF_SPEECH, name))
                usage = stt.RecognitionUsage(audio_duration=0.02)
                self._event_ch.send_nowait(SpeechEvent(SpeechEventType.RECOGNITION_USAGE, recognition_usage=usage))
                self._event_ch.send_nowait(SpeechEvent(SpeechEventType.FINAL_TRANSCRIPT, alternatives=[said("")]))

        metrics = []
        async with AsyncClient(URL, TOKEN) as client:
            wrapped = Full([])
            voice = VoiceProfileSTT(wrapped, client)
            voice.on("metrics_collected", metrics.append)
            self.assertEqual((voice.model, voice.provider), ("words", "someone"))
            self.assertIs(voice.capabilities, wrapped.capabilities)
            voice._update_session_keyterms(["Undertone"])
            self.assertEqual(wrapped.keyterms, ["Undertone"])
            async with voice.stream() as stream:
                frame = next(to_frames(SAMPLES))
                stream.push_frame(frame)
                stream.flush()
                stream.push_frame(frame)
                stream.end_input()
                events = [event async for event in stream]
            wrapped.capabilities.streaming = False
            with self.assertRaisesRegex(ValueError, "streams"):
                VoiceProfileSTT(wrapped, client)
        self.assertEqual([event.request_id for event in events][:3], ["frame", "flush", "frame"])
        self.assertEqual([event.type for event in events[-2:]], ["recognition_usage", "final_transcript"])
        self.assertEqual([one.metadata.model_name for one in metrics], ["words"])

    async def test_the_readme_shows_metadata_of_the_sample(self):
        [shown] = re.findall(r"```json\n(.*?)```", README.read_text(), re.DOTALL)
        [data] = await self.transcribe([(ENDS[0], said())], to_frames(SAMPLES))
        self.assert_contains(data.metadata, json.loads(shown))

    def assert_contains(self, whole, part):
        """Lists and objects of the README may be shorter."""
        if isinstance(part, (dict, list)):
            for key, value in part.items() if isinstance(part, dict) else enumerate(part):
                self.assert_contains(whole[key], value)
        else:
            self.assertEqual(whole, part)


if __name__ == "__main__":
    unittest.main()
