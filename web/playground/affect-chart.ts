/** Valence and arousal over time. Lines differ in colour and dashes. */

import uPlot from 'uplot';
import { element } from '../elements.ts';
import 'uplot/dist/uPlot.min.css';
import { tickSteps } from './axis.ts';
import { score, tick } from './format.ts';
import type { Report } from './report.ts';
import { type Colour, colour, onThemeChange } from './theme.ts';

type Chart = {
  readonly root: HTMLElement;
  /** Call it once `root` is in the page. */
  draw(): void;
  mark(seconds: number): void;
  destroy(): void;
};

const height = 240;
const lines: readonly { readonly label: string; readonly colour: Colour; readonly dash: number[] }[] = [
  { label: 'Valence', colour: 'valence', dash: [] },
  { label: 'Arousal', colour: 'arousal', dash: [9, 5] },
];

export function createAffectChart(report: Report): Chart {
  const stage = element('div', { class: 'chart', role: 'img', 'aria-label': summary(report) });
  let plot: uPlot | null = null;
  const resize = new ResizeObserver(() => plot?.setSize({ width: stage.clientWidth, height }));
  const stopWatching = onThemeChange(() => plot?.redraw());
  return {
    root: element('div', { class: 'stack' }, stage, legend()),
    draw: () => {
      plot = new uPlot(options(stage.clientWidth, report.audio.duration_s), series(report), stage);
      resize.observe(stage);
    },
    mark: (seconds) => plot?.setCursor({ left: plot.valToPos(seconds, 'x'), top: 0 }),
    destroy: () => {
      resize.disconnect();
      stopWatching();
      plot?.destroy();
    },
  };
}

function options(width: number, duration: number): uPlot.Options {
  const axis = {
    stroke: () => colour('muted'),
    grid: { stroke: () => colour('line'), width: 1 },
    ticks: { show: false },
  };
  return {
    width,
    height,
    cursor: { drag: { x: false, y: false } },
    legend: { show: false },
    scales: { x: { time: false, range: [0, duration] }, y: { range: [0, 1] } },
    axes: [
      {
        ...axis,
        size: 30,
        incrs: tickSteps,
        values: (_plot, marks) => marks.map((mark) => (mark === null ? '' : tick(mark))),
      },
      { ...axis, size: 40, values: (_plot, marks) => marks.map((mark) => mark.toFixed(1)) },
    ],
    series: [
      {},
      ...lines.map(({ label, colour: name, dash }) => ({
        label,
        dash,
        width: 2.5,
        stroke: () => colour(name),
        points: { show: false },
        spanGaps: true,
      })),
    ],
  };
}

function legend(): HTMLElement {
  const entries = lines.map(({ label, colour: name }) => element('li', { class: name }, label));
  return element('ul', { class: 'legend', 'aria-hidden': 'true' }, ...entries);
}

/** A step per utterance: constant from its start to its end. */
function series({ emotion }: Report): uPlot.AlignedData {
  const affect = emotion.timeline.flatMap(({ start_s, end_s, valence, arousal }) => [
    [start_s, valence, arousal] as const,
    [just(end_s), valence, arousal] as const,
  ]);
  return [affect.map(([x]) => x), affect.map(([, y]) => y), affect.map(([, , y]) => y)];
}

/** Ends just before the next utterance, which may start at the same time. */
function just(end: number): number {
  return end - 0.001;
}

function summary({ emotion }: Report): string {
  const range = (name: 'valence' | 'arousal') => {
    const values = emotion.timeline.flatMap((utterance) => utterance[name] ?? []);
    return `${name} from ${score(Math.min(...values))} to ${score(Math.max(...values))}`;
  };
  return `Over time: ${range('valence')}, ${range('arousal')}. The values are in the table of the utterances below.`;
}
