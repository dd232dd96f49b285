/** One operation of the document: its requests and responses. */

import { channelModes, speakerModes } from '../../engine/index.ts';
import { maxBaselines } from '../../engine/schema.ts';
import { containers } from '../../node/audio-formats.ts';
import { type ErrorCode, errorTable, httpStatus } from '../errors.ts';
import { expectedMetadata, flags, maxMetadataBytes } from '../form.ts';
import examples from './examples.json' with { type: 'json' };
import type { CodeSample } from './samples.ts';
import { type SchemaName, schemaRef } from './schemas.ts';

export type Answers = Readonly<Record<string, ExampleResponse>>;
type Body = { readonly type: string; readonly schema: object };

export type Operation = {
  readonly method: 'get' | 'post' | 'delete';
  readonly path: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly security: readonly object[];
  readonly parameters?: readonly object[];
  readonly requestBody?: object;
  readonly ok: Body;
  /** Status of success; 200 by default. */
  readonly status?: 200 | 202;
  readonly headers?: readonly string[];
  /** Schema of 413 and 422. */
  readonly invalid: SchemaName;
  /** Errors beside those of every path. */
  readonly codes: readonly ErrorCode[];
  /** None for operations of the account page, which programs do not call. */
  readonly samples: readonly CodeSample[];
};

export const json = (name: SchemaName): Body => ({ type: 'application/json', schema: schemaRef(name) });

const everywhere: readonly ErrorCode[] = [
  'bad_request',
  'timeout',
  'content_coding',
  'headers_too_large',
  'internal',
  'transfer_coding',
];

/** Builds an OpenAPI operation object. */
export function toOperationObject(operation: Operation, answers: Answers): object {
  const {
    method,
    path,
    tag,
    ok,
    status = 200,
    invalid: _,
    headers = [],
    codes: __,
    samples,
    ...rest
  } = operation;
  const route = `${method.toUpperCase()} ${path}`;
  const content = { [ok.type]: { schema: ok.schema, ...withExamples(answers, route, status) } };
  return {
    ...rest,
    tags: [tag],
    ...(samples.length > 0 && { 'x-codeSamples': samples }),
    responses: {
      [status]: {
        description: status === 202 ? 'Accepted.' : 'Done.',
        headers: headersOf('X-Request-Id', ...headers),
        content,
      },
      ...errorResponses(operation, route, answers),
    },
  };
}

function errorResponses(
  operation: Operation,
  route: string,
  answers: Answers,
): Readonly<Record<string, object>> {
  const codes = [...everywhere, ...operation.codes];
  const statuses = [...new Set(codes.map(httpStatus))].sort();
  return Object.fromEntries(
    statuses.map((status) => {
      const here = codes.filter((code) => httpStatus(code) === status);
      const schema = schemaRef(
        here.some((code) => code === 'invalid' || code === 'too_large') ? operation.invalid : 'Failure',
      );
      const description = here.map((code) => `\`${code}\`: ${errorTable[code].when}.`).join(' ');
      const content = { 'application/json': { schema, ...withExamples(answers, route, status) } };
      return [status, { description, headers: headersOf('X-Request-Id', ...errorHeaders(here)), content }];
    }),
  );
}

function errorHeaders(codes: readonly ErrorCode[]): string[] {
  const has = (...some: readonly ErrorCode[]) =>
    codes.some((one) => some.some((code) => httpStatus(one) === httpStatus(code)));
  return [
    ...(has('unauthenticated') ? ['WWW-Authenticate'] : []),
    ...(has('overloaded', 'rate_limited') ? ['Retry-After'] : []),
  ];
}

function headersOf(...names: readonly string[]): object {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function withExamples(answers: Answers, route: string, status: number): object {
  const examples = examplesOf(answers, route, status);
  return Object.keys(examples).length === 0 ? {} : { examples };
}

// Recorded answers of the service: the examples of the OpenAPI document.

export type ExampleResponse = {
  /** Describes the request. */
  readonly summary: string;
  /** Method and path. */
  readonly request: string;
  readonly status: number;
  readonly body: object;
};

type Examples = Readonly<Record<string, { readonly summary: string; readonly value: object }>>;

/** Written by `npm run answers`. */
export const exampleResponses: Readonly<Record<string, ExampleResponse>> = examples;

/** Examples of one operation and status. The analysis paths share their errors. */
function examplesOf(
  answers: Readonly<Record<string, ExampleResponse>>,
  route: string,
  status: number,
): Examples {
  const family = (text: string) => (status < 400 ? text : text.replace(/^(POST \/v1\/analyze).*/, '$1'));
  const found = Object.entries(answers).filter(
    ([, answer]) => answer.status === status && family(answer.request) === family(route),
  );
  return Object.fromEntries(found.map(([name, { summary, body }]) => [name, { summary, value: body }]));
}

// Multipart request bodies.

const recordings =
  'audio/*, video/*, application/octet-stream, binary/octet-stream, application/ogg, application/mp4';
const names = Object.keys(containers);
const formats = `${names.slice(0, -1).join(', ')} or ${names.at(-1)}, detected from the content. The first audio stream of a video is used.`;

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
              'The same speaker at rest, one part per recording, each with at least 0.5 s of speech: cognitive_load and processing become relative to their mean (0.5 means no change), and `relative` of emotion is the change of valence and arousal.',
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
              '`split`: one report per channel of a recording with exactly two, and their conversation. Not beside `channel` or `baseline`, and only for POST /v1/analyze and POST /v1/jobs.',
          },
          segments: {
            type: 'string',
            maxLength: 2 ** 18,
            description:
              'Who speaks when: a JSON array of {"start", "end", "speaker"} with times in seconds, or RTTM; at most 1000 segments of 20 speakers. One report per speaker. Not beside `channels` or `baseline`, and only for POST /v1/analyze and POST /v1/jobs.',
          },
          speakers: {
            type: 'string',
            enum: speakerModes,
            description:
              'Separates voices on one channel: `2` to `6` of them, or `auto` for as many as are found. One report per voice, as with `segments`, and their conversation; for one voice, one report, equal to that without the part but for the warning `several_speakers`. Not beside `channels`, `segments` or `baseline`, and only for POST /v1/analyze and POST /v1/jobs.',
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
