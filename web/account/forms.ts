/** Forms of the account page, with errors next to their fields, and the sentences for errors. */
import { element } from '../elements.ts';
import { Refusal } from './requests.ts';

type FormOptions = {
  readonly onSend: (fields: FormData) => Promise<void>;
  /** Message for a 401 in this form. */
  readonly unauthenticated?: string;
};

export function handle(form: HTMLFormElement, { onSend, unauthenticated }: FormOptions): void {
  const button = form.querySelector('button');
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (form.ariaBusy === 'true') return;
    form.ariaBusy = 'true';
    clear(form);
    if (button) button.disabled = true;
    try {
      await onSend(new FormData(form));
      form.reset();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const marked = error.items.filter(({ loc, type, msg }) =>
        mark(form, loc[1] ?? '', messageOf({ type, msg })),
      );
      const isOwn = error.status === 401 && unauthenticated !== undefined;
      if (marked.length === 0) complain(form, isOwn ? unauthenticated : titleOf(error));
      form.querySelector<HTMLElement>('[aria-invalid]')?.focus();
    } finally {
      form.ariaBusy = null;
      if (button) button.disabled = false;
    }
  });
}

/** At the end of the form, below its button. */
function complain(form: HTMLFormElement, sentence: string): void {
  form.append(element('p', { class: 'notice bad form-fault', role: 'alert' }, sentence));
}

function clear(form: HTMLFormElement): void {
  for (const fault of form.querySelectorAll('.field-fault, .form-fault')) fault.remove();
  for (const field of form.querySelectorAll('[aria-invalid]')) {
    field.removeAttribute('aria-invalid');
    field.removeAttribute('aria-errormessage');
  }
}

/** False when the form has no such field. */
function mark(form: HTMLFormElement, name: string, sentence: string): boolean {
  const field = form.querySelector<HTMLElement>(`[name="${CSS.escape(name)}"]`);
  const place = field?.closest('.field');
  if (!field || !place) return false;
  const id = `${form.id}-${name}-fault`;
  field.setAttribute('aria-invalid', 'true');
  field.setAttribute('aria-errormessage', id);
  field.addEventListener('input', () => clear(form), { once: true });
  place.append(element('p', { class: 'field-fault', id, role: 'alert' }, sentence));
  return true;
}

// Sentences for errors.

/** By the type of a validation error. */
const items: Readonly<Record<string, string>> = {
  'value_error.missing': 'This field is required.',
  'value_error.email': 'Enter an e-mail address, such as name@example.org.',
  'value_error.email.taken': 'This address has an account: log in instead.',
  'value_error.password': 'Use 10 to 128 characters.',
  'value_error.new_password': 'Use 10 to 128 characters.',
  'value_error.name':
    'Use 1 to 64 letters, digits, spaces or . _ @ -, with a letter or digit at both ends and without tok_ at the start.',
  'value_error.name.taken':
    'Another of your tokens has this name: choose a different one, or revoke that token.',
  'value_error.scopes': 'Select at least one.',
};

function messageOf(item: { readonly type: string; readonly msg: string }): string {
  return items[item.type] ?? item.msg;
}

export function titleOf({ status, message, retryAfterSeconds }: Refusal): string {
  if (status === 0) return 'The service is unreachable. Check your connection and try again.';
  if (status === 401) return 'Your session has ended. Log in again.';
  if (status === 422) return 'Some fields are invalid.';
  if (status === 429) return `Too many attempts. Try again in ${minutes(retryAfterSeconds)}.`;
  if (status === 503) return 'The service cannot reach its database. Try again in a moment.';
  return status >= 500 ? 'Internal error of the service. Try again in a moment.' : message;
}

function minutes(seconds: number): string {
  const count = Math.max(1, Math.ceil(seconds / 60));
  return count === 1 ? 'a minute' : `${count} minutes`;
}
