/** Code samples of operations, with curl and with the clients of this repository, as `x-codeSamples` of the documents. Tests run them. */
import { type Signal, signals } from '../../engine/schema.ts';

export type CodeSample = {
  readonly lang: 'Shell' | 'TypeScript' | 'Python';
  readonly label: string;
  readonly source: string;
};

/** Where the samples say that the service is. */
export const sampleAddress = 'http://127.0.0.1:8080';
/** The job of the samples. */
export const sampleJob = 'job_0123456789ABCDEFGHIJ';

const shell = (source: string): CodeSample => ({ lang: 'Shell', label: 'curl', source });
const typeScript = (source: string): CodeSample => ({ lang: 'TypeScript', label: 'TypeScript', source });
const python = (source: string): CodeSample => ({ lang: 'Python', label: 'Python', source });

/** @param programs lines that use `client`, and arguments of curl */
function withToken(programs: {
  readonly curl: string;
  readonly typeScript: string;
  readonly python: string;
}): readonly CodeSample[] {
  return [
    shell(`curl -H "Authorization: Bearer $UNDERTONE_TOKEN" ${programs.curl}`),
    typeScript(`import { createClient } from 'undertone-client';

const client = createClient({ url: '${sampleAddress}', token: process.env.UNDERTONE_TOKEN });
${programs.typeScript}`),
    python(`import os
from undertone_client import Client

with Client("${sampleAddress}", os.environ["UNDERTONE_TOKEN"]) as client:
${programs.python.replace(/^/gm, '    ')}`),
  ];
}

/** The clients have no call for what needs no token. */
function open(path: string, read: 'json' | 'text'): readonly CodeSample[] {
  const url = `${sampleAddress}${path}`;
  return [
    shell(`curl ${url}`),
    typeScript(`const response = await fetch('${url}');
console.log(response.status, await response.${read}());`),
    python(`import httpx

response = httpx.get("${url}")
print(response.status_code, response.${read === 'json' ? 'json()' : 'text'})`),
  ];
}

export const samplesOfSignal = (signal: Signal): readonly CodeSample[] =>
  withToken({
    curl: `-F audio=@recording.wav ${sampleAddress}/v1/analyze/${signal}`,
    typeScript: `const report = await client.${signal}('recording.wav');
if (report.status === 'ok') console.log(report.signals);
else console.log(report.status);`,
    python: `report = client.${signal}("recording.wav")
if report["status"] == "ok":
    print(report["signals"])
else:
    print(report["status"])`,
  });

const allJobs = (path: string) =>
  withToken({
    curl: `${sampleAddress}${path}`,
    typeScript: `// Requests page after page.
for await (const job of client.jobs.list()) console.log(job.id, job.status);`,
    python: `# Requests page after page.
for job in client.jobs.list():
    print(job["id"], job["status"])`,
  });

/** By operationId, without those of signals. */
export const samples = {
  analyze: withToken({
    curl: `-F audio=@recording.wav ${sampleAddress}/v1/analyze`,
    typeScript: `const report = await client.analyze('recording.wav');
console.log(${signals.map((signal) => `report.${signal}.signals`).join(', ')});`,
    python: `report = client.analyze("recording.wav")
print(${signals.map((signal) => `report["${signal}"]["signals"]`).join(', ')})`,
  }),
  embed: withToken({
    curl: `-F audio=@recording.wav ${sampleAddress}/v1/embed`,
    typeScript: `const report = await client.embed('recording.wav');
if (report.status === 'ok') console.log(report.embedding.length, report.timeline.length);`,
    python: `report = client.embed("recording.wav")
if report["status"] == "ok":
    print(len(report["embedding"]), len(report["timeline"]))`,
  }),
  beginJob: withToken({
    curl: `-F audio=@recording.wav ${sampleAddress}/v1/jobs`,
    typeScript: `const job = await client.jobs.submit('recording.wav');
console.log(job.id, job.status);`,
    python: `job = client.jobs.submit("recording.wav")
print(job["id"], job["status"])`,
  }),
  listJobs: allJobs('/v1/jobs'),
  listJobsAfter: allJobs(`/v1/jobs/after/${sampleJob}`),
  showJob: withToken({
    curl: `"${sampleAddress}/v1/jobs/${sampleJob}?wait=30"`,
    typeScript: `const job = await client.jobs.get('${sampleJob}', { waitSeconds: 30 });
console.log(job.status, job.result);`,
    python: `job = client.jobs.get("${sampleJob}", wait=30)
print(job["status"], job["result"])`,
  }),
  removeJob: withToken({
    curl: `-X DELETE ${sampleAddress}/v1/jobs/${sampleJob}`,
    typeScript: `await client.jobs.cancel('${sampleJob}');`,
    python: `client.jobs.cancel("${sampleJob}")`,
  }),
  createStreamToken: withToken({
    curl: `--json '{"scopes": ["analyze:emotion"]}' ${sampleAddress}/v1/stream/tokens`,
    typeScript: `const { token, expires_at } = await client.createStreamToken({ scopes: ['analyze:emotion'] });
console.log(token, expires_at);`,
    python: `session = client.create_stream_token(["analyze:emotion"])
print(session["token"], session["expires_at"])`,
  }),
  usage: withToken({
    curl: `${sampleAddress}/v1/usage`,
    typeScript: `const { token, days } = await client.usage();
console.log(token.name, days);`,
    python: `usage = client.usage()
print(usage["token"]["name"], usage["days"])`,
  }),
  models: open('/v1/models', 'json'),
  receiptKeys: open('/.well-known/undertone-keys.json', 'json'),
  health: open('/health', 'json'),
  ready: open('/ready', 'json'),
  metrics: open('/metrics', 'text'),
  document: open('/openapi.json', 'json'),
  asyncDocument: open('/asyncapi.json', 'json'),
} as const satisfies Readonly<Record<string, readonly CodeSample[]>>;

/** Of the callback of a job: servers that receive it. */
export const callbackSamples: readonly CodeSample[] = [
  typeScript(`import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { verifyWebhook } from 'undertone-client/webhook';

// \`callback_secret\` of the submitted job.
const secret = process.env.CALLBACK_SECRET ?? '';
createServer(async (request, response) => {
  try {
    const job = verifyWebhook(await text(request), request.headers, secret);
    console.log(job.id, job.status);
    response.statusCode = 204;
  } catch {
    response.statusCode = 400;
  }
  response.end();
}).listen(9000);`),
  python(`import os
from http.server import BaseHTTPRequestHandler, HTTPServer
from undertone_client import WebhookError, verify_webhook

class Callback(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            # \`callback_secret\` of the submitted job.
            job = verify_webhook(body, dict(self.headers), os.environ["CALLBACK_SECRET"])
            print(job["id"], job["status"], flush=True)
            self.send_response(204)
        except WebhookError:
            self.send_response(400)
        self.end_headers()

HTTPServer(("", 9000), Callback).serve_forever()`),
];

/** Of a live session: the 16-bit samples of a WAV file with a header of 44 bytes. */
export const streamSamples: readonly CodeSample[] = [
  typeScript(`import { readFile } from 'node:fs/promises';
import { createClient } from 'undertone-client';
import { WebSocket } from 'ws'; // Not needed in browsers and Node.js 22.

const token = process.env.UNDERTONE_TOKEN;
const client = createClient({ url: '${sampleAddress}', token, WebSocket });
const session = await client.stream({ encoding: 's16le', sample_rate_hz: 16000, channels: 1 });
await session.send((await readFile('recording.wav')).subarray(44));
const report = await session.end();
for await (const message of session) {
  if (message.type === 'turn') console.log(message.start_s, message.end_s);
}
console.log(${signals.map((signal) => `report.${signal}.signals`).join(', ')});`),
  python(`import asyncio
import os
from pathlib import Path
from undertone_client import AsyncClient

async def main() -> None:
    async with AsyncClient("${sampleAddress}", os.environ["UNDERTONE_TOKEN"]) as client:
        async with client.stream(encoding="s16le", sample_rate_hz=16000, channels=1) as session:
            await session.send(Path("recording.wav").read_bytes()[44:])
            report = await session.end()
            async for message in session:
                if message["type"] == "turn":
                    print(message["start_s"], message["end_s"])
    print(${signals.map((signal) => `report["${signal}"]["signals"]`).join(', ')})

asyncio.run(main())`),
];
