import test from 'ava';
import { LabelsError, parseLabels } from '../../src/tools/evaluate/labels.ts';

test('columns in any order, quoted cells, empty cells and relative paths', (t) => {
  const csv =
    '\uFEFFspeaker,label,path,valence\nada,"happy","a, b.wav",0.25\n,,/x/c.wav,\n\nbob,Anger,d.wav,1\n';
  const absent = { arousal: null, clarity: null, group: null };
  t.deepEqual(parseLabels(csv, '/data').recordings, [
    { ...absent, path: '/data/a, b.wav', label: 'happy', valence: 0.25, speaker: 'ada' },
    { ...absent, path: '/x/c.wav', label: null, valence: null, speaker: null },
    { ...absent, path: '/data/d.wav', label: 'angry', valence: 1, speaker: 'bob' },
  ]);
});

test('other columns are ignored and named, with the known column that was probably meant', (t) => {
  const { recordings, ignored } = parseLabels('id,path,label,valance,no\u001bte\n7,a.wav,sad,0.2,\n', '/');
  t.is(recordings.length, 1);
  t.like(recordings[0], { path: '/a.wav', label: 'sad', valence: null });
  t.deepEqual(ignored, ['id', 'valance (did you mean valence?)', 'no\\u001bte']);
});

const columns =
  'Expected a first line with `path`, one or more of label, valence, arousal, clarity, and speaker and group if known';
for (const [csv, message] of [
  ['', `${columns}, got `],
  ['path,speaker\na.wav,ada', `${columns}, got path,speaker`],
  ['path,label', 'Expected one or more recordings, got none'],
  ['path,label\n,sad', 'Expected a path in line 2, got none'],
  ['path,valence\na.wav,1.5', 'Expected a number from 0 to 1 for `valence` in line 2, got 1.5'],
  [
    'path,label\na.wav,sa\u001bd',
    'Expected text without control characters for `label` in line 2, got sa\\u001bd',
  ],
  ['path,valence\na.wav,0.5\nb.wav,high', 'Expected a number from 0 to 1 for `valence` in line 3, got high'],
] as const) {
  test(message, (t) => {
    t.throws(() => parseLabels(csv, '/'), { instanceOf: LabelsError, message });
  });
}

test('a line with too many cells is named', (t) => {
  t.throws(() => parseLabels('path,label\na.wav,sad,more', '/'), {
    instanceOf: LabelsError,
    message: /^Expected CSV, got a file that is none: .*line 2/,
  });
});
