import { type Child, element } from '../dom.ts';

/** A section of the results with a title and a note. */
export function card(title: string, note: string | null, ...content: readonly Child[]): HTMLElement {
  const head = element(
    'header',
    {},
    element('h3', {}, title),
    note === null ? null : element('p', { class: 'card-note' }, note),
  );
  return element('section', { class: 'card' }, head, ...content);
}

/** Spans the width of the page. */
export function wide(made: HTMLElement): HTMLElement {
  made.classList.add('wide');
  return made;
}
