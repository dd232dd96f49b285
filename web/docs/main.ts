/** The API page: the token in use, code samples in one language at a time, and requests. */
import { createCredentials } from '../access/credentials.ts';
import { createCredentialsPanel } from '../access/credentials-panel.ts';
import { byId } from '../dom.ts';
import { enableRequest } from './request.ts';
import { arrangeSamples } from './samples.ts';

const credentials = createCredentials();
const panel = createCredentialsPanel(byId('access', HTMLElement), credentials);
void panel.show();

arrangeSamples(document.querySelectorAll<HTMLElement>('.samples'));

for (const form of document.querySelectorAll<HTMLFormElement>('form.request')) {
  enableRequest(form, credentials, () => void panel.show());
}

/** Opens the endpoint or the schema of the address. */
function openTarget(): void {
  const target = document.getElementById(location.hash.slice(1));
  if (!(target instanceof HTMLDetailsElement)) return;
  target.open = true;
  target.scrollIntoView();
  target.querySelector('summary')?.focus({ preventScroll: true });
}

addEventListener('hashchange', openTarget);
openTarget();
