/** Validates responses against the document that the service publishes. */
import Ajv, { type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Answer } from '../support/client.ts';

export type Judge = (path: string, answer: Answer) => string | null;

/** @param url of the running service */
export async function createJudge(url: string): Promise<Judge> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as object;
  const ajv = new Ajv.default({ strict: false });
  addFormats.default(ajv);
  ajv.addSchema(document, 'document');
  const known = new Map<string, ValidateFunction>();
  function validator(path: string, status: number): ValidateFunction | null {
    const place = `#/paths/${path.replaceAll('/', '~1')}/post/responses/${status}/content/application~1json/schema`;
    const found = known.get(place) ?? compile(place);
    if (found !== null) known.set(place, found);
    return found;
  }
  function compile(place: string): ValidateFunction | null {
    try {
      return ajv.compile({ $ref: `document${place}` });
    } catch {
      return null;
    }
  }
  return (path, { status, type, body }) => {
    if (status >= 500) return `${status} ${body.slice(0, 200)}`;
    if (!type.startsWith('application/json')) return `${status} of type ${type}`;
    const parsed = parse(body);
    if (parsed === undefined) return `${status} that is no JSON: ${body.slice(0, 200)}`;
    if (!allFinite(parsed)) return `${status} with a number that is not finite`;
    const valid = validator(path, status);
    if (valid === null) return `${status}, which the document does not have`;
    return valid(parsed) ? null : `${status} against the schema: ${ajv.errorsText(valid.errors)}`;
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** JSON.parse reads 1e999 as infinity. */
function allFinite(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(allFinite);
}
