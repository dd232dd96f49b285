/** The content of the page /trust of a service. */
import { createHash } from 'node:crypto';
import type { Config } from '../runtime/config.ts';
import { type Answers, type Failure, readFailureScores, readFailures, readRecording } from './failures.ts';
import { type FailureRecording, type TrustOptions, trustPage } from './page.ts';

export type Trust = {
  /** HTML */
  readonly content: string;
  /** By name, which contains a hash of the content. */
  readonly files: ReadonlyMap<string, Buffer>;
};

export async function readTrust(
  options: Omit<TrustOptions, 'recordings'> & { readonly config: Pick<Config, 'modelsDir'> },
): Promise<Trust> {
  const answers = await readFailureScores(options.config.modelsDir);
  const all = answers === null ? [] : await readFailures();
  const read = await Promise.all(all.map((failure) => readAnswered(failure, answers as Answers)));
  return {
    content: trustPage({ ...options, recordings: read.map(({ recording }) => recording) }),
    files: new Map(read.map(({ name, bytes }) => [name, bytes])),
  };
}

async function readAnswered(
  failure: Failure,
  answers: Answers,
): Promise<{ readonly recording: FailureRecording; readonly name: string; readonly bytes: Buffer }> {
  const bytes = await readRecording(failure);
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 12);
  const name = failure.file.replace('.', `-${hash}.`);
  return {
    recording: { ...failure, path: `/trust/${name}`, answer: answers[failure.file] ?? {} },
    name,
    bytes,
  };
}
