/** A WAV file of mono 16-bit samples. */
export function wavFile(blocks: readonly Int16Array<ArrayBuffer>[], sampleRateHz: number): Blob {
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
