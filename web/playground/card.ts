/** Parts of the page: sections with a title, parts that open on demand, and notices. */
import { type Child, element } from '../elements.ts';

/** A section of the results with a title and a note. */
export function card(title: Child, note: string | null, ...content: readonly Child[]): HTMLElement {
  const head = element(
    'header',
    {},
    element('h3', {}, title),
    note === null ? null : element('p', { class: 'card-note' }, note),
  );
  return element('section', { class: 'card' }, head, ...content);
}

/** Spans the width of the page. */
export function wide<Made extends HTMLElement>(made: Made): Made {
  made.classList.add('wide');
  return made;
}

/** Opens every part of the results before printing, and closes it afterwards. */
export function openFoldsForPrint(): void {
  let opened: HTMLDetailsElement[] = [];
  const setOpen = (isOpen: boolean) => {
    for (const one of opened) one.open = isOpen;
  };
  addEventListener('beforeprint', () => {
    opened = [...document.querySelectorAll<HTMLDetailsElement>('#results details:not([open])')];
    setOpen(true);
  });
  addEventListener('afterprint', () => setOpen(false));
}

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
