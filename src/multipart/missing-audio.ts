/** The error of a request without a recording: what came instead, and the form to send. */
import { invalidPart, type ServiceError } from '../runtime/errors.ts';

/** Shape of a media type that an error may repeat. */
export const mediaType = /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/;
const partName = /^[\w.[\]-]{1,32}$/;
const maxNames = 4;
const expected = 'field required: expected a recording in the part `audio` of a form (multipart/form-data)';
const example = 'curl -F audio=@recording.wav';

/** @param contentType that of a body that is no form */
export function missingForm(contentType: string | undefined): ServiceError {
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return missing(gotBody(type), 'Send the file as a form');
}

/** @param names those of the parts of a form */
export function missingPart(names: readonly string[]): ServiceError {
  const shown = names
    .slice(0, maxNames)
    .map((name) => (partName.test(name) ? `\`${name}\`` : 'a part of another name'));
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : '';
  const got = names.length === 0 ? 'a form without parts' : `a form with ${shown.join(', ')}${more}`;
  return missing(got, 'Name the part `audio`');
}

function gotBody(type: string): string {
  if (type === '') return 'no Content-Type';
  if (/^(audio|video)\/[\w.+-]{1,64}$/.test(type)) return `the file itself as ${type}`;
  if (type === 'application/json') return 'JSON (application/json)';
  return mediaType.test(type) ? `a body of ${type}` : 'another Content-Type';
}

function missing(got: string, todo: string): ServiceError {
  return invalidPart('audio', 'missing', `${expected}, got ${got}. ${todo}: ${example}`);
}
