/** Shows the token in use and accepts a pasted one. */

import { button } from '../button.ts';
import { element } from '../dom.ts';
import { fold } from '../playground/card.ts';
import type { AuthState, Credentials } from './credentials.ts';

type CredentialsPanel = {
  /** Shows the current state. */
  show(): Promise<void>;
  /** Prompts for a token and shows the reason. */
  requestToken(reason: string): void;
};

/**
 * @param onToken called after a token was pasted
 * @param beforeLogIn called before the page is left for the log-in
 */
export function createCredentialsPanel(
  host: HTMLElement,
  access: Credentials,
  onToken: () => void = () => {},
  beforeLogIn: () => Promise<void> = async () => {},
): CredentialsPanel {
  /** Counts calls: a state that arrives after a later call is not shown. */
  let calls = 0;
  const invite = (reason: string | null) => {
    const form = pasteForm((token) => {
      access.paste(token);
      // The form that had the focus is gone.
      void show().then(() => host.querySelector('p')?.focus());
      onToken();
    });
    const paste = fold('Paste a token', form);
    paste.open = reason !== null;
    host.replaceChildren(
      ...(reason === null ? [] : [complaint(reason)]),
      element(
        'div',
        { class: 'row' },
        element('p', { class: 'access-reason' }, 'Analysing a recording needs a token.'),
        logInLink(beforeLogIn),
        paste,
      ),
    );
  };
  const forget = () => {
    access.forget();
    void show();
  };
  const show = async () => {
    calls++;
    const call = calls;
    const authState = await access.authState();
    if (call !== calls) return;
    if (authState.kind === 'none') invite(null);
    else host.replaceChildren(welcome(authState, forget));
  };
  return {
    show,
    requestToken: (reason) => {
      calls++;
      invite(reason);
      host.querySelector<HTMLElement>('a')?.focus();
    },
  };
}

function welcome(authState: Exclude<AuthState, { kind: 'none' }>, forget: () => void): HTMLElement {
  if (authState.kind === 'pasted') {
    const note = 'It stays in this tab and is gone when you reload.';
    return row('A pasted token is used.', note, button('plain', forget, 'Forget the token'));
  }
  if (authState.kind === 'link') {
    const until = authState.until.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
    const note = `In this tab, until ${until}, for analyses and Live. No account was created.`;
    return row('You are signed in by the link.', note, button('plain', forget, 'Sign out'));
  }
  const note = `As ${authState.email}. This page uses a token of its own, with both scopes, good for 15 minutes.`;
  return row('You are logged in.', note);
}

function row(title: string, note: string, ...more: readonly HTMLElement[]): HTMLElement {
  return element(
    'div',
    { class: 'row' },
    element('p', { tabindex: '-1' }, element('strong', {}, title), ' ', note),
    ...more,
  );
}

function complaint(reason: string): HTMLElement {
  return element('p', { class: 'notice warn', role: 'alert' }, reason);
}

function logInLink(beforeLogIn: () => Promise<void>): HTMLElement {
  const link = element('a', { href: '/account' }, 'Log in or sign up');
  link.addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    // Without storage the page is left without the recording.
    void beforeLogIn()
      .catch(() => {})
      .then(() => location.assign(link.href));
  });
  return link;
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
  const form = element('form', { class: 'field' }, label, element('div', { class: 'row' }, input, submit));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    onToken(input.value.trim());
  });
  return form;
}
