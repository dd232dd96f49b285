/** The search of the documentation. */
import { byId, element } from '../elements.ts';
import type { Section } from '../render-guide.ts';

const maxFound = 12;
const excerptLength = 140;

const box = byId('search', HTMLElement);
const words = byId('words', HTMLInputElement);
const found = byId('found', HTMLUListElement);
const count = byId('count', HTMLElement);
let index: Promise<readonly Section[]> | null = null;

box.hidden = false;
words.addEventListener('focus', () => void load().catch(() => {}));
words.addEventListener('input', () => void search());

/** Read when it is first needed. */
function load(): Promise<readonly Section[]> {
  index ??= fetch('/docs/search.json').then((response) => {
    if (!response.ok) throw new Error(`Expected the index, got ${response.status}`);
    return response.json();
  });
  return index;
}

async function search(): Promise<void> {
  const asked = words.value;
  const terms = asked.toLowerCase().split(/\s+/).filter(Boolean);
  const sections = await load().catch(() => null);
  if (words.value !== asked) return;
  if (sections === null) {
    index = null;
    count.textContent = 'The service does not answer.';
    return;
  }
  const ranked = terms.length === 0 ? [] : rank(sections, terms);
  found.replaceChildren(...ranked.slice(0, maxFound).map((section) => entry(section, terms)));
  const places = ranked.length === 1 ? '1 place' : `${ranked.length} places`;
  const shown = ranked.length > maxFound ? `, of which ${maxFound} are shown` : '';
  count.textContent = terms.length === 0 ? '' : `${places}${shown}`;
}

/** Sections with every term: those with most terms in heading and title first. */
function rank(sections: readonly Section[], terms: readonly string[]): readonly Section[] {
  const scored = sections.map((section) => {
    const names = `${section.heading} ${section.title}`.toLowerCase();
    const all = `${names} ${section.text.toLowerCase()}`;
    const named = terms.filter((term) => names.includes(term)).length;
    return { section, score: terms.every((term) => all.includes(term)) ? 1 + named : 0 };
  });
  return scored
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .map(({ section }) => section);
}

function entry({ page, title, heading, anchor, text }: Section, terms: readonly string[]): HTMLElement {
  const name = heading === title ? title : `${title}: ${heading}`;
  const places = terms.map((term) => text.toLowerCase().indexOf(term)).filter((at) => at >= 0);
  const from = places.length === 0 ? 0 : Math.max(0, Math.min(...places) - excerptLength / 3);
  const excerpt = text.slice(from, from + excerptLength);
  return element(
    'li',
    {},
    element('a', { href: `/docs/${page}#${anchor}` }, name),
    element('p', { class: 'small muted' }, `${from > 0 ? '... ' : ''}${excerpt}`),
  );
}
