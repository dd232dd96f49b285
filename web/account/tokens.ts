/** The tokens of the account: the list of them, a new one, shown once, and the confirmation before one is revoked. */
import type { AccountJson } from '../../src/service/api/account-schemas.ts';
import { button, byId, element } from '../elements.ts';
import { read, send } from './requests.ts';

type Token = AccountJson['Token'];
type NewToken = AccountJson['NewToken'];

const list = byId('tokens', HTMLUListElement);
const none = byId('no-tokens', HTMLElement);
const ended = byId('ended', HTMLDetailsElement);
const endedTitle = byId('ended-title', HTMLElement);
const endedList = byId('ended-tokens', HTMLUListElement);
const place = byId('new-token', HTMLElement);
const dialog = byId('revoke', HTMLDialogElement);
const question = byId('revoke-title', HTMLElement);

/** @param work calls the service and shows errors */
export async function showTokens(work: (task: () => Promise<void>) => void): Promise<void> {
  const { tokens } = await read<{ readonly tokens: readonly Token[] }>('tokens');
  const newestFirst = [...tokens].reverse();
  const live = newestFirst.filter((token) => !hasEnded(token));
  const over = newestFirst.filter(hasEnded);
  const revoke = (token: Token) => work(() => askAndRevoke(token, work));
  list.replaceChildren(...live.map((token) => item(token, revokeButton(token, revoke))));
  endedList.replaceChildren(...over.map((token) => item(token, null)));
  endedTitle.textContent = `Revoked and expired (${over.length})`;
  none.hidden = live.length > 0;
  ended.hidden = over.length === 0;
}

function item(token: Token, action: HTMLElement | null): HTMLElement {
  const origin = element('span', { class: 'tag' }, 'command line');
  const name = element(
    'p',
    { class: 'token-name' },
    element('strong', {}, token.name),
    element('code', { class: 'muted' }, `${token.prefix}...`),
    token.origin === 'command_line' ? origin : null,
  );
  const scopes = element('p', { class: 'small' }, token.scopes.join(', '));
  const purpose = token.purpose === null ? null : element('p', { class: 'small' }, token.purpose);
  const history = element('p', { class: 'small muted' }, historyOf(token));
  return element('li', {}, element('div', { class: 'token-text' }, name, purpose, scopes, history), action);
}

function revokeButton(token: Token, revoke: (token: Token) => void): HTMLElement {
  const made = button('danger', () => revoke(token), 'Revoke');
  made.ariaLabel = `Revoke ${token.name}`;
  return made;
}

async function askAndRevoke(token: Token, work: Parameters<typeof showTokens>[0]): Promise<void> {
  question.textContent = `Revoke ${token.name}?`;
  dialog.returnValue = '';
  dialog.showModal();
  await new Promise((resolve) => dialog.addEventListener('close', resolve, { once: true }));
  if (dialog.returnValue !== 'revoke') return;
  await send(`tokens/${token.id}/revoke`);
  hideNewToken();
  await showTokens(work);
  // The button that had the focus is gone.
  const title = byId('tokens-title', HTMLElement);
  title.tabIndex = -1;
  title.focus();
}

export async function makeToken(fields: FormData): Promise<void> {
  const days = String(fields.get('expires_in_days'));
  const purpose = String(fields.get('purpose')).trim();
  const made = await send<NewToken>('tokens', {
    name: String(fields.get('name')).trim(),
    scopes: fields.getAll('scopes'),
    expires_in_days: days === '' ? null : Number(days),
    purpose: purpose === '' ? null : purpose,
  });
  showNewToken(made);
}

function showNewToken({ name, token, scopes }: NewToken): void {
  const copy = button('', () => void copyToken(), 'Copy');
  const copyToken = async () => {
    await navigator.clipboard.writeText(token);
    copy.textContent = 'Copied';
  };
  // Pages over plain http have no clipboard.
  copy.hidden = navigator.clipboard === undefined;
  const line = `curl -H "Authorization: Bearer ${token}" -F audio=@recording.wav ${location.origin}${pathFor(scopes)}`;
  const notice = element(
    'div',
    { class: 'notice stack' },
    element('strong', {}, `${name}: shown this once. Copy it now.`),
    element('pre', { class: 'code wrap' }, element('code', { id: 'token-text' }, token)),
    element('div', { class: 'row' }, copy),
    element('p', { class: 'small' }, 'Try it:'),
    element('pre', { class: 'code wrap' }, element('code', {}, line)),
  );
  place.replaceChildren(notice);
  place.hidden = false;
  place.focus();
}

/** The analysis that needs exactly these scopes. */
function pathFor(scopes: readonly string[]): string {
  const [only, ...more] = scopes;
  return more.length > 0 || only === undefined
    ? '/v1/analyze'
    : `/v1/analyze/${only.replace('analyze:', '')}`;
}

export function hideNewToken(): void {
  place.replaceChildren();
  place.hidden = true;
}

// Dates.

const day = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });
const minute = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' });

/** One sentence with the dates of a token. */
function historyOf(token: Token): string {
  const made = `Created ${day.format(new Date(token.created_at))}`;
  const used = token.last_used_at ? `last used ${minute.format(new Date(token.last_used_at))}` : 'never used';
  return `${made}, ${endOf(token)}, ${used}.`;
}

function endOf({ expires_at: end, revoked_at: revoked }: Token): string {
  if (revoked !== null) return `revoked ${minute.format(new Date(revoked))}`;
  if (end === null) return 'never expires';
  return `${Date.parse(end) <= Date.now() ? 'expired' : 'expires'} ${day.format(new Date(end))}`;
}

function hasEnded({ expires_at: end, revoked_at: revoked }: Token): boolean {
  return revoked !== null || (end !== null && Date.parse(end) <= Date.now());
}
