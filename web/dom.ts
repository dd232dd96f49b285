/** Creates elements: text is never parsed as HTML, and styles are never set as an attribute. */

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
