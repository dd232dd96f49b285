"""Live sessions of the Python client with the service at UNDERTONE_URL."""

import asyncio
import os
import unittest
import unittest.mock

import undertone_client as undertone
from proxy import Proxy, until
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


def without_delays():
    """The random part of delays is 0."""
    return unittest.mock.patch("random.uniform", lambda low, high: 0.0)


async def next_of(messages, kind):
    """Returns the next message of the type, and the types before it."""
    earlier = []
    async for message in messages:
        if message["type"] == kind:
            return message, earlier
        earlier.append(message["type"])


class Reconnect(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        patch = without_delays()
        patch.start()
        self.addCleanup(patch.stop)

    async def asyncTearDown(self):
        others = asyncio.all_tasks() - {asyncio.current_task()}
        self.assertEqual([task for task in others if "undertone_client" in repr(task)], [])

    async def test_a_new_session_follows_a_lost_one_and_says_what_was_lost(self):
        async with Proxy() as proxy, undertone.AsyncClient(proxy.url, TOKEN) as client:
            async with client.stream(**FORMAT, reconnect=True) as session:
                messages = aiter(session)
                await session.send(SAMPLES[:128000])
                await next_of(messages, "turn")
                proxy.accepts.clear()
                proxy.cut()
                await until(lambda: proxy.connections > 1)
                # Ends within a sample: the rest of it is no sample of the next session.
                await session.send(SAMPLES[128000:160001])
                await session.turn_end()
                proxy.accepts.set()
                lost, _ = await next_of(messages, "reconnected")
                self.assertEqual((lost["offset_s"], lost["lost_s"]), (160002 / 32000, 32002 / 32000))
                self.assertIsInstance(lost["error"], undertone.NoAnswerError)
                await session.send(SAMPLES[160001:])
                report = await session.end()
                later = [message async for message in messages]
            async with client.stream(**FORMAT) as session:
                await session.send(SAMPLES[160002:])
                want = await session.end()
        self.assertEqual({**report, "request_id": ""}, {**want, "request_id": ""})
        self.assertEqual([message["seq"] for message in later], list(range(len(later))))
        self.assertEqual([later[0]["type"], later[-1]["type"]], ["session.ready", "session.ended"])
        self.assertIn("turn", [message["type"] for message in later])

    async def test_without_the_option_a_lost_session_is_over(self):
        async with Proxy() as proxy, undertone.AsyncClient(proxy.url, TOKEN) as client:
            async with client.stream(**FORMAT) as session:
                proxy.cut()
                with self.assertRaises(undertone.NoAnswerError):
                    async for _ in session:
                        pass
                with self.assertRaises(undertone.NoAnswerError):
                    await session.end()
            self.assertEqual(proxy.connections, 1)

    async def test_the_error_of_the_last_attempt_is_raised(self):
        async with Proxy() as proxy, undertone.AsyncClient(proxy.url, TOKEN) as client:
            async with client.stream(**FORMAT, reconnect=True) as session:
                proxy.refuses = True
                proxy.cut()
                for call in (lambda: next_of(session, "reconnected"), session.end, lambda: session.send(SAMPLES)):
                    with self.assertRaisesRegex(undertone.NoAnswerError, "Expected a session from"):
                        await call()
            self.assertEqual(proxy.connections, 9)

    async def test_the_end_and_the_context_end_the_attempts(self):
        for end in (True, False):
            async with Proxy() as proxy, undertone.AsyncClient(proxy.url, TOKEN) as client:
                with unittest.mock.patch("random.uniform", lambda low, high: 3600.0):
                    async with client.stream(**FORMAT, reconnect=True) as session:
                        proxy.cut()
                        await until(lambda: session._reconnecting)
                        if end:
                            with self.assertRaisesRegex(undertone.NoAnswerError, "lost connection"):
                                await session.end()
                with self.assertRaises(undertone.NoAnswerError):
                    await next_of(session, "reconnected")
                self.assertEqual(proxy.connections, 1)

    async def test_the_close_code_decides(self):
        """1001 has a report, as of a service that shuts down."""
        for code, follows in (
            *((code, True) for code in (1001, 1011, 1012, 1013)),
            *((code, False) for code in (1000, 1002, 1007, 1008, 1009, 4408, 4413, 4422, 4429)),
        ):
            with self.subTest(code):
                opened = []

                async def answer(connection):
                    opened.append(await connection.recv())
                    await connection.send('{"type": "session.ready", "seq": 0, "limits": {"idle_s": 60}}')
                    if len(opened) == 1:
                        await connection.recv()
                        if code == 1001:
                            await connection.send('{"type": "final", "seq": 1, "report": "first"}')
                        await connection.send('{"type": "session.ended", "seq": 2, "audio_s": 0.25}')
                        await connection.close(code)
                    else:
                        await connection.recv()
                        await connection.send('{"type": "final", "seq": 1, "report": "second"}')

                async with serve(answer, "127.0.0.1", 0, subprotocols=["undertone.v1"]) as server:
                    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
                    async with undertone.AsyncClient(url, TOKEN) as client:
                        async with client.stream(**FORMAT, reconnect=True) as session:
                            await session.send(SAMPLES[:32000])
                            if follows:
                                lost, _ = await next_of(session, "reconnected")
                                self.assertEqual((lost["error"].code, lost["lost_s"]), (code, 0.75))
                                self.assertEqual(await session.end(), "second")
                            else:
                                with self.assertRaises(undertone.SessionEndedError):
                                    await next_of(session, "reconnected")
                self.assertEqual(len(opened), 1 + follows)

    async def test_a_refusal_ends_the_attempts_unless_it_is_temporary(self):
        """The service answers 429 and 503 with `Retry-After`, and then refuses the token."""
        pause, waits, statuses = asyncio.sleep, [], [None, 429, 503, 401, None]

        async def note(seconds):
            waits.append(seconds)
            await pause(0)

        def refuse(connection, request):
            status = statuses.pop(0)
            if status is not None:
                response = connection.respond(status, "{}")
                response.headers["Retry-After"] = "7"
                return response

        async def answer(connection):
            await connection.recv()
            await connection.send('{"type": "session.ready", "seq": 0, "limits": {"idle_s": 60}}')
            await connection.recv()
            connection.transport.abort()

        async with serve(answer, "127.0.0.1", 0, subprotocols=["undertone.v1"], process_request=refuse) as server:
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            with unittest.mock.patch("undertone_client.reconnect.asyncio.sleep", note):
                async with undertone.AsyncClient(url, TOKEN) as client:
                    async with client.stream(**FORMAT, reconnect=True) as session:
                        await session.send(SAMPLES)
                        with self.assertRaises(undertone.UnauthenticatedError):
                            await next_of(session, "reconnected")
        self.assertEqual(statuses, [None])
        self.assertEqual([seconds for seconds in waits if seconds == 7.0], [7.0, 7.0])


if __name__ == "__main__":
    unittest.main()
