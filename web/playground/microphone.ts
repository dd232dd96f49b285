/** Records the microphone with the browser's encoder and measures its level. */

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

/** @throws MicrophoneError with a message for display */
export async function startRecorder(): Promise<Recorder> {
  const stream = await openMicrophone();
  const type = preferredTypes.find((one) => MediaRecorder.isTypeSupported(one));
  const recorder = new MediaRecorder(stream, type === undefined ? {} : { mimeType: type });
  const chunks: Blob[] = [];
  recorder.addEventListener('dataavailable', ({ data }) => chunks.push(data));
  const ended = new Promise((resolve) => recorder.addEventListener('stop', resolve, { once: true }));
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
export async function openMicrophone(): Promise<MediaStream> {
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
    const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
    return 10 * Math.log10(power + 1e-10);
  };
  return { level, close: () => context.close() };
}
