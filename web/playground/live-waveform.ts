/** The last seconds of the microphone, and the utterances in it: a lane for each speaker. */
import WaveSurfer from 'wavesurfer.js';
import { element } from '../elements.ts';
import { placeBlock } from './lane.ts';
import type { Turn } from './live-session.ts';
import type { Span } from './report.ts';
import { fillBlock } from './timeline.ts';
import { colours, createTicks, look, onThemeChange } from './waveform.ts';
import { clock } from './wording.ts';

type LiveWaveform = {
  readonly root: HTMLElement;
  /** Call it once `root` is in the page. */
  load(): void;
  /** @param block of 0.1 s */
  add(block: Int16Array): void;
  startSpeech(at: number): void;
  endSpeech(): void;
  addTurn(turn: Turn): void;
  destroy(): void;
};

type Block = {
  readonly root: HTMLElement;
  readonly span: Span;
};

const shownSeconds = 20;
const shiftSeconds = 10;
const peaksPerSecond = 10;
/** Quieter peaks do not fill the height. */
const minFullScale = 0.1;
const drawMs = 200;

export function createLiveWaveform(): LiveWaveform {
  const stage = element('div', { class: 'waveform' });
  const speech = element('li', { class: 'utterance open' }, element('span', {}, 'speech'));
  const lanes = element('div', { class: 'axis-content' });
  const tracks = new Map<string, HTMLElement>();
  const peaks: number[] = [];
  const blocks: Block[] = [];
  let speechFrom: number | null = null;
  let surfer: WaveSurfer | null = null;
  let timer: ReturnType<typeof setInterval> | undefined;

  /** Lanes show their names from the second one on. */
  function trackOf({ speaker = '1' }: Pick<Turn, 'speaker'>): HTMLElement {
    const name = speaker === null ? 'Not clear who speaks' : `Speaker ${speaker}`;
    const known = tracks.get(name);
    if (known !== undefined) return known;
    const track = element('ol', { class: 'utterance-track', 'aria-label': `Utterances: ${name}` });
    tracks.set(name, track);
    lanes.append(element('div', {}, element('span', { class: 'lane-name small muted' }, name), track));
    lanes.classList.toggle('of-one', tracks.size === 1);
    return track;
  }
  let current = trackOf({});

  const seconds = () => peaks.length / peaksPerSecond;
  const shownFrom = () => shiftSeconds * Math.max(0, Math.ceil((seconds() - shownSeconds) / shiftSeconds));

  function draw(): void {
    const start_s = shownFrom();
    const shown = { start_s, end_s: start_s + shownSeconds };
    void surfer?.load('', [scaled(peaks.slice(start_s * peaksPerSecond))], shownSeconds);
    for (const { root, span } of blocks) placeBlock(root, span, shown);
    if (speechFrom !== null) placeBlock(speech, { start_s: speechFrom, end_s: seconds() }, shown);
  }

  const stopWatching = onThemeChange(() => surfer?.setOptions(colours()));
  return {
    root: element('div', {}, stage, lanes),
    load: () => {
      surfer = WaveSurfer.create({
        container: stage,
        ...look(),
        plugins: [
          createTicks(shownSeconds, shownSeconds, stage.clientWidth, (at) => clock(shownFrom() + at)),
        ],
        ...colours(),
        normalize: false,
        interact: false,
        cursorWidth: 0,
      });
      timer = setInterval(draw, drawMs);
    },
    add: (block) => peaks.push(peakOf(block)),
    startSpeech: (at) => {
      speechFrom = at;
      current.append(speech);
      draw();
    },
    endSpeech: () => {
      speechFrom = null;
      speech.remove();
    },
    addTurn: (turn) => {
      const root = element('li', { class: 'utterance' }, element('span', {}, 'speech'));
      const isMoment = turn.emotion?.moment !== undefined;
      const note = isMoment ? 'provisional, moment' : 'provisional';
      if (turn.emotion !== undefined) fillBlock(root, { ...turn, ...turn.emotion }, note);
      root.classList.toggle('moment', isMoment);
      blocks.push({ root, span: turn });
      if (speechFrom !== null) speechFrom = Math.max(speechFrom, turn.end_s);
      current = trackOf(turn);
      current.append(root);
      draw();
    },
    destroy: () => {
      clearInterval(timer);
      stopWatching();
      surfer?.destroy();
    },
  };
}

function peakOf(block: Int16Array): number {
  return block.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0) / 32_768;
}

/** Scaled to the height, and as long as the axis. */
function scaled(peaks: readonly number[]): Float32Array {
  const fullScale = Math.max(minFullScale, ...peaks);
  const shown = new Float32Array(shownSeconds * peaksPerSecond);
  shown.set(peaks.map((peak) => peak / fullScale));
  return shown;
}
