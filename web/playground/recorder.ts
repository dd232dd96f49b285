/** Records the microphone, with the browser's encoder or as samples. */
import workletUrl from './pcm-worklet.ts?worker&url';

// With the browser's encoder.

export type Recorder = {
  /** Current RMS level, dBFS. */
  level(): number;
  seconds(): number;
  stop(): Promise<Blob>;
  discard(): void;
};

export class MicrophoneError extends Error {}

const preferredTypes = ['audio/webm;codecs=opus', 'audio/mp4;codecs=opus', 'audio/mp4'];
/** The processing for calls changes the voice. */
const untouched = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };

/** @param onEnded called when the microphone is disconnected @throws MicrophoneError with a message for display */
export async function startRecorder(onEnded: () => void): Promise<Recorder> {
  const stream = await openMicrophone();
  const type = preferredTypes.find((one) => MediaRecorder.isTypeSupported(one));
  const recorder = new MediaRecorder(stream, type === undefined ? {} : { mimeType: type });
  const chunks: Blob[] = [];
  recorder.addEventListener('dataavailable', ({ data }) => chunks.push(data));
  const ended = new Promise((resolve) => recorder.addEventListener('stop', resolve, { once: true }));
  void ended.then(onEnded);
  const meter = measure(stream);
  const close = async () => {
    if (recorder.state !== 'inactive') recorder.stop();
    await ended;
    for (const track of stream.getTracks()) track.stop();
    await meter.close();
  };
  recorder.start();
  const started = performance.now();
  return {
    level: meter.level,
    seconds: () => (performance.now() - started) / 1000,
    stop: async () => {
      await close();
      return new Blob(chunks, { type: recorder.mimeType });
    },
    discard: () => void close(),
  };
}

/** `recording.webm` or `recording.m4a`, by the type of the blob. */
export function fileName(stem: string, { type }: Blob): string {
  return `${stem}.${type.includes('mp4') ? 'm4a' : 'webm'}`;
}

/** @throws MicrophoneError with a message for display */
async function openMicrophone(): Promise<MediaStream> {
  if (!window.isSecureContext) {
    throw new MicrophoneError(
      'Browsers allow the microphone only on https and localhost. Open this page there, or choose a file.',
    );
  }
  if (navigator.mediaDevices === undefined || typeof MediaRecorder === 'undefined') {
    throw new MicrophoneError('This browser cannot record. Choose a file instead.');
  }
  try {
    return await navigator.mediaDevices.getUserMedia({ audio: untouched });
  } catch (error) {
    throw new MicrophoneError(refusal(error));
  }
}

function refusal(error: unknown): string {
  const name = error instanceof DOMException ? error.name : '';
  if (name === 'NotAllowedError') {
    return 'The microphone was not allowed. Allow it for this page in the address bar, then try again, or choose a file.';
  }
  if (name === 'NotFoundError') return 'No microphone was found. Connect one, or choose a file.';
  return 'The microphone does not answer. Another program may be using it: close that, or choose a file.';
}

function measure(stream: MediaStream) {
  const context = new AudioContext();
  const analyser = context.createAnalyser();
  analyser.fftSize = 2048;
  context.createMediaStreamSource(stream).connect(analyser);
  const samples = new Float32Array(analyser.fftSize);
  const level = () => {
    analyser.getFloatTimeDomainData(samples);
    return dbOf(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
  };
  return { level, close: () => context.close() };
}

/** @param power mean of the squared samples, which are -1 to 1 @returns dBFS */
function dbOf(power: number): number {
  return 10 * Math.log10(power + 1e-10);
}

// As 16-bit samples, which a live session and a WAV file share.

type PcmRecorder = Recorder & { readonly sampleRateHz: number };

type PcmRecorderOptions = {
  /** Receives the mono samples of 0.1 s. */
  readonly onBlock: (block: Int16Array<ArrayBuffer>) => void;
  /** Called when the microphone is disconnected. */
  readonly onEnded: () => void;
};

/** The highest rate of a live session. */
const maxSampleRateHz = 48_000;
const mono = { numberOfOutputs: 0, channelCount: 1, channelCountMode: 'explicit' } as const;

/** @throws MicrophoneError with a message for display */
export async function startPcmRecorder({ onBlock, onEnded }: PcmRecorderOptions): Promise<PcmRecorder> {
  const stream = await openMicrophone();
  const stopTracks = () => {
    for (const track of stream.getTracks()) track.stop();
  };
  const context = await openContext().catch((error: Error) => {
    stopTracks();
    throw new MicrophoneError(`The browser cannot process the microphone: ${error.message}`);
  });
  const close = async () => {
    stopTracks();
    await context.close();
  };
  const createNode = () => {
    try {
      return new AudioWorkletNode(context, 'pcm', mono);
    } catch (error) {
      void close();
      throw new MicrophoneError(`The browser cannot process the microphone: ${(error as Error).message}`);
    }
  };
  const blocks: Int16Array<ArrayBuffer>[] = [];
  const node = createNode();
  node.port.onmessage = ({ data }: MessageEvent<Int16Array<ArrayBuffer>>) => {
    blocks.push(data);
    onBlock(data);
  };
  context.createMediaStreamSource(stream).connect(node);
  for (const track of stream.getTracks()) track.addEventListener('ended', onEnded);
  node.addEventListener('processorerror', onEnded);
  return {
    sampleRateHz: context.sampleRate,
    level: () => levelOf(blocks.at(-1) ?? new Int16Array()),
    seconds: () => blocks.length / 10,
    stop: async () => {
      await close();
      return wavFile(blocks, context.sampleRate);
    },
    discard: () => void close(),
  };
}

/** At the rate of the device, if possible: Firefox connects a microphone to no other. */
async function openContext(): Promise<AudioContext> {
  let context = new AudioContext();
  if (context.sampleRate > maxSampleRateHz) {
    await context.close();
    context = new AudioContext({ sampleRate: maxSampleRateHz });
  }
  try {
    await context.audioWorklet.addModule(workletUrl);
    return context;
  } catch (error) {
    await context.close();
    throw error;
  }
}

function levelOf(block: Int16Array): number {
  return dbOf(block.reduce((sum, sample) => sum + (sample / 32_768) ** 2, 0) / Math.max(1, block.length));
}

/** A WAV file of mono 16-bit samples. */
function wavFile(blocks: readonly Int16Array<ArrayBuffer>[], sampleRateHz: number): Blob {
  const bytes = blocks.reduce((sum, block) => sum + block.byteLength, 0);
  return new Blob([header(bytes, sampleRateHz), ...blocks], { type: 'audio/wav' });
}

/** RIFF, WAVE, `fmt ` of PCM, and the start of `data`. */
function header(dataBytes: number, sampleRateHz: number): ArrayBuffer {
  const view = new DataView(new ArrayBuffer(44));
  const text = (at: number, name: string) => {
    for (const [index, letter] of [...name].entries()) view.setUint8(at + index, letter.charCodeAt(0));
  };
  text(0, 'RIFF');
  view.setUint32(4, 36 + dataBytes, true);
  text(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, sampleRateHz, true);
  view.setUint32(28, 2 * sampleRateHz, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  text(36, 'data');
  view.setUint32(40, dataBytes, true);
  return view.buffer;
}
