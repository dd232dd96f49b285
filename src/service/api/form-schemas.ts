/** The multipart forms of uploads, for analyses and jobs. */
import { channelModes, speakerModes } from '../../engine/index.ts';
import { maxBaselines } from '../../engine/schema.ts';
import { containers } from '../../node/audio-formats.ts';
import { flags } from '../form.ts';
import { expectedMetadata, maxMetadataBytes } from '../metadata.ts';

const recordings =
  'audio/*, video/*, application/octet-stream, binary/octet-stream, application/ogg, application/mp4';
const names = Object.keys(containers);
const formats = `${names.slice(0, -1).join(', ')} or ${names.at(-1)}, detected from the content. Of several audio tracks \`track\`, otherwise the default one or the first that decodes, is used.`;

const receipt = {
  type: 'string',
  enum: flags,
  default: 'false',
  description:
    '`true`: the report has a signed `receipt`, with which it can be checked later (docs/receipts.md).',
};

/** Parts that exclude each other, in a form that does not keep Schemathesis from generating forms, as `not` does. */
const exclusive = {
  channels: { properties: { channel: false, baseline: false } },
  segments: { properties: { channels: false, baseline: false } },
  speakers: { properties: { channels: false, segments: false, baseline: false } },
};

function form(limits: string, others: Readonly<Record<string, object>> = {}) {
  return {
    'multipart/form-data': {
      schema: {
        type: 'object',
        required: ['audio'],
        dependentSchemas: exclusive,
        properties: {
          audio: {
            type: 'string',
            format: 'binary',
            description: `The recording: ${formats} ${limits}`,
          },
          baseline: {
            type: 'array',
            maxItems: maxBaselines,
            items: { type: 'string', format: 'binary', description: 'A recording.' },
            description:
              'The same speaker at rest, one part per recording, each with at least 0.5 s of speech: cognitive_load and processing become relative to their mean (0.5 means no change), and `relative` of emotion is the change of valence and arousal from them.',
          },
          channel: {
            type: 'integer',
            minimum: 0,
            maximum: 9999,
            description:
              '0-based index of the channel to analyse instead of the average of all; of each baseline that has this channel too.',
          },
          track: {
            type: 'integer',
            minimum: 0,
            maximum: 9999,
            description:
              '0-based index of the audio track to analyse, instead of the one that the file marks as default or else the first that decodes; of each baseline that has this track too. Tracks of video do not count.',
          },
          channels: {
            type: 'string',
            enum: channelModes,
            description:
              '`split`: one report per channel of a recording with exactly two, and their conversation. Not with `channel` or `baseline`, and only for POST /v1/analyze and POST /v1/jobs.',
          },
          segments: {
            type: 'string',
            maxLength: 2 ** 18,
            description:
              'Who speaks when: a JSON array of {"start", "end", "speaker"} with times in seconds, or RTTM; at most 1000 segments of 20 speakers. One report per speaker. Not with `channels` or `baseline`, and only for POST /v1/analyze and POST /v1/jobs.',
          },
          speakers: {
            type: 'string',
            enum: speakerModes,
            description:
              'Separates voices on one channel: `2` to `6` of them, or `auto` for as many as are found. One report per voice, as with `segments`, and their conversation; for one voice, one report, equal to that without the part but for the warnings `several_speakers` and `speakers_not_compared`. Not with `channels`, `segments` or `baseline`, and only for POST /v1/analyze and POST /v1/jobs.',
          },
          receipt,
          ...others,
        },
      },
      encoding: { audio: { contentType: recordings } },
    },
  };
}

const parts =
  'The first part of each name is used, up to five of `baseline`; others are ignored, and listed as `ignored` in the report. File names serve errors about data without a header alone.';

export const upload = {
  required: true,
  description: parts,
  content: form('By default at most 25 MiB per request, 15 minutes, 8 channels, 4 to 384 kHz.'),
};

/** @param list schema of the JSON body, a list of URLs */
export function jobUpload(list: { readonly $ref: string }) {
  const callback = {
    type: 'string',
    format: 'uri',
    description: 'URL that receives the finished job: https, on a public host.',
  };
  const metadata = {
    type: 'string',
    maxLength: maxMetadataBytes,
    description: `Data of the client, returned with the job: ${expectedMetadata}.`,
  };
  return {
    required: true,
    description: `${parts} Or JSON, if the operator allows URLs of recordings.`,
    content: {
      ...form('By default at most 512 MiB, 12 hours, 8 channels, 4 to 384 kHz.', { callback, metadata }),
      'application/json': {
        schema: list,
        example: { urls: ['https://recordings.example/one.wav', 'https://recordings.example/two.mp3'] },
      },
    },
  };
}
