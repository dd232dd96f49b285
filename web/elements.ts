/** Creates elements and controls: text is never parsed as HTML, and styles are never set as an attribute. */

export type Child = Node | string | null;
type Attributes = Readonly<Record<string, string>>;

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

function fill<E extends Element>(made: E, attributes: Attributes, children: readonly Child[]): E {
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** @param share of the parent's width, 0 to 1 */
export function percent(share: number): string {
  return `${(100 * share).toFixed(3)}%`;
}

/** The element with this id. @throws Error when the page has none of this kind */
export function byId<E extends HTMLElement>(id: string, kind: new () => E): E {
  const found = document.getElementById(id);
  if (found instanceof kind) return found;
  throw new Error(`Expected a ${kind.name} for \`${id}\`, got ${found?.tagName ?? 'nothing'}`);
}

/** @param kind classes in addition to `button`: primary, plain, danger */
export function button(kind: string, onClick: () => void, ...content: readonly Child[]): HTMLButtonElement {
  const made = element('button', { type: 'button', class: `button ${kind}`.trim() }, ...content);
  made.addEventListener('click', onClick);
  return made;
}

/** Copies a text and shows a short confirmation. */
export function copyButton(label: string, text: string): HTMLButtonElement {
  const made = button('plain flush', () => void copy(), label);
  const copy = async () => {
    const copied = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    made.textContent = copied ? 'Copied' : 'Select and copy by hand';
    setTimeout(() => {
      made.textContent = label;
    }, 2000);
  };
  return made;
}

/** A part that opens on demand. */
export function fold(title: string, ...content: readonly Child[]): HTMLDetailsElement {
  return element(
    'details',
    {},
    element('summary', {}, title),
    element('div', { class: 'stack' }, ...content),
  );
}

/** Text for screen readers alone. */
export function hidden(text: string): HTMLElement {
  return element('span', { class: 'visually-hidden' }, text);
}

const icons = {
  record: 'M12 5a7 7 0 1 0 0 14 7 7 0 0 0 0-14Z',
  live: 'M5 10h2v4H5ZM9 6h2v12H9ZM13 3h2v18h-2ZM17 8h2v8h-2Z',
  stop: 'M6 6h12v12H6Z',
  play: 'M7 4.5v15l12-7.5Z',
  pause: 'M7 5h3.5v14H7ZM13.5 5H17v14h-3.5Z',
} as const;

/** A decorative icon of a button. */
export function icon(name: keyof typeof icons): SVGElement {
  const attributes = {
    viewBox: '0 0 24 24',
    width: '18',
    height: '18',
    fill: 'currentColor',
    'aria-hidden': 'true',
  };
  return svg('svg', attributes, svg('path', { d: icons[name] }));
}
