/** Colours of the style sheet, for canvases. */

export type Colour = 'text' | 'muted' | 'line' | 'accent' | 'valence' | 'arousal' | 'edge';

const probe = document.createElement('span');
probe.hidden = true;

export function colour(name: Colour): string {
  if (!probe.isConnected) document.body.append(probe);
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color;
}

/** Calls back when the system changes between light and dark. @returns a function that stops it */
export function onThemeChange(callback: () => void): () => void {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  dark.addEventListener('change', callback);
  return () => dark.removeEventListener('change', callback);
}
