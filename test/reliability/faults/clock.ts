/** The wall clock jumps by a day and back: only expiry dates change. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { installPackages } from '../../../benchmarks/packages.ts';
import { contentType } from '../../../benchmarks/upload-body.ts';
import { exactly, type Row } from '../case.ts';
import { isUp, type Server, withServer } from '../support/service.ts';
import { speechUpload } from '../support/speech.ts';
import { analyzeAs, createToken } from './account.ts';

const library = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';
/** Longer than the token cache. */
const memoryMs = 2500;
const halfWayMs = 300;
const longestStageMs = 60_000;
const body = speechUpload(1);

type Reply = { readonly status: number; readonly stages: readonly number[] };

/** An upload that comes in two halves with the jump between them. */
function analyzeAcross(server: Server, jump: () => void): Promise<Reply> {
  const headers = {
    Authorization: `Bearer ${server.token}`,
    'Content-Type': contentType,
    'Content-Length': body.length,
  };
  const { port } = server;
  return new Promise((resolve) => {
    const failed = () => resolve({ status: 0, stages: [] });
    const sent = request({ port, method: 'POST', path: '/v1/analyze', headers, agent: false }, (answer) => {
      const timing = String(answer.headers['server-timing'] ?? '');
      const stages = [...timing.matchAll(/dur=(-?[\d.]+)/g)].map((match) => Number(match[1]));
      answer.resume().on('end', () => resolve({ status: answer.statusCode ?? 0, stages }));
    });
    sent.on('error', failed);
    sent.write(body.subarray(0, body.length / 2));
    setTimeout(() => {
      jump();
      sent.end(body.subarray(body.length / 2));
    }, halfWayMs);
  });
}

export async function jumpingClock(env: Readonly<Record<string, string>> = {}): Promise<Row[]> {
  installPackages(['libfaketime']);
  const folder = mkdtempSync(join(tmpdir(), 'undertone-clock-'));
  const file = join(folder, 'clock');
  const set = (offset: string) => writeFileSync(file, `${offset}\n`);
  set('+0');
  const faked = {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    UNDERTONE_LOG_LEVEL: 'silent',
    UNDERTONE_WORKERS: '1',
  };
  try {
    return await withServer({ ...faked, ...env }, async (server) => {
      const token = createToken(server.dataDir, '1h');
      const first = await analyzeAs(server, token);
      const replies: Reply[] = [];
      const expired: number[] = [];
      const valid: number[] = [first];
      for (const offset of ['+1d', '-1d', '+0']) {
        replies.push(await analyzeAcross(server, () => set(offset)));
        await sleep(memoryMs);
        (offset === '+1d' ? expired : valid).push(await analyzeAs(server, token));
      }
      return rowsOf(server, replies, expired, valid);
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function rowsOf(server: Server, replies: readonly Reply[], expired: number[], valid: number[]): Row[] {
  const wrong = replies.flatMap(({ stages }) => stages).filter((ms) => !(ms >= 0 && ms < longestStageMs));
  return [
    exactly(
      0,
      'clock: uploads across a jump not answered 200',
      `of ${replies.length}`,
      replies.filter(({ status }) => status !== 200).length,
      'forward a day, back two days, forward a day',
    ),
    exactly(0, 'clock: impossible durations in Server-Timing', 'stages', wrong.length),
    exactly(
      0,
      'clock: a token of one hour accepted a day later, or refused before',
      'answers',
      [...expired.filter((one) => one !== 401), ...valid.filter((one) => one !== 200)].length,
      `then ${expired.join(', ')}, else ${valid.join(', ')}`,
    ),
    exactly(0, 'clock: the service ended', 'times', isUp(server) ? 0 : 1),
  ];
}
