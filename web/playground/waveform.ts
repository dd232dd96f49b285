/** Waveform with a time axis, and keyboard controls to play and seek; colours and ticks of what is drawn on a canvas. */
import WaveSurfer from 'wavesurfer.js';
import TimelinePlugin from 'wavesurfer.js/plugins/timeline';
import { button, element, icon } from '../elements.ts';
import type { Recording } from './analyze.ts';
import type { Span } from './report.ts';
import { clock, tick } from './wording.ts';

export type Waveform = {
  readonly root: HTMLElement;
  /** Call it once `root` is in the page. */
  load(): void;
  /** Shows so many seconds in so many pixels. */
  show(seconds: number, width: number): void;
  scrollTo(px: number): void;
  onScroll(listener: (px: number) => void): void;
  /** Null when the browser cannot decode the recording. */
  readonly playSpan: ((span: Span) => void) | null;
  onTime(listener: (seconds: number) => void): void;
  destroy(): void;
};

/** @param peaks null when the browser cannot decode the recording */
export function createWaveform({ blob }: Recording, peaks: Peaks | null, duration: number): Waveform {
  // The slider and the lanes are for keyboards and screen readers.
  const stage = element('div', { class: 'waveform', 'aria-hidden': 'true' });
  const play = button('primary', () => void surfer?.playPause());
  const label = (playing: boolean) =>
    play.replaceChildren(icon(playing ? 'pause' : 'play'), playing ? 'Pause' : 'Play');
  const slider = seekSlider(duration, (seconds) => surfer?.setTime(seconds));
  const time = element('span', { class: 'number small muted' }, `0:00 of ${clock(duration)}`);
  const controls = element('div', { class: 'row waveform-controls' }, play, slider, time);
  const rows = element('div', { class: 'waveform-rows' }, channels(peaks), stage);
  const root = element('div', { class: 'stack' }, rows, controls);
  const listeners: ((seconds: number) => void)[] = [];
  const scrollListeners: ((px: number) => void)[] = [];
  let surfer: WaveSurfer | null = null;
  let shown = duration;
  let ticks: ReturnType<typeof createTicks> | null = null;
  let scrolledTo = 0;
  label(false);
  const stopWatching = onThemeChange(() => surfer?.setOptions(colours()));
  listeners.push((seconds) => {
    slider.value = String(seconds);
    time.textContent = `${clock(seconds)} of ${clock(duration)}`;
  });
  const load = () => {
    if (peaks === null) {
      root.replaceChildren(cannotPlay());
      return;
    }
    ticks = createTicks(duration, shown, stage.clientWidth);
    const split = peaks.length > 1 ? { splitChannels: peaks.map(() => ({})) } : {};
    const options = { ...look(), plugins: [ticks], ...split, ...colours(), hideScrollbar: true };
    surfer = WaveSurfer.create({ container: stage, ...options });
    surfer.getWrapper().parentElement?.setAttribute('tabindex', '-1');
    surfer.on('ready', () => surfer?.setScroll(scrolledTo));
    surfer.on('scroll', (_start, _end, px) => {
      for (const listener of scrollListeners) listener(px);
    });
    surfer.on('play', () => label(true));
    surfer.on('pause', () => label(false));
    surfer.on('timeupdate', (seconds) => {
      for (const listener of listeners) listener(seconds);
    });
    surfer.on('error', () => root.replaceChildren(cannotPlay()));
    surfer.loadBlob(blob, [...peaks], duration).catch(() => root.replaceChildren(cannotPlay()));
  };
  return {
    root,
    load,
    playSpan: peaks && (({ start_s, end_s }) => void surfer?.play(start_s, end_s)),
    onTime: (listener) => listeners.push(listener),
    show: (seconds, width) => {
      const isWhole = seconds === duration;
      if (isWhole && shown === duration) return;
      shown = seconds;
      if (ticks !== null) surfer?.unregisterPlugin(ticks);
      surfer?.setOptions({ minPxPerSec: isWhole ? 0 : width / seconds });
      ticks = createTicks(duration, seconds, width);
      surfer?.registerPlugin(ticks);
    },
    scrollTo: (px) => {
      scrolledTo = px;
      surfer?.setScroll(px);
    },
    onScroll: (listener) => scrollListeners.push(listener),
    destroy: () => {
      stopWatching();
      surfer?.destroy();
    },
  };
}

/** Names what the rows of the waveform are, if there are several. */
function channels(peaks: Peaks | null): HTMLElement | null {
  if (peaks === null || peaks.length < 2) return null;
  const names = peaks.map((_, index) => element('li', {}, `Channel ${index}`));
  return element(
    'ol',
    { class: 'channel-names muted small', 'aria-label': 'Rows of the waveform' },
    ...names,
  );
}

/** How waveforms look, without colours and ticks. */
export function look() {
  const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
  return { height: 96, barWidth: 2, barGap: 1, barRadius: 2, normalize: true, cspNonce: nonce };
}

/** Of a time on the axis, px. */
const timeWidth = 40;

/**
 * @param duration of the axis, s
 * @param shown in the width, s
 * @param width px
 * @param format of the times on the axis
 */
export function createTicks(
  duration: number,
  shown: number,
  width: number,
  format: (seconds: number) => string = tick,
): ReturnType<typeof TimelinePlugin.create> {
  const step = tickStep(shown, matchMedia('(max-width: 40rem)').matches ? 5 : 10);
  return TimelinePlugin.create({
    height: 18,
    timeInterval: step,
    primaryLabelInterval: step,
    secondaryLabelInterval: step,
    secondaryLabelOpacity: 1,
    // A time at the end of the axis would be cut.
    formatTimeCallback: (seconds) =>
      (duration - seconds) * width < timeWidth * shown ? '' : format(seconds),
    style: { fontSize: '12px', color: 'var(--muted)' },
  });
}

export function colours() {
  return { waveColor: colour('edge'), progressColor: colour('accent'), cursorColor: colour('text') };
}

function seekSlider(duration: number, seek: (seconds: number) => void): HTMLInputElement {
  const slider = element('input', {
    type: 'range',
    min: '0',
    max: String(duration),
    step: '0.1',
    value: '0',
    'aria-label': 'Position in seconds',
  });
  slider.addEventListener('input', () => seek(Number(slider.value)));
  return slider;
}

function cannotPlay(): HTMLElement {
  const sentence =
    'This browser cannot play the format, so there is no waveform. The analysis below is not affected.';
  return element('p', { class: 'notice' }, sentence);
}

// Peaks of a recording per channel: what its waveform shows.

export type Peaks = readonly Float32Array[];

const sampleRateHz = 8000;
/** More than the pixels of a wide screen. */
const maxPeaks = 4000;
/** In a long recording, so that a minute of it fills a wide screen. */
const maxPeaksPerSecond = 40;

/** Null when the browser cannot read the file or decode its format. */
export async function decodePeaks({ blob }: Recording): Promise<Peaks | null> {
  const context = new OfflineAudioContext(1, 1, sampleRateHz);
  const decoding = blob.arrayBuffer().then((bytes) => context.decodeAudioData(bytes));
  const audio = await decoding.catch(() => null);
  if (audio === null) return null;
  return Array.from({ length: audio.numberOfChannels }, (_, channel) =>
    reduce(audio.getChannelData(channel)),
  );
}

/** The sample with the largest magnitude of each equal part. */
function reduce(samples: Float32Array): Float32Array {
  const long = Math.ceil((maxPeaksPerSecond * samples.length) / sampleRateHz);
  const count = Math.min(Math.max(maxPeaks, long), samples.length);
  const peaks = new Float32Array(count);
  for (let index = 0; index < count; index++) {
    const start = Math.floor((index * samples.length) / count);
    const end = Math.floor(((index + 1) * samples.length) / count);
    let peak = 0;
    for (let at = start; at < end; at++) {
      const sample = samples[at] ?? 0;
      if (Math.abs(sample) > Math.abs(peak)) peak = sample;
    }
    peaks[index] = peak;
  }
  return peaks;
}

// Ticks of time axes.

/** Distances of ticks, s. */
const tickSteps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800];

/** The smallest distance with at most `count` ticks. */
function tickStep(duration: number, count: number): number {
  return tickSteps.find((step) => duration / step <= count) ?? 3600;
}

// Colours of the style sheet, for canvases.

type Colour = 'text' | 'muted' | 'surface' | 'accent' | 'edge';

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
