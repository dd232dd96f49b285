import { type Child, element } from '../dom.ts';

/** A part of the results with its title and one sentence on how to read it. */
export function card(title: string, note: string | null, ...content: readonly Child[]): HTMLElement {
  const head = element(
    'header',
    {},
    element('h3', {}, title),
    note === null ? null : element('p', { class: 'card-note' }, note),
  );
  return element('section', { class: 'card' }, head, ...content);
}

/** From one side of the page to the other. */
export function wide(made: HTMLElement): HTMLElement {
  made.classList.add('wide');
  return made;
}
