/** Decorative icons of buttons. */
import { svg } from '../dom.ts';

const paths = {
  record: 'M12 5a7 7 0 1 0 0 14 7 7 0 0 0 0-14Z',
  live: 'M5 10h2v4H5ZM9 6h2v12H9ZM13 3h2v18h-2ZM17 8h2v8h-2Z',
  stop: 'M6 6h12v12H6Z',
  play: 'M7 4.5v15l12-7.5Z',
  pause: 'M7 5h3.5v14H7ZM13.5 5H17v14h-3.5Z',
} as const;

export function icon(name: keyof typeof paths): SVGElement {
  const attributes = {
    viewBox: '0 0 24 24',
    width: '18',
    height: '18',
    fill: 'currentColor',
    'aria-hidden': 'true',
  };
  return svg('svg', attributes, svg('path', { d: paths[name] }));
}
