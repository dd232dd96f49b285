/** Records the microphone as 16-bit samples, which a live session and a WAV file share. */
import { MicrophoneError, openMicrophone, type Recorder } from '../microphone.ts';
import { wavFile } from './wav.ts';
import workletUrl from './worklet.ts?worker&url';

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

/** RMS, dBFS. */
function levelOf(block: Int16Array): number {
  const power = block.reduce((sum, sample) => sum + (sample / 32_768) ** 2, 0) / Math.max(1, block.length);
  return 10 * Math.log10(power + 1e-10);
}
