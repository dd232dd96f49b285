"""Jobs of both Python clients, with the service at UNDERTONE_URL, Redis, a worker and a receiver of callbacks."""

import asyncio
import http.server
import io
import json
import os
import pathlib
import threading
import unittest
import wave

import undertone_client as undertone

URL, TOKEN, SAMPLE = os.environ["UNDERTONE_URL"], os.environ["UNDERTONE_TOKEN"], os.environ["SAMPLE"]
PORT = int(os.environ["HOOK_PORT"])
BYTES = pathlib.Path(SAMPLE).read_bytes()
received = []
arrived = threading.Semaphore(0)


class Limited(http.server.BaseHTTPRequestHandler):
    """Refuses every second request by a rate limit."""

    answered = 0

    def do_GET(self):
        Limited.answered += 1
        limited = Limited.answered % 2 == 1
        self.send_response(429 if limited else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Retry-After", "1")
        self.end_headers()
        job = {"id": "job_1", "status": "done", "progress": None, "result": {"status": "ok"}, "error": None}
        self.wfile.write(json.dumps({"code": "rate_limited"} if limited else job).encode())

    def log_message(self, *_):
        pass


class Hook(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(BYTES)

    def do_POST(self):
        received.append((self.rfile.read(int(self.headers["Content-Length"])), dict(self.headers)))
        self.send_response(200)
        self.end_headers()
        arrived.release()

    def log_message(self, *_):
        pass


def setUpModule():
    hook = http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Hook)
    threading.Thread(target=hook.serve_forever, daemon=True).start()
    unittest.addModuleCleanup(hook.server_close)
    unittest.addModuleCleanup(hook.shutdown)


def same(report):
    return {**report, "request_id": ""}


class JobsTest(unittest.TestCase):
    def test_a_job_is_submitted_waited_for_listed_and_deleted_and_its_callback_verified(self):
        with undertone.Client(URL, TOKEN) as client:
            hook = f"http://127.0.0.1:{PORT}/hook"
            job = client.jobs.submit(SAMPLE, callback=hook, metadata={"order": "é"}, idempotency_key="one")
            self.assertEqual(
                client.jobs.submit(BYTES, callback=hook, metadata={"order": "é"}, idempotency_key="one")["id"], job["id"]
            )
            states = []
            report = client.jobs.wait(job["id"], on_progress=lambda job: states.append(job["status"]))
            self.assertEqual(states[-1], "done")
            self.assertEqual(same(report), same(client.analyze(SAMPLE)))
            self.assertIn(job["id"], [one["id"] for one in client.jobs.list()])
            arrived.acquire()
            (body, headers), secret = received[0], job["callback_secret"]
            done = client.jobs.get(job["id"], wait=1)
            self.assertEqual(done["metadata"], {"order": "é"})
            event = {"type": "job.done", "timestamp": done["finished_at"]}
            self.assertEqual(undertone.verify_webhook(body, headers, secret), {**done, **event})
            for wrong in [
                (body + b" ", headers, secret),
                (body, headers, "whsec_AAAA"),
                (body, headers, ""),
                (body, headers, "whsec_not base64"),
                (body, {**headers, "Webhook-Timestamp": "1700000000", "webhook-timestamp": "1700000000"}, secret),
                (body, {}, secret),
            ]:
                self.assertRaises(undertone.WebhookError, undertone.verify_webhook, *wrong)
            client.jobs.cancel(job["id"])
            self.assertRaises(undertone.NotFoundError, client.jobs.wait, job["id"])
            self.assertGreater(client.usage()["days"][0]["audio_s"], 0)

    def test_the_async_client_has_the_same_jobs(self):
        async def run():
            async with undertone.AsyncClient(URL, TOKEN) as client:
                urls = [f"http://127.0.0.1:{PORT}/{name}.wav" for name in "ab"]
                jobs = (await client.jobs.submit_urls(urls, receipt=True, metadata={"order": "7"}))["jobs"]
                self.assertEqual(jobs[1]["metadata"], {"order": "7"})
                reports = [await client.jobs.wait(job["id"], max_delay=0.5) for job in jobs]
                self.assertEqual([report["request_id"] for report in reports], [job["id"] for job in jobs])
                self.assertTrue(all("receipt" in report for report in reports))
                listed = [job["id"] async for job in client.jobs.list()]
                self.assertTrue({job["id"] for job in jobs} <= set(listed))
                signed = await client.jobs.submit(SAMPLE, receipt=True)
                self.assertIn("receipt", await client.jobs.wait(signed["id"], max_delay=0.5))
                broken = await client.jobs.submit(b"no sound")
                with self.assertRaises(undertone.JobFailedError) as failed:
                    await client.jobs.wait(broken["id"])
                self.assertEqual(failed.exception.items[0]["type"], "value_error.audio.unsupported")
                self.assertIsNone(failed.exception.code)
                await client.jobs.cancel(broken["id"])
                with self.assertRaises(undertone.NotFoundError):
                    await client.jobs.get(broken["id"])
                self.assertEqual((await client.usage())["token"]["name"], "UNDERTONE_TOKEN")

        asyncio.run(run())

    def test_a_recording_above_the_limits_of_a_request_is_analysed_as_a_job(self):
        twice = io.BytesIO()
        with wave.open(SAMPLE) as source, wave.open(twice, "wb") as target:
            target.setparams(source.getparams())
            samples = source.readframes(source.getnframes())
            target.writeframes(samples + samples)

        async def run():
            async with undertone.AsyncClient(URL, TOKEN) as client:
                return await client.analyze(twice.getvalue())

        with undertone.Client(URL, TOKEN) as client:
            before = {job["id"] for job in client.jobs.list()}
            report = client.analyze([twice.getvalue()])
            self.assertAlmostEqual(report["audio"]["duration_s"], 79.09, 2)
            self.assertEqual(same(asyncio.run(run())), same(report))
            self.assertEqual({job["id"] for job in client.jobs.list()}, before)
            with self.assertRaises(undertone.ValidationError):
                client.emotion(twice.getvalue())

    def test_waiting_goes_on_after_a_rate_limit(self):
        async def wait(url):
            async with undertone.AsyncClient(url, "any") as client:
                return await client.jobs.wait("job_1")

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Limited) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            url = f"http://127.0.0.1:{server.server_port}"
            with undertone.Client(url, "any") as client:
                self.assertEqual(client.jobs.wait("job_1"), {"status": "ok"})
            self.assertEqual(asyncio.run(wait(url)), {"status": "ok"})
            self.assertEqual(Limited.answered, 4)
            server.shutdown()

    def test_each_refusal_has_a_class_of_its_own(self):
        with undertone.Client(URL, "no-such-token-anywhere") as client:
            self.assertRaises(undertone.UnauthenticatedError, client.usage)


unittest.main()
