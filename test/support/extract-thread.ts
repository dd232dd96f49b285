/** Decodes and extracts fifty times over in a thread of its own. */
import {
  type DecodeOptions,
  decode,
  extract,
  type FeatureSpec,
  type Features,
} from '../../src/audio/addon.ts';

export type ExtractTask = {
  readonly bytes: Uint8Array;
  readonly options: DecodeOptions;
  readonly spec: FeatureSpec;
};

export function run({ bytes, options, spec }: ExtractTask): Features {
  for (let i = 1; i < 50; i += 1) extract(decode(bytes, options).samples, spec);
  return extract(decode(bytes, options).samples, spec);
}
