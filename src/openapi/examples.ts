/** Recorded answers of the service: the examples of the OpenAPI document. */
import examples from './examples.json' with { type: 'json' };

export type ExampleResponse = {
  /** What was asked, in words. */
  readonly summary: string;
  /** Method and path. */
  readonly asked: string;
  readonly status: number;
  readonly body: object;
};

export type Examples = Readonly<Record<string, { readonly summary: string; readonly value: object }>>;

/** Written by `npm run answers`. */
export const exampleResponses: Readonly<Record<string, ExampleResponse>> = examples;

/** Those of one operation and status; failures look alike on the three analysis paths. */
export function examplesOf(
  answers: Readonly<Record<string, ExampleResponse>>,
  asked: string,
  status: number,
): Examples {
  const family = (text: string) => (status < 400 ? text : text.replace(/^(POST \/v1\/analyze).*/, '$1'));
  const found = Object.entries(answers).filter(
    ([, answer]) => answer.status === status && family(answer.asked) === family(asked),
  );
  return Object.fromEntries(found.map(([name, { summary, body }]) => [name, { summary, value: body }]));
}
