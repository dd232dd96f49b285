"""The Pipecat example with the service at UNDERTONE_URL."""

import asyncio
import os
import unittest
import unittest.mock
import wave

from pipecat.frames.frames import EndFrame, ErrorFrame, InputAudioRawFrame, TranscriptionFrame, UserStoppedSpeakingFrame
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.tests.utils import run_test
from proxy import Proxy, until
from undertone_client import AsyncClient
from undertone_pipecat import UserEmotionFrame, UserEmotionProcessor
from undertone_pipecat.processor import MAX_WAITING_FRAMES

URL, TOKEN, SAMPLE = os.environ["UNDERTONE_URL"], os.environ["UNDERTONE_TOKEN"], os.environ["SAMPLE"]
with wave.open(SAMPLE) as wav:
    SAMPLES = wav.readframes(wav.getnframes())
START_TIMEOUT_S = 60


def audio(start_s, end_s, rate=16000):
    return InputAudioRawFrame(SAMPLES[int(start_s * 32000) : int(end_s * 32000)], rate, 1)


async def run(frames, token=TOKEN, url=URL):
    async with AsyncClient(url, token) as client:
        return await run_test(UserEmotionProcessor(client), frames_to_send=frames, start_timeout=START_TIMEOUT_S)


async def ignore(*_):
    pass


class UserEmotion(unittest.IsolatedAsyncioTestCase):
    async def test_each_turn_has_an_emotion_and_all_frames_pass(self):
        sent = [
            audio(0, 2),
            UserStoppedSpeakingFrame(),
            TranscriptionFrame("This is a recording", "user", ""),
            audio(2, 8),
            UserStoppedSpeakingFrame(),
        ]
        down, up = await run(sent)
        self.assertEqual(up, [])
        passed = [frame for frame in down if not isinstance(frame, UserEmotionFrame)]
        self.assertCountEqual([frame.id for frame in passed], [frame.id for frame in sent])
        emotions = [frame for frame in down if isinstance(frame, UserEmotionFrame)]
        first = [frame for frame in emotions if frame.turn == 0]
        self.assertEqual({frame.turn for frame in emotions}, {0, 1})
        self.assertEqual([one["cause"] for one in first[0].utterances], ["turn.end"])
        self.assertLessEqual(first[0].end_s, 2.01)
        # The speech went on: the utterance that has ended replaces the provisional one.
        self.assertEqual([one["provisional"] for one in first[-1].utterances], [False])
        last = emotions[-1]
        self.assertGreater(len(last.utterances), 1)
        self.assertAlmostEqual(sum(last.emotions.values()), 1, places=2)
        values = [utterance["emotion"]["valence"] for utterance in last.utterances]
        self.assertTrue(min(values) < last.valence < max(values))
        self.assertFalse(last.interruptible)

    async def test_errors_of_the_service_do_not_end_the_pipeline(self):
        for url, token, rate, words in (
            (URL, "any-token-of-20-characters", 16000, "token"),
            (URL, TOKEN, 1, "sample_rate_hz"),
            ("http://127.0.0.1:1", TOKEN, 16000, "Expected a session"),
        ):
            with self.subTest(words):
                down, up = await run([audio(0, 1, rate)], token, url)
                self.assertEqual([type(frame) for frame in down], [InputAudioRawFrame])
                self.assertEqual([type(frame) for frame in up], [ErrorFrame])
                self.assertIn(words, up[0].error)
                self.assertFalse(up[0].processor.is_usable)

    async def test_another_session_follows_a_lost_one(self):
        async with Proxy() as proxy, AsyncClient(proxy.url, TOKEN) as client:
            pushed, processor = [], UserEmotionProcessor(client)

            async def push(self, frame, direction=FrameDirection.DOWNSTREAM):
                pushed.append(frame)

            async def give(*frames):
                for frame in frames:
                    await processor.process_frame(frame, FrameDirection.DOWNSTREAM)

            def emotions():
                return [frame for frame in pushed if isinstance(frame, UserEmotionFrame)]

            def errors():
                return [frame for frame in pushed if isinstance(frame, ErrorFrame)]

            with (
                unittest.mock.patch("random.uniform", lambda low, high: 0.0),
                unittest.mock.patch.object(FrameProcessor, "process_frame", ignore),
                unittest.mock.patch.object(UserEmotionProcessor, "push_frame", push),
                unittest.mock.patch.object(
                    UserEmotionProcessor, "create_task", lambda self, work: asyncio.create_task(work)
                ),
            ):
                await give(audio(0, 3.2), UserStoppedSpeakingFrame())
                await until(emotions)
                proxy.accepts.clear()
                proxy.cut()
                await until(lambda: proxy.connections > 1)
                # Without emotion: no session receives it.
                await give(audio(3.2, 7.8), UserStoppedSpeakingFrame())
                await until(processor._inputs.empty)
                proxy.accepts.set()
                await until(errors)
                await give(audio(7.8, 15.1), UserStoppedSpeakingFrame(), EndFrame())
        self.assertIn("Lost 4.6 s of audio", errors()[0].error)
        self.assertEqual({frame.turn for frame in emotions()}, {0, 2})
        last = emotions()[-1]
        self.assertTrue(7.8 < last.start_s < last.end_s < 15.1)
        self.assertEqual(len(errors()), 1)

    async def test_a_service_that_does_not_respond_delays_no_frame(self):
        silent = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
        self.addCleanup(silent.close)
        port = silent.sockets[0].getsockname()[1]
        frames = [audio(0, 0.02) for _ in range(MAX_WAITING_FRAMES + 100)]
        down, up = await run(frames, url=f"http://127.0.0.1:{port}")
        self.assertEqual([frame.id for frame in down], [frame.id for frame in frames])
        self.assertEqual([type(frame) for frame in up], [ErrorFrame])
        self.assertIn("waiting frames", up[0].error)

    async def test_a_pipeline_without_audio_opens_no_session(self):
        down, up = await run([UserStoppedSpeakingFrame()], url="http://127.0.0.1:1")
        self.assertEqual(([type(frame) for frame in down], up), ([UserStoppedSpeakingFrame], []))


if __name__ == "__main__":
    unittest.main()
