/** Folders as Optimum exports them, with graphs that the tests write. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GraphWriter, writeModel, writeValue } from '../../src/tools/models/graph.ts';
import { makeFolder } from './folder.ts';

const irVersion = 9;
const opset = 17;

type Graph = {
  readonly input?: readonly [name: string, shape: readonly (number | string)[]];
  readonly output?: readonly [name: string, shape: readonly (number | string)[]];
  readonly opsets?: readonly (readonly [string, number])[];
  /** Adds what is between input and output. */
  readonly write: (g: GraphWriter, input: string, output: string) => void;
};

export function onnxFile({
  input = ['input_values', ['batch', 'samples']],
  output = ['logits', ['batch', 2]],
  opsets = [['', opset]],
  write,
}: Graph): Buffer {
  const g = new GraphWriter('n', opset);
  write(g, input[0], output[0]);
  const { nodes, weights } = g;
  return writeModel({
    irVersion,
    opsets,
    nodes,
    weights,
    inputs: [writeValue(...input)],
    outputs: [writeValue(...output)],
  });
}

/** Logits of two labels: the first is the more probable one the duller a voice is. */
export function writeDullness(g: GraphWriter, input: string, output: string): void {
  const [all, later] = [0, 1].map((from) =>
    g.op('Slice', [input, g.integers(from), g.integers(from - 1 || 2 ** 40), g.integers(1)]),
  ) as [string, string];
  const energy = (x: string) => g.reduce('ReduceMean', g.op('Mul', [x, x]), 1);
  const ratio = g.op('Div', [energy(g.op('Sub', [later, all])), energy(later)]);
  const weights = g.floats(Float32Array.of(-4, 4), [1, 2]);
  const shift = g.floats(Float32Array.of(1, -1), [1, 2]);
  g.op('Add', [g.op('MatMul', [ratio, weights]), shift], {}, output);
}

type Files = Readonly<Record<string, string | Uint8Array | object>>;

const config = { architectures: ['Wav2Vec2ForSequenceClassification'], id2label: { 1: 'ang', 0: 'neu' } };
const preprocessor = {
  feature_extractor_type: 'Wav2Vec2FeatureExtractor',
  do_normalize: true,
  sampling_rate: 16_000,
};

/** @param changes files that differ; null: absent */
export function exportedFolder(model: Uint8Array, changes: Files = {}): string {
  const folder = join(makeFolder(), 'exported');
  mkdirSync(folder);
  const files: Files = {
    'model.onnx': model,
    'config.json': config,
    'preprocessor_config.json': preprocessor,
    'README.md': '---\nlicense: apache-2.0\n---\n',
    ...changes,
  };
  for (const [name, content] of Object.entries(files)) {
    const isText = typeof content === 'string' || content instanceof Uint8Array;
    writeFileSync(join(folder, name), isText ? content : JSON.stringify(content));
  }
  return folder;
}

/** Arousal, dominance and valence: the duller a voice, the less aroused and the more positive. */
export function affectFolder(): string {
  const model = onnxFile({
    output: ['logits', ['batch', 3]],
    write: (g, input, output) => {
      writeDullness(g, input, 'between');
      const shares = g.op('Sigmoid', ['between']);
      g.op('MatMul', [shares, g.floats(Float32Array.of(0, 0, 1, 1, 0, 0), [2, 3])], {}, output);
    },
  });
  const id2label = { 0: 'arousal', 1: 'dominance', 2: 'valence' };
  const config = { architectures: ['Wav2Vec2ForSpeechClassification'], id2label };
  return exportedFolder(model, { 'config.json': config });
}
