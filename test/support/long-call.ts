/** A call of an hour, which the service would analyse for minutes: its report repeats that of a short call. */
import type { Page } from 'playwright-core';
import type { ChannelsReport } from '../../src/tools/index.ts';

type Channel = ChannelsReport['channels'][0];

export const hourSeconds = 3600;
/** One of so many repetitions has the moments. */
const momentEvery = 10;

/** Seconds of quiet beeps, one byte per sample. */
export function beeps(seconds: number): Buffer {
  const rate = 4000;
  const wav = Buffer.alloc(44 + seconds * rate, 128);
  wav.write('RIFF\0\0\0\0WAVEfmt ', 'latin1');
  wav.writeUInt32LE(36 + seconds * rate, 4);
  wav.writeUInt32LE(16, 16);
  for (const [at, value] of [1, 1].entries()) wav.writeUInt16LE(value, 20 + 2 * at);
  for (const [at, value] of [rate, rate].entries()) wav.writeUInt32LE(value, 24 + 4 * at);
  wav.writeUInt16LE(1, 32);
  wav.writeUInt16LE(8, 34);
  wav.write('data', 36, 'latin1');
  wav.writeUInt32LE(seconds * rate, 40);
  for (let at = 0; at < seconds * rate; at++) {
    const isLoud = at % (4 * rate) < 3 * rate;
    if (isLoud) wav[44 + at] = 128 + Math.round(40 * Math.sin(at / 2) * Math.sin(at / rate / 40));
  }
  return wav;
}

/** @param drift added to valence and arousal at most */
export function repeatCall(call: ChannelsReport, seconds: number, drift = 0.2): ChannelsReport {
  const { duration_s } = call.audio;
  const copies = Array.from({ length: Math.floor(seconds / duration_s) }, (_, index) => index);
  const repeat = (channel: Channel, voice: number): Channel => {
    const { emotion } = channel;
    const shift = <Timed extends { start_s: number; end_s: number }>(one: Timed, copy: number): Timed => ({
      ...one,
      start_s: one.start_s + copy * duration_s,
      end_s: one.end_s + copy * duration_s,
    });
    const clamp = (value: number) => Math.min(1, Math.max(0, value));
    const move = <Scored extends (typeof emotion.timeline)[number]>(one: Scored, copy: number): Scored => {
      const change = drift * Math.sin(copy / 6 + 2 * voice);
      const interval = (pair: readonly [number, number] | null) =>
        pair && ([clamp(pair[0] + change), clamp(pair[1] + change)] as [number, number]);
      return {
        ...one,
        valence: one.valence === null ? null : clamp(one.valence - change),
        arousal: one.arousal === null ? null : clamp(one.arousal + change),
        intervals: { ...one.intervals, arousal: interval(one.intervals?.arousal ?? null) },
      };
    };
    return {
      ...channel,
      audio: { ...channel.audio, duration_s: seconds },
      emotion: {
        ...emotion,
        timeline: copies.flatMap((copy) => emotion.timeline.map((one) => move(shift(one, copy), copy))),
        moments:
          emotion.moments &&
          copies
            .filter((copy) => copy % momentEvery === 0)
            .flatMap((copy) => (emotion.moments ?? []).map((one) => shift(one, copy))),
      },
    };
  };
  const [first, second] = call.channels;
  // The page requests the channels of a stereo recording once more.
  const audio = { ...call.audio, channels: 1, duration_s: seconds };
  return { ...call, audio, channels: [repeat(first, 0), repeat(second, 1)] };
}

/** Answers every analysis with the report. */
export async function stubAnalysis(page: Page, report: object): Promise<void> {
  await page.route('**/v1/analyze', (route) => route.fulfill({ json: report }));
}
