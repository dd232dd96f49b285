/** Forms that are sent by script, with errors beside their fields. */
import { element } from '../dom.ts';
import { Refusal } from './api.ts';
import { messageOf, titleOf } from './messages.ts';

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
