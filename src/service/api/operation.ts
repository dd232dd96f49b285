/** One operation of the document: its requests and responses. */
import { type ErrorCode, errorTable, httpStatus } from '../errors.ts';
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
  /** Errors in addition to those of every path. */
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
