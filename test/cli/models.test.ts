/** `undertone models` with graphs that the tests write. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import test from 'ava';
import type { CombinedReport } from '../../src/engine/report.ts';
import { sha256 } from '../../src/service/sha256.ts';
import type { GraphWriter } from '../../src/tools/models/graph.ts';
import { runCli } from '../support/cli.ts';
import { embedded } from '../support/external-weights.ts';
import { makeFolder } from '../support/folder.ts';
import { makeCorpus } from '../support/labelled-corpus.ts';
import { memoize } from '../support/memoize.ts';
import { affectFolder, exportedFolder, onnxFile, writeDullness } from '../support/onnx-source.ts';
import { share } from '../support/share.ts';
import { words } from '../support/words.ts';

const sample = 'examples/sample.wav';
const classifier = () => exportedFolder(onnxFile({ write: writeDullness }));

/** Of a set that stays as it is. */
const reportOf = memoize(async (models: string): Promise<CombinedReport> => {
  const { code, stdout, stderr } = await runCli(words`analyze ${sample} --models ${models} --output jsonl`);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
});

/** The classifier as a set, which the tests read. */
const shared = share(test, async () => {
  const out = join(makeFolder(), 'mine');
  return { out, added: await runCli(words`models add ${classifier()} --out ${out}`) };
});

test('a classifier answers emotion, and the shipped set the rest', async (t) => {
  const { out, added } = shared();
  const { code, stdout, stderr } = added;
  t.is(code, 0, stderr);
  t.regex(
    stdout,
    /mine: neutral, angry\nlicence of exported: apache-2\.0 \(it permits commercial use on its terms\)\n/,
  );
  t.regex(
    stdout,
    /\d+ ms for an utterance of 10 s on one core: \d+ s of speech per second\nnot calibrated: /,
  );
  const [mine, shipped] = [await reportOf(out), await reportOf('models/standard')];
  t.deepEqual(Object.keys(mine.emotion.signals.emotions ?? {}), ['neutral', 'angry']);
  t.true(mine.emotion.warnings.includes('uncalibrated'));
  t.is(mine.emotion.signals.valence, null);
  t.is(mine.emotion.moments, null);
  const graph = readFileSync(join(out, 'trunk', 'samples.onnx'));
  t.deepEqual(mine.emotion.model.origin, {
    model: 'exported',
    source: 'exported',
    licence: 'apache-2.0',
    sha256: sha256(graph),
  });
  t.deepEqual(mine.cognitive.signals, shipped.cognitive.signals);
  t.is(mine.emotion.timeline.length, shipped.emotion.timeline.length);
  const listed = await runCli(['models', 'list', join(out, '..')]);
  t.regex(listed.stdout, /mine +neutral angry +not calibrated +exported: apache-2\.0/);
  t.regex(listed.stdout, /models\/fast +neutral happy .* calibrated/);
  const doctor = await runCli(['doctor'], { env: { UNDERTONE_MODELS_DIR: out } });
  t.notRegex(doctor.stdout, /trunk tokens/);
  const copy = join(makeFolder(), 'copy');
  cpSync(out, copy, { recursive: true });
  t.is((await runCli(['models', 'remove', copy])).code, 0);
  t.false(existsSync(copy));
});

test('voices are compared as with the shipped set, and a stream has the scores of the file', async (t) => {
  const { out } = shared();
  const [mine, shipped] = await Promise.all(
    [out, 'models/standard'].map(async (models) => {
      const args = words`analyze examples/call.ogg --speakers 2 --models ${models} --output jsonl`;
      return JSON.parse((await runCli(args)).stdout);
    }),
  );
  const load = ({ speakers }: { speakers: CombinedReport[] }) =>
    speakers.map(({ cognitive }) => cognitive.signals);
  t.is(load(mine).length, 2);
  t.deepEqual(load(mine), load(shipped));
  const live = await runCli(['listen', '-', '--json', '--models-dir', out], { input: readFileSync(sample) });
  t.is(live.code, 0, live.stderr);
  const messages = live.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const { report } = messages.find(({ type }) => type === 'final');
  t.deepEqual(report.emotion.signals, (await reportOf(out)).emotion.signals);
});

test('labelled recordings calibrate it, and evaluate judges it', async (t) => {
  const corpus = makeCorpus(120);
  const source = exportedFolder(onnxFile({ write: writeDullness }), {
    'config.json': {
      architectures: ['HubertForSequenceClassification'],
      id2label: { 0: 'dull', 1: 'bright' },
    },
  });
  const [mine, ours] = ['mine', 'ours'].map((name) => join(corpus.folder, name)) as [string, string];
  t.is((await runCli(['models', 'add', source, '--out', mine])).code, 0);
  const report = join(corpus.folder, 'report');
  const evaluated = await runCli(['evaluate', corpus.test, '--models', mine, '--out', report]);
  t.is(evaluated.code, 0, evaluated.stderr);
  t.regex(evaluated.stdout, /UAR/);
  const adapted = await runCli(['adapt', corpus.train, '--models', mine, '--out', ours]);
  t.is(adapted.code, 0, adapted.stdout + adapted.stderr);
  const { emotion } = await reportOf(ours);
  t.false(emotion.warnings.includes('uncalibrated'));
  t.deepEqual(Object.keys(emotion.signals.emotions ?? {}), ['dull', 'bright']);
});

test('valence and arousal of another maker have intervals once ratings have calibrated them', async (t) => {
  const corpus = makeCorpus(60);
  const inside = (name: string) => join(corpus.folder, name);
  const [mine, ours, ratings] = [inside('mine'), inside('ours'), inside('ratings.csv')];
  const { code, stdout, stderr } = await runCli(['models', 'add', affectFolder(), '--out', mine]);
  t.is(code, 0, stderr);
  t.regex(stdout, /mine: arousal, dominance, valence\n/);
  const [report, shipped] = [await reportOf(mine), await reportOf('models/standard')];
  const { valence, arousal, emotions, intervals } = report.emotion.signals;
  t.true(Math.abs((valence ?? 0) + (arousal ?? 0) - 1) < 0.001);
  t.deepEqual(intervals, { valence: null, arousal: null });
  t.deepEqual(emotions, shipped.emotion.signals.emotions);
  t.true(report.emotion.warnings.includes('uncalibrated'));
  t.is(report.emotion.moments, null);
  t.true(report.emotion.timeline.every(({ relative }) => relative === null));
  const text = await runCli(['analyze', sample, '--models', mine]);
  t.regex(text.stdout, /valence +0\.\d\d {2}0 negative/);
  const rows = readFileSync(corpus.train, 'utf8').trim().split('\n').slice(1);
  const rated = rows.map((row) => row.replace('bright', '0.7,0.4').replace('dull', '0.3,0.6'));
  writeFileSync(ratings, ['path,arousal,valence,speaker', ...rated, ''].join('\n'));
  const adapted = await runCli(['adapt', ratings, '--models', mine, '--out', ours]);
  t.is(adapted.code, 0, adapted.stdout + adapted.stderr);
  const { emotion } = await reportOf(ours);
  t.false(emotion.warnings.includes('uncalibrated'));
  const [low, high] = emotion.signals.intervals?.arousal ?? [0, 0];
  t.true(low < high && high - low < 0.6, `${low} to ${high}`);
});

/** The labels of the test part as emotions that shipped sets have too. @returns the file */
function writeEmotions({ folder, test }: ReturnType<typeof makeCorpus>): string {
  const file = join(folder, 'emotions.csv');
  const rows = readFileSync(test, 'utf8').replaceAll('bright', 'angry').replaceAll('dull', 'neutral');
  writeFileSync(file, rows);
  return file;
}

test('evaluate compares two sets on the labels and dimensions that both have', async (t) => {
  const corpus = makeCorpus(60);
  const out = join(corpus.folder, 'report');
  const labels = writeEmotions(corpus);
  const args = words`evaluate ${labels} --models ${shared().out} --compare fast --out ${out}`;
  const { code, stdout, stderr } = await runCli(args);
  t.is(code, 0, stderr);
  t.regex(stdout, /^ +fast +mine +difference +better\nUAR of neutral, angry +0\.\d{3} +1\.000 .* yes$/m);
  const { comparison } = JSON.parse(readFileSync(join(out, 'report.json'), 'utf8'));
  t.deepEqual(comparison.sets, ['fast', 'mine']);
  t.is(comparison.figures[0].after.value, 1);
  t.true(comparison.figures[0].improves);
  t.regex(readFileSync(join(out, 'report.html'), 'utf8'), /<h2>Two sets of models<\/h2>/);
});

function encoder(): string {
  const model = onnxFile({
    output: ['last_hidden_state', ['batch', 'frames', 3]],
    write: (g, input, output) => {
      const column = g.op('Reshape', [input, g.integers(1, -1, 1)]);
      g.op('MatMul', [column, g.floats(Float32Array.of(1, -1, 2), [1, 3])], {}, output);
    },
  });
  return exportedFolder(model, { 'config.json': { architectures: ['WavLMModel'] } });
}

test('scores of one graph are not those of another with the same head', async (t) => {
  const corpus = makeCorpus(60);
  const out = join(corpus.folder, 'report');
  const labels = writeEmotions(corpus);
  const turned = exportedFolder(
    onnxFile({
      write: (g, input, output) => {
        writeDullness(g, input, 'between');
        g.op('Neg', ['between'], {}, output);
      },
    }),
  );
  const uars: number[] = [];
  for (const [name, source] of [
    ['mine', classifier()],
    ['turned', turned],
  ] as const) {
    const set = join(corpus.folder, name);
    t.is((await runCli(['models', 'add', source, '--out', set, '--models', 'fast'])).code, 0);
    t.is((await runCli(['evaluate', labels, '--models', set, '--out', out])).code, 0);
    const { figures } = JSON.parse(readFileSync(join(out, 'report.json'), 'utf8'));
    uars.push(figures.find(({ figure }: { figure: string }) => figure.startsWith('UAR')).value);
  }
  t.deepEqual(uars, [1, 0]);
});

test('an encoder adds to the embeddings, and changes no score', async (t) => {
  const out = join(makeFolder(), 'mine');
  const { stdout, code, stderr } = await runCli(words`models add ${encoder()} --out ${out} --models fast`);
  t.is(code, 0, stderr);
  t.regex(stdout, /mine: encoder of 3 values\n/);
  t.regex(stdout, /scores are those of fast until undertone adapt/);
  const [mine, shipped] = [await reportOf(out), await reportOf('models/fast')];
  t.deepEqual(mine.emotion.signals, shipped.emotion.signals);
  t.is(mine.emotion.model.origin?.licence, 'apache-2.0');
  const embedded = await runCli(['embed', sample, '--models', out]);
  t.is(
    JSON.parse(embedded.stdout).embedding?.length ?? JSON.parse(embedded.stdout).embeddings?.length,
    512 + 3,
    embedded.stdout.slice(0, 500),
  );
});

test('an ONNX file with a description in JSON', async (t) => {
  const folder = makeFolder();
  writeFileSync(
    join(folder, 'vendor.onnx'),
    onnxFile({ input: ['samples', [1, 48_000]], output: ['tokens', [1, 2]], write: writeDullness }),
  );
  const description = {
    licence: 'as agreed',
    input: { sampleRate: 16_000 },
    output: { kind: 'logits', labels: ['=1+1', 'ok'] },
  };
  const add = (...rest: string[]) =>
    runCli(['models', 'add', join(folder, 'vendor.onnx'), '--out', join(folder, 'mine'), ...rest]);
  const absent = await add();
  t.is(absent.code, 2);
  t.regex(absent.stderr, /^Expected .*vendor\.json, got none: docs\/your-model\.md describes it\n$/);
  const describe = (kind: string) =>
    writeFileSync(
      join(folder, 'vendor.json'),
      JSON.stringify({ ...description, output: { ...description.output, kind } }),
    );
  describe('probabilities');
  t.regex(
    (await add('--label', '=1+1=tense')).stderr,
    /^Expected probabilities, whose sum is 1, as output, got /m,
  );
  describe('logits');
  t.regex((await add()).stderr, /^Expected labels of 1 to 64 printable characters, got "=1\+1": --label /);
  const { code, stdout, stderr } = await add('--label', '=1+1=tense');
  t.is(code, 0, stderr);
  t.regex(
    stdout,
    /mine: tense, ok\nlicence of vendor\.onnx: as agreed \(whether it permits commercial use, its text says\)\n.* of 3 s /,
  );
  t.true((await reportOf(join(folder, 'mine'))).emotion.timeline.length > 5);
});

test('the cases of docs/your-model.md', async (t) => {
  const page = readFileSync('docs/your-model.md', 'utf8');
  const [, description = ''] = /```json\n(.*?)```/s.exec(page) ?? [];
  const folder = makeFolder();
  for (const name of ['wav2vec2-emotion', 'wav2vec2-er']) renameSync(classifier(), join(folder, name));
  renameSync(encoder(), join(folder, 'wavlm'));
  writeFileSync(join(folder, 'vendor.json'), description);
  const { input, output } = JSON.parse(description);
  const shape = [1, output.labels.length];
  const write = (g: GraphWriter, from: string, to: string) => {
    const logits = g.op('Identity', [from]);
    writeDullness(g, logits, 'between');
    g.op('Softmax', ['between'], { axis: 1 }, to);
  };
  writeFileSync(
    join(folder, 'vendor.onnx'),
    onnxFile({ input: [input.name, [1, 'samples']], output: [output.name, shape], write }),
  );
  const commands = [...page.matchAll(/^undertone (models add .*)$/gm)].map(([, command = '']) => command);
  t.is(commands.length, 4);
  for (const command of commands) {
    const { code, stderr } = await runCli(command.split(' '), { cwd: folder });
    t.is(code, 0, `${command}: ${stderr}`);
  }
  const { signals } = (await reportOf(join(folder, 'models', 'vendor'))).emotion;
  t.deepEqual(Object.keys(signals.emotions ?? {}), output.labels);
});

test('weights in another file of the folder become part of the set', async (t) => {
  const out = join(makeFolder(), 'mine');
  const source = classifier();
  const { model, data } = embedded(readFileSync(join(source, 'model.onnx')), 'model.onnx_data');
  writeFileSync(join(source, 'model.onnx'), model);
  writeFileSync(join(source, 'model.onnx_data'), data);
  const { code, stderr } = await runCli(['models', 'add', source, '--out', out]);
  t.is(code, 0, stderr);
  t.deepEqual((await reportOf(out)).emotion.signals, (await reportOf(shared().out)).emotion.signals);
  mkdirSync(join(source, 'deep'));
  renameSync(join(source, 'model.onnx_data'), join(source, '..', 'model.onnx_data'));
  const { model: outside } = embedded(onnxFile({ write: writeDullness }), '../model.onnx_data');
  writeFileSync(join(source, 'model.onnx'), outside);
  const refused = await runCli(['models', 'add', source, '--out', join(makeFolder(), 'mine')]);
  t.is(refused.code, 2);
  t.regex(
    refused.stderr,
    /^Expected weights in a file of the source folder, got "\.\.\/model\.onnx_data"\n$/,
  );
});

test('weights of a folder that a link leads out of are refused', async (t) => {
  const source = exportedFolder(onnxFile({ write: writeDullness }));
  const { model, data } = embedded(onnxFile({ write: writeDullness }), 'sub/model.onnx_data');
  writeFileSync(join(source, 'model.onnx'), model);
  const outside = makeFolder();
  writeFileSync(join(outside, 'model.onnx_data'), data);
  symlinkSync(outside, join(source, 'sub'));
  const { code, stderr } = await runCli(['models', 'add', source, '--out', join(makeFolder(), 'mine')]);
  t.is(code, 2);
  t.regex(stderr, /^Expected a file of at most 2 GiB, got .*: none inside the allowed folders\n$/);
});

/** A folder with a graph that the tests write. */
const graph = (write: Parameters<typeof onnxFile>[0]['write'], others: object = {}) =>
  exportedFolder(onnxFile({ ...others, write }));
const dull = (changes: Parameters<typeof exportedFolder>[1]) =>
  exportedFolder(onnxFile({ write: writeDullness }), changes);

/** Two values of a graph that is `size` wide in between. */
const wide = (size: number, widen: (g: GraphWriter, from: string) => string = (_, from) => from) =>
  graph((g, input, output) => {
    const expanded = g.op('Expand', [g.reduce('ReduceMean', input, 1), g.integers(1, size)]);
    g.op('Slice', [widen(g, expanded), g.integers(0), g.integers(2), g.integers(1)], {}, output);
  });

const control = (got: string) => new RegExp(`^Expected operators without control flow, got ${got}\n$`);
const at8kHz = { feature_extractor_type: 'Wav2Vec2FeatureExtractor', sampling_rate: 8000 };
const manyBins = { feature_extractor_type: 'ASTFeatureExtractor', num_mel_bins: 1e8 };
const twins = { architectures: ['ASTForAudioClassification'], id2label: { 0: 'ang', 1: 'anger' } };

type Refusal = readonly [source: string, message: RegExp, options?: readonly string[]];

const refusals: Readonly<Record<string, Refusal>> = {
  'no graph': [exportedFolder(Buffer.from('no ONNX file')), /^Expected an ONNX file, got .*model\.onnx: /],
  'control flow': [graph((g, from, to) => g.op('Loop', [from], {}, to)), control('Loop')],
  'operators of another maker': [
    graph((g, from, to) => g.op('Relu', [from], {}, to, 'evil'), {
      opsets: Object.entries({ '': 17, evil: 1 }),
    }),
    control('evil\\.Relu'),
  ],
  'weights that are no numbers': [
    graph((g, input, output) => {
      const level = g.reduce('ReduceMean', input, 1);
      g.op('MatMul', [level, g.floats(Float32Array.of(Number.NaN, 1), [1, 2])], {}, output);
    }),
    /^Expected finite numbers as output, got others\n$/,
  ],
  'more memory than there is': [wide(2 ** 40), /Expected a graph that runs in samples\.onnx, got: /],
  'more memory than is allowed': [
    wide(2 ** 29, (g, from) => g.op('Exp', [from])),
    /^Expected a model that runs in 1024 MiB, got one that takes more: --max-memory allows it\n$/,
    words`--max-memory 1024`,
  ],
  'more time than is allowed': [
    classifier(),
    /^Expected a model that runs within 0\.01 s, got one that takes longer: --max-seconds allows it\n$/,
    words`--max-seconds 0.01`,
  ],
  'an old graph': [
    graph(writeDullness, { opsets: [['', 11]] }),
    /^Expected operators of version 13 or later, got 11/,
  ],
  'another number of labels': [
    graph(writeDullness, { output: ['logits', ['batch', 3]] }),
    /^Expected 2 values of logits, got 3\n$/,
  ],
  'no licence': [dull({ 'README.md': '# Model\n' }), /^Expected the licence of the model, got none: /],
  'another rate': [
    dull({ 'preprocessor_config.json': at8kHz }),
    /^Expected a model of 16000 Hz, got 8000 Hz\n$/,
  ],
  'features without end': [
    dull({ 'preprocessor_config.json': manyBins }),
    /^preprocessor_config\.json: .*num_mel_bins/s,
  ],
  'labels that become one': [dull({ 'config.json': twins }), /^Expected each label once, got angry twice: /],
  'a shipped name': [
    classifier(),
    /^Expected a folder that does not exist for `--out`, got models\/fast, which exists\n$/,
    words`--out models/fast`,
  ],
};

for (const [name, [source, message, options = []]] of Object.entries(refusals)) {
  test(`refused: ${name}`, async (t) => {
    const folder = makeFolder();
    const args = words`models add ${source} --out ${join(folder, 'mine')} ${options}`;
    const { code, stdout, stderr } = await runCli(args);
    t.not(code, 0);
    t.is(stdout, '');
    t.regex(stderr, message);
    t.deepEqual(readdirSync(folder), []);
  });
}

test('a folder whose graph has changed does not load', async (t) => {
  const out = join(makeFolder(), 'mine');
  cpSync(shared().out, out, { recursive: true });
  const file = join(out, 'trunk', 'samples.onnx');
  writeFileSync(file, onnxFile({ write: (g, input, output) => g.op('Scan', [input], {}, output) }));
  const { code, stderr } = await runCli(['analyze', sample, '--models', out]);
  t.is(code, 2);
  t.regex(stderr, /^Model trunk: Expected "[0-9a-f]{64}" for `weights\.sha256`/);
  const shipped = await runCli(['models', 'remove', 'models/fast']);
  t.regex(
    shipped.stderr,
    /^Expected a set that was added for `folder`, got models\/fast, which is shipped\n$/,
  );
  t.true(existsSync('models/fast'));
  const links = makeFolder();
  symlinkSync(resolve('models'), join(links, 'models'));
  const linked = await runCli(['models', 'remove', join(links, 'models', 'fast')]);
  t.regex(linked.stderr, /^Expected a set that was added for `folder`, got .*, which is shipped\n$/);
  t.true(existsSync('models/fast'));
  const mixed = join(makeFolder(), 'mixed');
  cpSync(shared().out, mixed, { recursive: true });
  mkdirSync(join(mixed, 'documents'));
  const kept = await runCli(['models', 'remove', mixed]);
  t.regex(kept.stderr, /^Expected a folder of models/);
  t.true(existsSync(join(mixed, 'documents')));
});
