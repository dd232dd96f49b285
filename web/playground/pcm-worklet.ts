/** Runs on the audio thread: samples of the microphone as 16-bit integers, in blocks of 0.1 s. */

declare const sampleRate: number;
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}
declare function registerProcessor(name: string, processor: new () => AudioWorkletProcessor): void;

class PcmProcessor extends AudioWorkletProcessor {
  #block = new Int16Array(Math.round(sampleRate / 10));
  #length = 0;

  process([[samples = new Float32Array()] = []]: readonly (readonly Float32Array[])[]): true {
    for (const sample of samples) {
      this.#block[this.#length++] = Math.round(32_767 * Math.min(1, Math.max(-1, sample)));
      if (this.#length === this.#block.length) this.#post();
    }
    return true;
  }

  #post(): void {
    const block = this.#block;
    this.#block = new Int16Array(block.length);
    this.#length = 0;
    this.port.postMessage(block, [block.buffer]);
  }
}

registerProcessor('pcm', PcmProcessor);
