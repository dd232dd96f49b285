import { type Child, element } from '../dom.ts';

/** A highlighted sentence with advice. */
export function createNotice(
  kind: 'warn' | 'bad',
  title: string,
  advice: string,
  ...more: readonly Child[]
): HTMLElement {
  return element(
    'div',
    { class: `notice ${kind}` },
    element('strong', {}, title),
    element('p', {}, advice),
    ...more,
  );
}
