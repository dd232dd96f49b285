/** Real answers of the service, as `npm run answers` wrote them: the examples of the document. */
import { createRequire } from 'node:module';

export type ExampleResponse = {
  /** What was asked, in words. */
  readonly summary: string;
  /** Method and path. */
  readonly asked: string;
  readonly status: number;
  readonly body: object;
};

export type Examples = Readonly<Record<string, { readonly summary: string; readonly value: object }>>;

const require = createRequire(import.meta.url);

/** The sources lie as deep as what is built. */
export function readExamples(): Readonly<Record<string, ExampleResponse>> {
  return require('../../examples/answers.json');
}

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
