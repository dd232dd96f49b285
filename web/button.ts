import { type Child, element } from './dom.ts';

/** @param kind classes beside `button`: primary, plain, danger */
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
