/** CPU profiles of Node.js (--cpu-prof) -> one flame graph as SVG: time from left to right, callers above what they call. */
import { basename } from 'node:path';
import { html } from '../../src/service/html.ts';

/** Of the Chrome DevTools Protocol, as far as it is used. Times are in microseconds. */
export type CpuProfile = {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string };
    readonly children?: readonly number[];
  }[];
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
};

type Frame = { readonly name: string; micros: number; readonly callees: Map<string, Frame> };

/** Waiting is no work. */
const waiting = ['(idle)', 'atomicsWaitLoop', '(root)'];
const width = 1200;
const rowHeight = 18;
const minWidth = 0.5;
const characterWidth = 6.5;

const frame = (name: string): Frame => ({ name, micros: 0, callees: new Map() });

/**
 * @param profiles with the name of each thread
 * @param sinceMicros only samples after this time of the clock of the profiles
 */
export function mergeProfiles(
  profiles: readonly (readonly [thread: string, profile: CpuProfile])[],
  sinceMicros: number,
): Frame {
  const root = frame('all threads');
  for (const [thread, profile] of profiles) addProfile(root, thread, profile, sinceMicros);
  return root;
}

function addProfile(root: Frame, thread: string, profile: CpuProfile, sinceMicros: number): void {
  const stacks = stacksOf(profile);
  let at = profile.startTime;
  for (const [index, id] of profile.samples.entries()) {
    const micros = profile.timeDeltas[index] ?? 0;
    at += micros;
    const stack = stacks.get(id) ?? [];
    if (at < sinceMicros || waiting.includes(stack.at(-1) ?? '')) continue;
    let current = root;
    current.micros += micros;
    for (const name of [thread, ...stack]) {
      const next = current.callees.get(name) ?? frame(name);
      current.callees.set(name, next);
      next.micros += micros;
      current = next;
    }
  }
}

/** Names of the functions from the outermost on, by node. */
function stacksOf({ nodes }: CpuProfile): ReadonlyMap<number, readonly string[]> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const stacks = new Map<number, readonly string[]>();
  const visit = (id: number, above: readonly string[]): void => {
    const node = byId.get(id);
    if (node === undefined) return;
    const { functionName, url } = node.callFrame;
    const name = functionName || (url === '' ? '(anonymous)' : basename(url));
    const stack = name === '(root)' ? above : [...above, name];
    stacks.set(id, stack.length === 0 ? ['(root)'] : stack);
    for (const child of node.children ?? []) visit(child, stack);
  };
  if (nodes[0] !== undefined) visit(nodes[0].id, []);
  return stacks;
}

/** Time of each function without that of its callees, in all threads together, the largest first. */
export function selfTimes(root: Frame): readonly (readonly [name: string, micros: number])[] {
  const found = new Map<string, number>();
  const visit = (own: Frame): void => {
    const callees = [...own.callees.values()];
    const rest = own.micros - callees.reduce((sum, { micros }) => sum + micros, 0);
    if (rest > 0) found.set(own.name, (found.get(own.name) ?? 0) + rest);
    callees.forEach(visit);
  };
  visit(root);
  return [...found].sort(([, one], [, other]) => other - one);
}

export function flameGraph(root: Frame, title: string): string {
  const boxes: { readonly html: string }[] = [];
  let depth = 0;
  const draw = (own: Frame, x: number, level: number): void => {
    const w = (own.micros / root.micros) * width;
    if (w < minWidth) return;
    depth = Math.max(depth, level);
    const share = `${own.name}: ${(own.micros / 1000).toFixed(1)} ms, ${((100 * own.micros) / root.micros).toFixed(1)} %`;
    const letters = Math.floor((w - 4) / characterWidth);
    const label = letters < 3 ? '' : own.name.slice(0, letters);
    boxes.push(
      html`<g><title>${share}</title><rect x="${x.toFixed(1)}" y="${(level + 1) * rowHeight}" width="${(w - 0.3).toFixed(1)}" height="${rowHeight - 1}" fill="hsl(${hueOf(own.name)} 60% 75%)"/><text x="${(x + 3).toFixed(1)}" y="${(level + 1) * rowHeight + 13}">${label}</text></g>`,
    );
    let at = x;
    for (const callee of [...own.callees.values()].sort((one, other) => other.micros - one.micros)) {
      draw(callee, at, level + 1);
      at += (callee.micros / root.micros) * width;
    }
  };
  draw(root, 0, 0);
  const height = (depth + 2) * rowHeight + 4;
  return html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="monospace" font-size="11">
<rect width="100%" height="100%" fill="#fff"/><text x="4" y="13" font-size="13">${title}</text>${boxes}</svg>
`.html;
}

/** Of one function the same in every picture. */
function hueOf(name: string): number {
  return [...name].reduce((hash, character) => (31 * hash + (character.codePointAt(0) ?? 0)) % 360, 7);
}
