/** The form of an upload. */
import type { FormOptions } from './client.ts';
import { type Recording } from './recording.ts';
export declare function makeForm(audio: Recording, { baseline, channel, channels, segments, receipt }: FormOptions): Promise<FormData>;
