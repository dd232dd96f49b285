/**
 * The API page: the token in use, code samples in one language at a time, and the forms that src/service/api/request-form.ts writes,
 * whose requests are sent from here.
 */
import sampleUrl from '../../examples/sample.wav?url';
import { type Access, createAccess } from '../access.ts';
import { button, byId, type Child, copyButton, element } from '../elements.ts';

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** Longer bodies are cut. */
const maxShownLength = 200_000;

const access = createAccess(byId('access', HTMLElement));
void access.show();
arrangeSamples(document.querySelectorAll<HTMLElement>('.samples'));
for (const form of document.querySelectorAll<HTMLFormElement>('form.request')) enableRequest(form, access);
addEventListener('hashchange', openTarget);
openTarget();

/** Opens the endpoint or the schema of the address. */
function openTarget(): void {
  const target = document.getElementById(location.hash.slice(1));
  if (!(target instanceof HTMLDetailsElement)) return;
  target.open = true;
  target.scrollIntoView();
  target.querySelector('summary')?.focus({ preventScroll: true });
}

// Code samples: those of one language are shown, in every place, with the address of this service.

function arrangeSamples(groups: Iterable<HTMLElement>): void {
  const choices: ((language: string) => void)[] = [];
  const choose = (language: string) => {
    for (const show of choices) show(language);
  };
  for (const group of groups) choices.push(arrange(group, choose));
  choose('curl');
}

/** @returns shows the samples of a language; where there are none, the first one stays */
function arrange(group: HTMLElement, choose: (language: string) => void): (language: string) => void {
  const { address = '' } = group.dataset;
  const figures = [...group.querySelectorAll<HTMLElement>('figure')];
  const buttons = figures.map((figure) => {
    const language = figure.dataset.language ?? '';
    const code = figure.querySelector('code');
    const text = (code?.textContent ?? '').replaceAll(address, location.origin);
    if (code) code.textContent = text;
    figure.querySelector('figcaption')?.remove();
    figure.append(copyButton('Copy', text));
    return button('plain', () => choose(language), language);
  });
  group.prepend(
    element('div', { class: 'row languages', role: 'group', 'aria-label': 'Language' }, ...buttons),
  );
  return (language) => {
    const found = figures.findIndex((figure) => figure.dataset.language === language);
    for (const [index, figure] of figures.entries()) {
      figure.hidden = index !== Math.max(0, found);
      buttons[index]?.setAttribute('aria-pressed', String(!figure.hidden));
    }
  };
}

// Requests.

function enableRequest(form: HTMLFormElement, access: Access): void {
  const send = form.querySelector('button');
  const audio = form.querySelector<HTMLInputElement>('input[type=file][data-name=audio]');
  if (audio !== null) {
    const useSample = button('plain flush', () => void chooseSample(audio), 'Use the sample');
    audio.after(element('div', { class: 'row' }, useSample));
  }
  if (send === null) return;
  send.disabled = false;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (form.ariaBusy === 'true') return;
    form.ariaBusy = 'true';
    try {
      await submit(form, access);
    } finally {
      form.ariaBusy = null;
    }
  });
}

async function chooseSample(input: HTMLInputElement): Promise<void> {
  const transfer = new DataTransfer();
  const blob = await (await fetch(sampleUrl)).blob();
  transfer.items.add(new File([blob], 'sample.wav', { type: 'audio/wav' }));
  input.files = transfer.files;
}

async function submit(form: HTMLFormElement, access: Access): Promise<void> {
  const show = answerOf(form);
  show(['Sending ...']);
  const needsToken = form.dataset.token !== undefined;
  const token = needsToken ? await access.token() : null;
  if (needsToken && token === null)
    return show([
      'This request needs a token: ',
      element('a', { href: '#access' }, 'log in or paste one'),
      '.',
    ]);
  const startedAt = performance.now();
  const answer = await exchange(requestOf(form, token));
  const ms = Math.round(performance.now() - startedAt);
  if (answer === null) return show(['The service cannot be reached, or the connection was lost.']);
  const { response, body } = answer;
  show(
    [
      element('strong', {}, `${response.status} ${response.statusText}`.trim()),
      `, after ${ms.toLocaleString('en')} ms, ${body.length.toLocaleString('en')} characters`,
    ],
    headersView(response.headers),
    bodyView(body, response.headers),
  );
  if (response.status === 401) await access.forgetUnlessPasted();
}

/** Null when the service is unreachable. */
async function exchange([url, init]: readonly [string, RequestInit]) {
  try {
    const response = await fetch(url, init);
    return { response, body: await response.text() };
  } catch {
    return null;
  }
}

/** Cookies are left out, as in requests of programs. */
function requestOf(form: HTMLFormElement, token: string | null): [string, RequestInit] {
  const { method = 'GET', path = '' } = form.dataset;
  const headers = new Headers(token === null ? {} : { Authorization: `Bearer ${token}` });
  const init: RequestInit = { method, headers, credentials: 'omit', cache: 'no-store' };
  const query = new URLSearchParams();
  let place = path;
  if (form.querySelector('[data-place=part]') !== null) init.body = new FormData();
  for (const control of form.querySelectorAll<Control>('[data-place]')) {
    const { name = '', place: where } = control.dataset;
    const { value } = control;
    if (value === '') continue;
    if (where === 'path') place = place.replace(`{${name}}`, encodeURIComponent(value));
    if (where === 'query') query.set(name, value);
    if (where === 'header') headers.set(name, value);
    if (where === 'part') addPart(init.body as FormData, name, control);
    if (where === 'json') {
      headers.set('Content-Type', 'application/json');
      init.body = value;
    }
  }
  return [query.size > 0 ? `${place}?${query}` : place, init];
}

function addPart(body: FormData, name: string, control: Control): void {
  const files = control instanceof HTMLInputElement ? control.files : null;
  if (files === null) body.append(name, control.value);
  else for (const file of files) body.append(name, file);
}

/** The place of the answers of a form. @returns shows a sentence, and what follows it */
function answerOf(form: HTMLFormElement): (sentence: readonly Child[], ...content: readonly Child[]) => void {
  const status = form.querySelector('[role=status]') ?? element('p', { role: 'status' });
  const answer = status.parentElement ?? element('div', { class: 'answer stack' }, status);
  // In the page before it says anything, so that screen readers announce it.
  if (!answer.isConnected) form.append(answer);
  return (sentence, ...content) => {
    status.replaceChildren(...sentence.filter((child) => child !== null));
    answer.replaceChildren(status, ...content.filter((child) => child !== null));
  };
}

function headersView(headers: Headers): HTMLElement {
  const text = [...headers].map(([name, value]) => `${name}: ${value}`).join('\n');
  return element('details', {}, element('summary', {}, 'Headers'), codeView('Headers of the answer', text));
}

function bodyView(body: string, headers: Headers): HTMLElement {
  const isJson = headers.get('Content-Type')?.includes('json') ?? false;
  const text = isJson ? JSON.stringify(JSON.parse(body), null, 2) : body;
  const rest = text.length - maxShownLength;
  const note = `\n... ${rest.toLocaleString('en')} more characters`;
  return codeView('Body of the answer', rest > 0 ? text.slice(0, maxShownLength) + note : text);
}

function codeView(label: string, text: string): HTMLElement {
  return element(
    'pre',
    { class: 'code', tabindex: '0', role: 'group', 'aria-label': label },
    element('code', {}, text),
  );
}
