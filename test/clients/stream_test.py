"""Live sessions of the Python client with the service at UNDERTONE_URL."""

import asyncio
import os
import unittest
import unittest.mock

import undertone_client as undertone
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.server import serve

URL, TOKEN, SAMPLE = os.environ["UNDERTONE_URL"], os.environ["UNDERTONE_TOKEN"], os.environ["SAMPLE"]
WAV = open(SAMPLE, "rb").read()
SAMPLES = WAV[44:]
FORMAT = {"encoding": "s16le", "sample_rate_hz": 16000, "channels": 1}


class Stream(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.client = undertone.AsyncClient(URL, TOKEN, retries=0)
        self.addAsyncCleanup(self.client.close)

    async def test_the_report_of_a_session_equals_that_of_the_file(self):
        async with self.client.stream(**FORMAT, interval_s=1) as session:
            for start in range(0, len(SAMPLES), 30001):
                await session.send(SAMPLES[start : start + 30001])
            report = await session.end()
            messages = [message async for message in session]
            self.assertEqual([message async for message in session], [])
            self.assertIs(await session.end(), report)
        want = await self.client.analyze(WAV)
        self.assertEqual({**report, "request_id": ""}, {**want, "request_id": ""})
        self.assertEqual([message["seq"] for message in messages], list(range(len(messages))))
        types = [message["type"] for message in messages]
        self.assertEqual([types[0], *types[-2:]], ["session.ready", "final", "session.ended"])
        self.assertIn("measurement", types)

    async def test_a_turn_is_ended_and_one_signal_is_requested(self):
        async with self.client.stream(**FORMAT, signals=["emotion"]) as session:
            await session.send(memoryview(SAMPLES)[:64000])
            await session.turn_end()
            report = await session.end()
            turns = [message async for message in session if message["type"] == "turn"]
        self.assertIn("valence", report["signals"])
        self.assertIn("turn.end", [turn["cause"] for turn in turns])

    async def test_both_channels_are_analysed_alone(self):
        stereo = b"".join(SAMPLES[at : at + 2] * 2 for at in range(0, len(SAMPLES), 2))
        async with self.client.stream(**{**FORMAT, "channels": 2}, split=True) as session:
            await session.send(stereo)
            report = await session.end()
            channels = [message["channel"] async for message in session if message["type"] == "turn"]
        self.assertEqual(len(report["channels"]), 2)
        self.assertEqual(set(channels), {0, 1})

    async def test_turns_have_a_speaker(self):
        async with self.client.stream(**FORMAT, speakers="auto") as session:
            await session.send(SAMPLES)
            report = await session.end()
            speakers = [message["speaker"] async for message in session if message["type"] == "turn"]
        self.assertEqual([speaker["speaker"] for speaker in report["speakers"]], ["1"])
        self.assertEqual(set(speakers), {"1"})

    async def test_a_redirect_is_refused_and_its_target_receives_nothing(self):
        received = []

        async def answer(reader, writer, location=None):
            received.append((location, await reader.readuntil(b"\r\n\r\n")))
            head = f"HTTP/1.1 307 Temporary Redirect\r\nLocation: {location}\r\n" if location else "HTTP/1.1 404 Not Found\r\n"
            writer.write(f"{head}Content-Length: 0\r\nConnection: close\r\n\r\n".encode())
            await writer.drain()
            writer.close()

        async def listen(location=None):
            server = await asyncio.start_server(lambda r, w: answer(r, w, location), "127.0.0.1", 0)
            self.addCleanup(server.close)
            return f"127.0.0.1:{server.sockets[0].getsockname()[1]}"

        target = await listen()
        hostile = await listen(f"ws://{target}/v1/stream")
        async with undertone.AsyncClient(f"http://{hostile}", TOKEN) as client:
            with self.assertRaises(undertone.ApiError) as refused:
                async with client.stream(**FORMAT):
                    self.fail("a redirect")
        self.assertEqual(refused.exception.status, 307)
        self.assertEqual([location is None for location, _ in received], [False])

    async def test_errors_have_the_status_and_the_code_of_the_service(self):
        with self.assertRaises(undertone.ApiError) as wrong:
            async with self.client.stream(**{**FORMAT, "sample_rate_hz": 1}):
                self.fail("an invalid format")
        self.assertEqual(wrong.exception.status, 422)
        self.assertIn("`sample_rate_hz`", str(wrong.exception))
        self.assertRegex(wrong.exception.request_id, r"^[\w-]{36}$")
        async with undertone.AsyncClient(URL, "any-token-of-20-characters") as stranger:
            with self.assertRaises(undertone.ApiError) as refused:
                async with stranger.stream(**FORMAT):
                    self.fail("a wrong token")
        self.assertEqual((refused.exception.status, refused.exception.code), (401, "unauthenticated"))
        async with undertone.AsyncClient("http://127.0.0.1:1", TOKEN) as nobody:
            with self.assertRaises(undertone.NoAnswerError):
                async with nobody.stream(**FORMAT):
                    self.fail("no service")

    async def test_a_frame_that_is_no_message_is_an_error_of_the_client(self):
        for frame in ["not JSON", "[1]", "{}", '{"type": "session.ready"}', b"\xff"]:

            async def answer(connection):
                await connection.send(frame)
                await connection.wait_closed()

            async with serve(answer, "127.0.0.1", 0, subprotocols=["undertone.v1"]) as server:
                port = server.sockets[0].getsockname()[1]
                async with undertone.AsyncClient(f"http://127.0.0.1:{port}", TOKEN, retries=0) as client:
                    with self.assertRaisesRegex(undertone.NoAnswerError, "Expected messages of a session"):
                        async with client.stream(**FORMAT) as session:
                            await session.end()

    async def test_a_session_without_samples_has_no_report(self):
        async with self.client.stream(**FORMAT) as session:
            with self.assertRaises(undertone.ApiError) as failed:
                await session.end()
            with self.assertRaises(undertone.ApiError):
                async for _ in session:
                    pass
            with self.assertRaises(undertone.ApiError):
                await session.send(SAMPLES)
        self.assertEqual(failed.exception.status, 422)

    async def test_a_session_without_audio_is_kept_open(self):
        sent = []
        send = ClientConnection.send

        async def note(connection, frame):
            sent.append(frame)
            await send(connection, frame)

        with unittest.mock.patch.object(ClientConnection, "send", note):
            async with self.client.stream(**FORMAT) as session:
                while sent.count('{"type": "keep_alive"}') < 2:
                    await asyncio.sleep(0.05)
                await session.send(SAMPLES)
                self.assertEqual((await session.end())["status"], "ok")

    async def test_leaving_the_context_ends_the_session(self):
        with self.assertRaises(KeyError):
            async with self.client.stream(**FORMAT) as session:
                await session.send(SAMPLES[:32000])
                raise KeyError
        with self.assertRaises(undertone.SessionEndedError) as ended:
            await session.end()
        self.assertEqual(ended.exception.code, 1000)

    async def test_a_cancelled_task_opens_no_session(self):
        """Cancels at each step of the event loop after the first message."""
        receive = undertone.StreamSession._receive

        async def open_and_wait():
            async with self.client.stream(**FORMAT):
                await asyncio.Event().wait()

        for steps in range(8):
            opening = asyncio.create_task(open_and_wait())

            def cancel(left):
                asyncio.get_running_loop().call_soon(cancel, left - 1) if left else opening.cancel()

            def receive_and_cancel(session, text):
                cancel(steps)
                return receive(session, text)

            with unittest.mock.patch.object(undertone.StreamSession, "_receive", receive_and_cancel):
                done, _ = await asyncio.wait([opening], timeout=30)
            self.assertEqual([task.cancelled() for task in done], [True], f"{steps} steps")

    async def test_a_token_for_a_page_has_its_scopes(self):
        token = await self.client.create_stream_token(["analyze:emotion"])
        self.assertEqual(sorted(token), ["expires_at", "token"])
        with undertone.Client(URL, TOKEN) as client:
            self.assertNotEqual(client.create_stream_token()["token"], token["token"])


if __name__ == "__main__":
    unittest.main()
