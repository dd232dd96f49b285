/** Recorded answers of the service: the examples of the OpenAPI document. */
import examples from './examples.json' with { type: 'json' };

export type ExampleResponse = {
  /** Describes the request. */
  readonly summary: string;
  /** Method and path. */
  readonly request: string;
  readonly status: number;
  readonly body: object;
};

export type Examples = Readonly<Record<string, { readonly summary: string; readonly value: object }>>;

/** Written by `npm run answers`. */
export const exampleResponses: Readonly<Record<string, ExampleResponse>> = examples;

/** Examples of one operation and status. The analysis paths share their errors. */
export function examplesOf(
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
