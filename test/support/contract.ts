/** The published document as a judge of answers. */
import Ajv, { type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

export type Schema = {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly [key: string]: unknown;
};
type Response = { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
type Operation = { readonly responses: Readonly<Record<string, Response>> };

export type Document = {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

export type Contract = {
  /** Null, or how the answer differs from the document. `asked` is METHOD /path as the document has it. */
  fault(asked: string, status: number, body: unknown): string | null;
  /** Every METHOD /path with its statuses. */
  readonly documented: ReadonlyMap<string, readonly number[]>;
};

const json = 'application/json';

export function createContract(document: Document): Contract {
  const ajv = new Ajv.default({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document, 'document');
  const validators = new Map<string, ValidateFunction>();

  function validatorOf(keys: readonly string[]): ValidateFunction {
    const place = keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
    const known = validators.get(place) ?? ajv.compile({ $ref: `document#${encodeURI(place)}` });
    validators.set(place, known);
    return known;
  }

  return {
    fault(asked, status, body) {
      const [method = '', path = ''] = asked.split(' ');
      const content = document.paths[path]?.[method.toLowerCase()]?.responses[status]?.content;
      if (content === undefined) return `${asked} does not document ${status}`;
      if (content[json] === undefined) return null;
      const keys = ['paths', path, method.toLowerCase(), 'responses', String(status), 'content', json];
      const validate = validatorOf([...keys, 'schema']);
      return validate(body) ? null : `${asked} ${status} ${JSON.stringify(validate.errors)}`;
    },
    documented: new Map(
      Object.entries(document.paths).flatMap(([path, operations]) =>
        Object.entries(operations).map(
          ([method, { responses }]) =>
            [`${method.toUpperCase()} ${path}`, Object.keys(responses).map(Number)] as const,
        ),
      ),
    ),
  };
}
