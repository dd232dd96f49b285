/** Parts of the results: sections with a title, notices, and words that open an explanation of their scale. */
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

// Words and scores that open an explanation: with the pointer above them, by a tap, Enter or Space.

type Explained = {
  readonly root: HTMLElement;
  /** Holds what is explained. */
  readonly button: HTMLButtonElement;
  explain(sentence: string): void;
};

/** Between an explanation and the edge of the window, px. */
const margin = 8;
let count = 0;

/** @param kind class of the button */
export function createExplained(kind: string, ...content: readonly Child[]): Explained {
  const id = `scale-${++count}`;
  const bubble = element('span', { id, class: 'bubble', popover: 'auto' });
  const attributes = { type: 'button', class: kind, popovertarget: id, 'aria-describedby': id };
  const button = element('button', attributes, ...content);
  const root = element('span', { class: 'explained' }, button, bubble);
  /** By a tap or a key: it stays when the pointer leaves. */
  let isPinned = false;
  const open = () => {
    bubble.togglePopover(true);
    place(bubble, button.getBoundingClientRect());
  };
  // pointermove instead of pointerenter: a page that scrolls below a resting pointer opens nothing.
  root.addEventListener('pointermove', ({ pointerType, target }) => {
    if (pointerType === 'mouse' && button.contains(target as Node)) open();
  });
  root.addEventListener('pointerleave', ({ pointerType }) => {
    if (pointerType === 'mouse' && !isPinned) bubble.togglePopover(false);
  });
  button.addEventListener('click', (event) => {
    // The browser's own reaction would close what the pointer has opened.
    event.preventDefault();
    if (isPinned) bubble.togglePopover(false);
    else {
      open();
      isPinned = true;
    }
  });
  // `toggle` comes later than the next key may.
  bubble.addEventListener('beforetoggle', ({ newState }) => {
    if (newState === 'closed') isPinned = false;
  });
  const explain = (sentence: string) => {
    bubble.textContent = sentence;
  };
  return { root, button, explain };
}

/** A word, or a number, in a text. */
export function term(sentence: string, ...content: readonly Child[]): HTMLElement {
  const { root, explain } = createExplained('term', ...content);
  explain(sentence);
  return root;
}

/** Below the button, or above it where the window ends; it scrolls with the page. */
function place(bubble: HTMLElement, { left, top, bottom }: DOMRect): void {
  const { offsetWidth, offsetHeight, style } = bubble;
  const { clientWidth, clientHeight } = document.documentElement;
  const isBelow = bottom + offsetHeight <= clientHeight || top < offsetHeight;
  const within = Math.max(margin, Math.min(left, clientWidth - offsetWidth - margin));
  style.left = `${within + scrollX}px`;
  style.top = `${(isBelow ? bottom : top - offsetHeight) + scrollY}px`;
}
