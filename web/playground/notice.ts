import { element } from '../dom.ts';

/** A sentence that stands out, with what to do about it. */
export function createNotice(kind: 'warn' | 'bad', title: string, advice: string): HTMLElement {
  return element('div', { class: `notice ${kind}` }, element('strong', {}, title), element('p', {}, advice));
}
