/** Says with which token analyses are sent, and takes a pasted one. */

import { type Child, element } from '../dom.ts';
import type { Access, Standing } from './access.ts';
import { button } from './button.ts';

export type AccessPanel = {
  /** Shows how things stand. */
  show(): Promise<void>;
  /** Asks for a token, with the reason. */
  ask(reason: string): void;
};

/** @param onToken called when a token was pasted */
export function createAccessPanel(host: HTMLElement, access: Access, onToken: () => void): AccessPanel {
  const invite = (reason: string | null) => {
    const form = pasteForm((token) => {
      access.paste(token);
      void show();
      onToken();
    });
    fill(host, 'Log in, or paste a token', reason === null ? null : complaint(reason), invitation(), form);
  };
  const forget = () => {
    access.forget();
    void show();
  };
  const show = async () => {
    const standing = await access.standing();
    if (standing.kind === 'none') invite(null);
    else fill(host, ...welcome(standing, forget));
  };
  return {
    show,
    ask: (reason) => {
      invite(reason);
      host.querySelector<HTMLElement>('a')?.focus();
    },
  };
}

function fill(host: HTMLElement, title: string, ...content: readonly Child[]): void {
  host.replaceChildren(element('h2', {}, title), ...content.filter((child) => child !== null));
}

function welcome(standing: Exclude<Standing, { kind: 'none' }>, forget: () => void): [string, ...Child[]] {
  if (standing.kind === 'pasted') {
    const note = 'It stays in this tab and is gone when you reload.';
    return ['A pasted token is used', sentence(note), button('plain flush', forget, 'Forget the token')];
  }
  const note = `As ${standing.email}. The playground uses a token of its own, good for 15 minutes and for analyses alone.`;
  return ['You are logged in', sentence(note)];
}

function sentence(text: string): HTMLElement {
  return element('p', { class: 'muted small' }, text);
}

function complaint(reason: string): HTMLElement {
  return element('p', { class: 'notice warn', role: 'alert' }, reason);
}

function invitation(): HTMLElement {
  const link = element('a', { href: '/account' }, 'Log in or sign up');
  return element('p', { class: 'small' }, link, ', then come back: the playground gets a token by itself.');
}

function pasteForm(onToken: (token: string) => void): HTMLFormElement {
  const input = element('input', {
    id: 'token',
    class: 'input',
    type: 'password',
    autocomplete: 'off',
    spellcheck: 'false',
    required: '',
    pattern: ' *[A-Za-z0-9._~+\\/\\-]+=* *',
    title: 'A token is one word of letters, digits and . _ ~ + / -',
  });
  const submit = element('button', { type: 'submit', class: 'button' }, 'Use this token');
  const label = element('label', { for: 'token' }, 'Token');
  const form = element('form', { class: 'field' }, label, input, submit);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    onToken(input.value.trim());
  });
  return form;
}
