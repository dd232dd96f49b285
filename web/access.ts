/** The token of analysis requests, and the panel that shows it: pasted, of the link that the service printed, or of the log-in. */
import { button, element, fold } from './elements.ts';

export type Access = {
  /** Shows the token in use, or how to get one. */
  show(): Promise<void>;
  /** Prompts for a token and shows the reason. */
  requestToken(reason: string): void;
  /** Null without a session, a link and a pasted token. */
  token(): Promise<string | null>;
  /** Drops a rejected token. */
  forget(): void;
  /** Drops a rejected token unless it was pasted, and shows the new state. */
  forgetUnlessPasted(): Promise<void>;
  /** Signs in with the code of the address, if it has one, now and whenever the address changes. */
  signInByLink(): void;
};

type AccessOptions = {
  /** Called after a token was pasted. */
  readonly onToken?: () => void;
  /** Called before the page is left for the log-in. */
  readonly beforeLogIn?: () => Promise<void>;
};

const refusedLink =
  'The link was not accepted: it works once, for 10 minutes, on the machine of the service. Start the service again for a new link.';

export function createAccess(
  host: HTMLElement,
  { onToken = () => {}, beforeLogIn = async () => {} }: AccessOptions = {},
): Access {
  const credentials = createCredentials();
  /** Counts calls: a state that arrives after a later call is not shown. */
  let calls = 0;
  const show = async () => {
    calls++;
    const call = calls;
    const authState = await credentials.authState();
    if (call !== calls) return;
    if (authState.kind === 'none') invite(null);
    else host.replaceChildren(welcome(authState, forget));
  };
  const forget = () => {
    credentials.forget();
    void show();
  };
  const invite = (reason: string | null) => {
    const form = pasteForm((token) => {
      credentials.paste(token);
      // The form that had the focus is gone.
      void show().then(() => host.querySelector('p')?.focus());
      onToken();
    });
    const paste = fold('Paste a token', form);
    paste.open = reason !== null;
    host.replaceChildren(
      ...(reason === null ? [] : [element('p', { class: 'notice warn', role: 'alert' }, reason)]),
      element(
        'div',
        { class: 'row' },
        element('p', { class: 'access-reason' }, 'Analysing a recording needs a token.'),
        logInLink(beforeLogIn),
        paste,
      ),
    );
  };
  const requestToken = (reason: string) => {
    calls++;
    invite(reason);
    host.querySelector<HTMLElement>('a')?.focus();
  };
  const signIn = async (code: string) => {
    if (await credentials.signIn(code)) return show();
    requestToken(refusedLink);
  };
  return {
    show,
    requestToken,
    token: credentials.token,
    forget: credentials.forget,
    forgetUnlessPasted: async () => {
      if ((await credentials.authState()).kind !== 'pasted') forget();
    },
    signInByLink: () => {
      const signInByCode = () => {
        const code = readCode();
        if (code !== null) void signIn(code);
        return code !== null;
      };
      if (!signInByCode()) void show();
      // Other fragments, such as the link to the content, leave the form as it is.
      addEventListener('hashchange', signInByCode);
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

// The token.

type AuthState =
  | { readonly kind: 'session'; readonly email: string }
  | { readonly kind: 'pasted' }
  | { readonly kind: 'link'; readonly until: Date }
  | { readonly kind: 'none' };

type Credentials = Pick<Access, 'token' | 'forget'> & {
  authState(): Promise<AuthState>;
  paste(token: string): void;
  /** Returns whether the code of the link was accepted. */
  signIn(code: string): Promise<boolean>;
};

type PageToken = { readonly token: string; readonly expires_at: string };
type Session = { readonly user: { readonly email: string } | null };

/** A token that expires sooner is replaced before use. */
const minRemainingMs = 60_000;

function createCredentials(): Credentials {
  let pasted: string | null = null;
  let playgroundToken: PageToken | null = null;
  const isFresh = ({ expires_at }: PageToken) => Date.parse(expires_at) - Date.now() > minRemainingMs;
  return {
    authState: async () => {
      if (pasted !== null) return { kind: 'pasted' };
      const link = readLinkToken();
      if (link !== null) return { kind: 'link', until: new Date(link.expires_at) };
      const session = await fetchJson<Session>('GET', '/account/api/session');
      return session?.user ? { kind: 'session', email: session.user.email } : { kind: 'none' };
    },
    token: async () => {
      const chosen = pasted ?? readLinkToken()?.token ?? null;
      if (chosen !== null) return chosen;
      if (playgroundToken === null || !isFresh(playgroundToken))
        playgroundToken = await fetchJson<PageToken>('POST', '/account/api/playground-token');
      return playgroundToken?.token ?? null;
    },
    forget: () => {
      pasted = null;
      playgroundToken = null;
      storeLinkToken(null);
    },
    paste: (token) => {
      pasted = token;
    },
    signIn: async (code) => {
      const token = await redeemCode(code);
      if (token !== null) storeLinkToken(token);
      return token !== null;
    },
  };
}

/** Null for an error response or an unreachable service. */
async function fetchJson<T>(method: 'GET' | 'POST', path: string): Promise<T | null> {
  const response = await fetch(path, { method }).catch(() => null);
  return response?.ok ? ((await response.json()) as T) : null;
}

// The one-time code of the link that the service prints at its start.

const codeFragment = /^#code=([\w-]+)$/;
/** In sessionStorage: a reload of the tab stays signed in. */
const storageKey = 'link-token';

/** Returns the code of the address, and removes it from the address and the history of the tab. */
function readCode(): string | null {
  const code = codeFragment.exec(location.hash)?.[1] ?? null;
  if (code !== null) history.replaceState(null, '', location.pathname + location.search);
  return code;
}

/** Returns null for an error response or an unreachable service. */
async function redeemCode(code: string): Promise<PageToken | null> {
  const headers = { 'Content-Type': 'application/json' };
  const request = { method: 'POST', headers, body: JSON.stringify({ code }) };
  const response = await fetch('/account/api/playground-link', request).catch(() => null);
  return response?.ok ? ((await response.json()) as PageToken) : null;
}

/** Returns null without a token, or after its expiry. */
function readLinkToken(): PageToken | null {
  const stored = sessionStorage.getItem(storageKey);
  const token = stored === null ? null : (JSON.parse(stored) as PageToken);
  return token !== null && Date.parse(token.expires_at) > Date.now() ? token : null;
}

function storeLinkToken(token: PageToken | null): void {
  if (token === null) sessionStorage.removeItem(storageKey);
  else sessionStorage.setItem(storageKey, JSON.stringify(token));
}
