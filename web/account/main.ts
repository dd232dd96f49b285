/** The account page: forms, or the account of the session. */
import type { AccountJson } from '../../src/service/api/account-schemas.ts';
import { button, byId, element } from '../elements.ts';
import { dropPending, hasPending } from '../pending.ts';
import { handle, titleOf } from './forms.ts';
import { Refusal, read, send } from './requests.ts';
import { hideNewToken, makeToken, showTokens } from './tokens.ts';
import { showUsage } from './usage.ts';

type Session = AccountJson['Session'];

const lead = byId('lead', HTMLElement);
const messages = byId('messages', HTMLElement);
const guest = byId('guest', HTMLElement);
const member = byId('member', HTMLElement);
const form = (id: string) => byId(id, HTMLFormElement);
const firstLead = lead.textContent;

const wrongPair = 'No account has this address and password. Look at both and try again.';
const wrongPassword = 'That is not your present password.';

function say(kind: 'good' | 'bad', sentence: string): void {
  messages.replaceChildren(element('p', { class: kind === 'bad' ? 'notice bad' : 'notice' }, sentence));
}

/** Calls the service and shows errors; an expired session shows the forms again. */
function work(task: () => Promise<void>): void {
  messages.replaceChildren();
  void task().catch(async (error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
    if (error.status === 401) await refresh();
    say('bad', titleOf(error));
  });
}

async function refresh(): Promise<void> {
  await show(await read<Session>('session'));
}

async function show({ user, sign_up: signUp }: Session): Promise<void> {
  guest.hidden = user !== null;
  form('sign-up').hidden = signUp === 'closed';
  const isFirst = signUp === 'first';
  byId('first-account', HTMLElement).hidden = !isFirst;
  byId('sign-up-title', HTMLElement).textContent = isFirst ? 'Create the first account' : 'Create an account';
  guest.prepend(form(isFirst ? 'sign-up' : 'log-in'));
  byId('closed', HTMLElement).hidden = signUp !== 'closed';
  if (user !== null) await Promise.all([showTokens(work), showUsage(user.email)]);
  else hideNewToken();
  member.hidden = user === null;
  lead.replaceChildren(...(user === null ? [firstLead] : greeting(user)));
  for (const field of document.querySelectorAll<HTMLInputElement>('.account-name')) {
    field.value = user?.email ?? '';
  }
}

function greeting(user: NonNullable<Session['user']>): (Node | string)[] {
  const logOut = async () => {
    await send('log-out');
    await dropPending().catch(() => {});
    await refresh();
    say('good', 'You are logged out.');
    byId('log-in-email', HTMLInputElement).focus();
  };
  const role = user.administrator ? ', administrator' : '';
  const playground = element('a', { href: '/' }, 'playground');
  return [
    element(
      'span',
      { class: 'row' },
      element('strong', {}, user.email + role),
      button('', () => work(logOut), 'Log out'),
    ),
    'The ',
    playground,
    ' knows you while you are logged in.',
  ];
}

/** Shows the forms again where the session has ended. */
function ofMember(onSend: (fields: FormData) => Promise<void>): (fields: FormData) => Promise<void> {
  return async (fields) => {
    try {
      await onSend(fields);
    } catch (error) {
      if (!(error instanceof Refusal) || error.status !== 401) throw error;
      await refresh();
      if (!member.hidden) throw error;
      say('bad', 'You are no longer logged in. Log in, then try again.');
      byId('log-in-email', HTMLInputElement).focus();
    }
  };
}

/** Logs in one way or another. */
function enter(path: 'log-in' | 'sign-up'): (fields: FormData) => Promise<void> {
  return async (fields) => {
    messages.replaceChildren();
    await show(await send<Session>(path, Object.fromEntries(fields)));
    if (await hasPending().catch(() => false)) {
      location.assign('/');
      return;
    }
    byId('tokens-title', HTMLElement).scrollIntoView({ block: 'center' });
    byId('token-name', HTMLInputElement).focus();
  };
}

/** After a concurrent first sign-up the page shows that sign-up is closed. */
async function signUp(fields: FormData): Promise<void> {
  try {
    await enter('sign-up')(fields);
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 403) throw error;
    await refresh();
    say('bad', titleOf(error));
  }
}

handle(form('log-in'), { unauthenticated: wrongPair, onSend: enter('log-in') });
handle(form('sign-up'), { onSend: signUp });
handle(form('make-token'), {
  onSend: ofMember(async (fields) => {
    messages.replaceChildren();
    await makeToken(fields);
    await showTokens(work);
  }),
});
handle(form('password'), {
  unauthenticated: wrongPassword,
  onSend: ofMember(async (fields) => {
    const revokes = fields.has('revoke_tokens');
    await send('password', { ...Object.fromEntries(fields), revoke_tokens: revokes });
    if (revokes) hideNewToken();
    await showTokens(work);
    const tokens = revokes ? ' Every token is revoked.' : '';
    say('good', `The password is changed, and every other browser is logged out.${tokens}`);
  }),
});
handle(form('remove'), {
  unauthenticated: wrongPassword,
  onSend: ofMember(async (fields) => {
    await send('remove', Object.fromEntries(fields));
    await refresh();
    say('good', 'The account and its tokens are deleted.');
  }),
});

byId('insecure', HTMLElement).hidden = window.isSecureContext;
work(refresh);
