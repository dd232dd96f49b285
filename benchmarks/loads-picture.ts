/** The latencies of whole services at each number of connections, as SVG: a line from the median to the 99th percentile. */
import type { Load } from './cases/peers.ts';

const width = 720;
const left = 300;
const right = 20;
const top = 30;
const rowHeight = 18;
const groupGap = 10;
/** Powers of ten, ms. */
const axis = [10, 100, 1000, 10_000, 100_000];
const [lowest = 1, highest = 1] = [axis[0], axis.at(-1)];
const colours = { ours: '#0b6e4f', peer: '#7a7a7a', text: '#222', grid: '#ddd' };

const x = (ms: number) =>
  (left + (Math.log(ms / lowest) / Math.log(highest / lowest)) * (width - left - right)).toFixed(1);

const seconds = (ms: number) => (ms < 1000 ? `${ms} ms` : `${ms / 1000} s`);

function row({ service, connections, p50, p99 }: Load, y: number): string {
  const colour = service.startsWith('Undertone') ? colours.ours : colours.peer;
  const middle = y - 4;
  return [
    `<text x="${left - 10}" y="${y}" text-anchor="end">${service}, ${connections}</text>`,
    `<line x1="${x(p50)}" x2="${x(p99)}" y1="${middle}" y2="${middle}" stroke="${colour}" stroke-width="3"/>`,
    `<circle cx="${x(p50)}" cy="${middle}" r="4.5" fill="${colour}"/>`,
  ].join('');
}

/** @param loads rows of a group, which a gap follows, have one number of connections */
export function loadsPicture(loads: readonly Load[]): string {
  const counts = [...new Set(loads.map(({ connections }) => connections))];
  let y = top;
  const rows = counts.flatMap((count) => {
    const group = loads
      .filter(({ connections }) => connections === count)
      .map((load) => {
        y += rowHeight;
        return row(load, y);
      });
    y += groupGap;
    return group;
  });
  const grid = axis.map(
    (ms) =>
      `<line x1="${x(ms)}" x2="${x(ms)}" y1="${top}" y2="${y}" stroke="${colours.grid}"/>` +
      `<text x="${x(ms)}" y="${top - 8}" text-anchor="middle">${seconds(ms)}</text>`,
  );
  const style = `font-family="sans-serif" font-size="12" fill="${colours.text}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y + 10}" ${style} role="img">`,
    '<title>Latency of whole services: median (circle) to 99th percentile, by connections</title>',
    `<rect width="${width}" height="${y + 10}" fill="#fff"/>`,
    ...grid,
    ...rows,
    '</svg>\n',
  ].join('\n');
}
