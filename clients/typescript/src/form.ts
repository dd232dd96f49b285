/** The form of an upload. */
import type { FormOptions } from './client.ts';
import { type Recording, readRecording } from './recording.ts';

export async function makeForm(
  audio: Recording,
  { baseline, channel, track, channels, segments, speakers, receipt }: FormOptions,
): Promise<FormData> {
  const form = new FormData();
  form.append('audio', await readRecording(audio, 'audio'));
  const baselines = baseline === undefined ? [] : [baseline].flat();
  for (const one of baselines) form.append('baseline', await readRecording(one, 'baseline'));
  if (channel !== undefined) form.append('channel', String(channel));
  if (track !== undefined) form.append('track', String(track));
  if (channels !== undefined) form.append('channels', channels);
  if (segments !== undefined) {
    form.append('segments', typeof segments === 'string' ? segments : JSON.stringify(segments));
  }
  if (speakers !== undefined) form.append('speakers', speakers);
  if (receipt) form.append('receipt', 'true');
  return form;
}
