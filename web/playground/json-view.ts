/** The JSON of the response, and the curl command that requests it. */
import { copyButton, element } from '../elements.ts';

import type { AnalysisRequest } from './analyze.ts';
import { isOfOne, partsOf } from './choice.ts';
import type { Recording } from './recording.ts';

export function createCurlView(request: AnalysisRequest): HTMLElement {
  const line = curlLine(request, location.origin);
  const downloads = [request.recording, request.baseline].flatMap((one) =>
    one === null ? [] : [download(one)],
  );
  return element(
    'div',
    { class: 'stack' },
    code(line, 'code wrap', 'Command'),
    element('div', { class: 'row' }, copyButton('Copy the command', line), ...downloads),
  );
}

export function createJsonView(json: string): HTMLElement {
  const pretty = JSON.stringify(JSON.parse(json), null, 2);
  return element(
    'div',
    { class: 'stack' },
    code(pretty, 'code', 'JSON'),
    element('div', { class: 'row' }, copyButton('Copy the JSON', pretty)),
  );
}

function code(text: string, kind: string, label: string): HTMLElement {
  return element(
    'pre',
    { class: kind, tabindex: '0', role: 'region', 'aria-label': label },
    element('code', {}, text),
  );
}

/** Creates its object URL on click, so that the page holds no recording in memory. */
function download({ name, blob }: Recording): HTMLElement {
  const link = element('a', { href: '#', class: 'small', download: name }, `Save ${name}`);
  link.addEventListener('click', () => {
    link.href = URL.createObjectURL(blob);
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  });
  return link;
}

function curlLine({ recording, baseline, choice }: AnalysisRequest, origin: string): string {
  const parts = [
    'curl -H "Authorization: Bearer $UNDERTONE_TOKEN"',
    `-F ${file('audio', recording.name)}`,
    ...(baseline === null || !isOfOne(choice) ? [] : [`-F ${file('baseline', baseline.name)}`]),
    ...Object.entries(partsOf(choice)).map(([name, value]) => `-F ${name}=${value}`),
    `${origin}/v1/analyze`,
  ];
  return parts.join(' \\\n  ');
}

/** Backslashes escape a quoted name for curl; single quotes escape it for the shell. */
function file(part: string, name: string): string {
  if (/^[A-Za-z0-9._-]+$/.test(name)) return `${part}=@${name}`;
  const quoted = name.replaceAll('\\', '\\\\').replaceAll('"', '\\"');
  return `'${`${part}=@"${quoted}"`.replaceAll("'", "'\\''")}'`;
}
