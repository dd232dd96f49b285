/** A mix of recordings, probes and pages; one request in ten is malformed or hostile. */
import { spawnSync } from 'node:child_process';
import type { Agent } from 'node:http';
import { speechFile } from '../../../benchmarks/speech.ts';
import { multipart, toneFile } from '../../../benchmarks/upload-body.ts';
import { mutate } from '../corpus/mutate.ts';
import { abort } from './abort.ts';
import { analysis, exchange, type Outcome } from './exchange.ts';
import type { Prng } from './prng.ts';

export type Target = { readonly port: number; readonly token: string };

/** Sends one request. @returns null for an expected outcome, else a description */
export type Send = () => Promise<string | null>;

export type Mix = {
  /** A random request. */
  draw(): Send;
};

const encodings: Readonly<Record<string, readonly string[]>> = {
  mp3: ['-f', 'mp3'],
  flac: ['-f', 'flac'],
  ogg: ['-f', 'ogg', '-c:a', 'libvorbis'],
  webm: ['-f', 'webm', '-c:a', 'libopus'],
  aac: ['-f', 'adts', '-c:a', 'aac'],
};

/** By ffmpeg, which the tests need as well. */
function encode(wav: Buffer, options: readonly string[]): Buffer {
  const args = ['-v', 'error', '-i', 'pipe:0', ...options, 'pipe:1'];
  const { status, stdout, stderr } = spawnSync('ffmpeg', args, { input: wav, maxBuffer: 1 << 28 });
  if (status !== 0) throw new Error(`ffmpeg ended with ${status}: ${String(stderr)}`);
  return stdout;
}

function recordings(): readonly Buffer[] {
  const wav = speechFile(1, 1);
  const encoded = Object.values(encodings).map((options) => encode(wav, options));
  return [wav, speechFile(2, 2), wav, toneFile(1), ...encoded];
}

const form = (bytes: Uint8Array) => multipart([{ name: 'audio', bytes }]);
const paths = ['/v1/analyze', '/v1/analyze/emotion', '/v1/analyze/cognitive'] as const;
const pages = ['/health', '/ready', '/metrics', '/v1/models', '/openapi.json', '/', '/nothing'] as const;

function expecting(what: string, statuses: readonly number[], outcome: Outcome): string | null {
  if (outcome.error === null && statuses.includes(outcome.status)) return null;
  return `${what}: ${outcome.error ?? outcome.status}`;
}

export function createMix(target: Target, agent: Agent, prng: Prng): Mix {
  const sounds = recordings();
  const { pick } = prng;
  const upload = async (what: string, body: Buffer, statuses: readonly number[], token = target.token) => {
    const ask = analysis({ ...target, token }, body, { agent, path: pick(paths) });
    return expecting(what, statuses, await exchange(ask));
  };
  const damage = (whole: Buffer) => mutate(whole, prng, sounds);
  const hostile: readonly Send[] = [
    () => upload('a damaged recording', form(damage(pick(sounds))), [200, 422]),
    () => upload('a damaged form', damage(form(pick(sounds))), [200, 422]),
    () => upload('a wrong token', form(pick(sounds)), [401], 'a-token-that-nobody-has'),
    () => upload('no recording', multipart([{ name: 'file', bytes: 'x' }]), [422]),
    () => upload('an empty recording', form(Buffer.alloc(0)), [422]),
    () => abort(target, form(pick(sounds)), prng).then(() => null),
  ];
  const recording: Send = () => upload('a recording', form(pick(sounds)), [200]);
  const page: Send = async () => {
    const path = pick(pages);
    const outcome = await exchange({ port: target.port, path, agent });
    return expecting(path, [path === '/nothing' ? 404 : 200], outcome);
  };
  return {
    draw: () => {
      const share = prng.next();
      if (share < 0.1) return pick(hostile);
      return share < 0.2 ? page : recording;
    },
  };
}
