/** Forms of analyses and jobs: their parts, and the segments of speakers. */
import test from 'ava';
import { boundary, multipart, type PartSpec } from '../../benchmarks/upload-body.ts';
import { ServiceError } from '../../src/service/errors.ts';
import { createFormReader, readForm } from '../../src/service/form.ts';
import { parseSegments } from '../../src/service/segments.ts';

function part(name: string, text = 'bytes', type?: string): PartSpec {
  return { name, bytes: text, ...(type === undefined ? {} : { type }) };
}

const read = (parts: readonly PartSpec[]) => readForm(multipart(parts), boundary);

function problemOf(parts: readonly PartSpec[]) {
  const failure = (() => {
    try {
      read(parts);
    } catch (error) {
      if (error instanceof ServiceError) return error;
    }
    throw new Error('Expected a Failure, got none');
  })();
  return failure.problems[0];
}

test('the first part of each name counts and unknown ones are listed', (t) => {
  const form = read([
    part('x'),
    part('audio', '1'),
    part('audio', '2'),
    part('channel', ' 3\r\n'),
    part('timeline', 'windows'),
    part('baseline', '4'),
  ]);
  t.deepEqual(form, {
    audio: Buffer.from('1'),
    baselines: [Buffer.from('4')],
    channel: 3,
    track: null,
    channels: null,
    receipt: false,
    segments: null,
    speakers: null,
    ignored: [
      { name: 'x', msg: 'Unknown part' },
      { name: 'timeline', msg: 'Unknown part' },
    ],
  });
});

test('a misspelt part comes with the one that was probably meant, in harmless characters', (t) => {
  const ignoredOf = (...names: readonly string[]) =>
    read([part('audio'), ...names.map((name) => part(name))]).ignored;
  t.deepEqual(ignoredOf('chanel', 'chanel', 'Baseline'), [
    { name: 'chanel', msg: 'Unknown part: did you mean `channel`?' },
    { name: 'Baseline', msg: 'Unknown part: did you mean `baseline`?' },
  ]);
  t.deepEqual(
    ignoredOf('<b>é\u001b', 'audio[]', 'n'.repeat(100)).map(({ name }) => name),
    ['?b???', 'audio[]', 'n'.repeat(64)],
  );
  t.is(ignoredOf(...Array.from({ length: 40 }, (_, index) => `name-${index}`)).length, 10);
  t.deepEqual(
    ignoredOf('segmnets', 'file').map(({ msg }) => msg),
    ['Unknown part: did you mean `segments`?', 'Unknown part'],
  );
  const ofJobs = [part('audio'), part('metadata', '{"a":"b"}'), part('callback')];
  t.deepEqual(
    read(ofJobs).ignored,
    ['callback', 'metadata'].map((name) => ({ name, msg: 'Only POST /v1/jobs has this part' })),
  );
  t.deepEqual(ignoredOf('channel'.slice(0, 0)), [{ name: '', msg: 'Unknown part' }]);
});

test('up to five baselines count, in their order', (t) => {
  const five = [1, 2, 3, 4, 5].map((number) => part('baseline', String(number)));
  const { baselines } = read([...five.slice(0, 2), part('audio'), ...five.slice(2)]);
  t.deepEqual(baselines.map(String), ['1', '2', '3', '4', '5']);
  t.deepEqual(problemOf([part('audio'), ...five, part('baseline', '6')]), {
    where: 'body',
    field: 'baseline',
    message: 'Expected at most 5 parts `baseline`, got more',
    reason: 'audio.too_many',
  });
  t.is(problemOf([part('audio'), part('baseline'), part('baseline', '')])?.reason, 'audio.empty');
});

test('without audio a field is required', (t) => {
  t.deepEqual(problemOf([part('file')]), {
    where: 'body',
    field: 'audio',
    message:
      'field required: expected a recording in the part `audio` of a form (multipart/form-data), got a form with `file`. Name the part `audio`: curl -F audio=@recording.wav',
    reason: 'missing',
  });
});

test('the error without audio names the parts', (t) => {
  const gotOf = (...names: readonly string[]) =>
    problemOf(names.map((name) => part(name)))?.message.match(/got (.*)\. Name/)?.[1];
  t.is(gotOf('file', 'channel'), 'a form with `file`, `channel`');
  t.is(gotOf(...'abcdef'), 'a form with `a`, `b`, `c`, `d` and 2 more');
  t.is(gotOf('<b>', 'audio[]'), 'a form with a part of another name, `audio[]`');
});

test('no bytes are no recording', (t) => {
  for (const name of ['audio', 'baseline']) {
    t.deepEqual(problemOf([part('audio', name === 'audio' ? '' : 'x'), part(name, '')]), {
      where: 'body',
      field: name,
      message: `Expected a recording for \`${name}\`, got no bytes`,
      reason: 'audio.empty',
    });
  }
});

test('content types of audio, video and bytes are accepted', (t) => {
  const types = [
    'audio/wav',
    'audio/x-anything',
    'video/webm',
    'application/octet-stream',
    'binary/octet-stream',
    'application/ogg',
    'application/mp4',
    undefined,
  ];
  for (const type of types) t.notThrows(() => read([part('audio', 'x', type)]));
});

test('other declared types are refused by name, when it is one', (t) => {
  const expected =
    'Expected a content type of audio/*, video/*, application/octet-stream, binary/octet-stream, application/ogg or application/mp4';
  for (const [type, got] of [
    ['text/plain', 'text/plain'],
    ['image/png', 'image/png'],
    ['application/json', 'application/json'],
    ['<script>', 'something else'],
  ] as const) {
    t.deepEqual(problemOf([part('audio', 'x', type)]), {
      where: 'body',
      field: 'audio',
      message: `${expected} for \`audio\`, got ${got}`,
      reason: 'audio.content_type',
    });
  }
  t.is(problemOf([part('audio'), part('baseline', 'x', 'text/plain')])?.field, 'baseline');
});

test('a channel is a number counted from 0', (t) => {
  t.is(read([part('audio'), part('channel', '0')]).channel, 0);
  t.is(read([part('audio'), part('track', '1')]).track, 1);
  for (const text of ['', '-1', '1.5', 'left', '99999', '1'.repeat(20)]) {
    t.deepEqual(problemOf([part('audio'), part('channel', text)]), {
      where: 'body',
      field: 'channel',
      message: 'Expected the number of a channel, counted from 0, for `channel`, got something else',
      reason: 'audio.channel',
    });
  }
});

test('a form in blocks has the result of the whole form', (t) => {
  const body = multipart([
    part('x'),
    part('audio', 'a recording'),
    part('callback', ' https://example.org/ '),
    part('channel', '2'),
    part('baseline', 'at rest'),
    part('audio', 'another'),
  ]);
  const got: Record<string, string> = { audio: '', baseline: '' };
  const reader = createFormReader(boundary, (name, bytes) => {
    got[name] += Buffer.from(bytes).toString();
  });
  for (const byte of body) reader.write(Uint8Array.of(byte));
  const sizes = { audio: 11, baselines: [7] };
  t.deepEqual(reader.end(), {
    sizes,
    channel: 2,
    track: null,
    channels: null,
    receipt: false,
    segments: null,
    speakers: null,
    callback: 'https://example.org/',
    ignored: [{ name: 'x', msg: 'Unknown part' }],
    metadata: {},
  });
  t.deepEqual(got, { audio: 'a recording', baseline: 'at rest' });
});

test('texts are UTF-8, and JSON in them follows the rules of JSON bodies', (t) => {
  const metadataOf = (bytes: string | Buffer) => {
    const reader = createFormReader(boundary, () => {});
    reader.write(multipart([part('audio'), { name: 'metadata', bytes }]));
    return reader.end().metadata;
  };
  for (const text of ['\ufffd', 'é', '__proto', '\u2028'])
    t.deepEqual(metadataOf(JSON.stringify({ [text]: text })), { [text]: text });
  t.deepEqual(metadataOf('{"a":"\\u005f_proto__"}'), { a: '__proto__' });
  const refusals = {
    '{"a":"\xff"}': /^Expected UTF-8 for `metadata`, got other bytes$/,
    '{"a":"\xe2\x82"}': /^Expected UTF-8 for `metadata`, got other bytes$/,
    '{"__proto__":"a"}': /^Expected an object of text values/,
    '{"__proto__":{"a":"b"}}': /^Expected an object of text values/,
    '{"\\u005F_prot\\u006f__":"a"}': /^Expected an object of text values/,
  };
  for (const [text, message] of Object.entries(refusals)) {
    const error = t.throws(() => metadataOf(Buffer.from(text, 'latin1')), {
      instanceOf: ServiceError,
      message,
    });
    t.like(error?.problems[0], { field: 'metadata', reason: 'metadata' });
  }
  t.throws(() => parseSegments('[{"start":0,"end":1,"speaker":"A","__proto__":{}}]'), {
    message: /got broken JSON$/,
  });
});

test('texts are bounded', (t) => {
  const long = `https://example.org/${'x'.repeat(4096)}`;
  t.like(problemOf([part('audio'), part('callback', long)]), {
    where: 'body',
    field: 'callback',
    reason: 'callback',
  });
});

const segment = (start: number, end: number, speaker: string) => ({ start, end, speaker });

test('JSON and RTTM with the same segments are equal, in order of their starts', (t) => {
  const rttm = [
    ';; a comment',
    'SPKR-INFO call 1 <NA> <NA> <NA> unknown A <NA> <NA>',
    'SPEAKER call 1 2.5 1.5 <NA> <NA> B <NA> <NA>',
    '',
    'SPEAKER call 1 0 2.25 <NA> <NA> A',
  ];
  const want = [segment(0, 2.25, 'A'), segment(2.5, 4, 'B')];
  t.deepEqual(parseSegments(rttm.join('\r\n')), want);
  t.deepEqual(parseSegments(` ${JSON.stringify([...want].reverse())}\n`), want);
  t.deepEqual(parseSegments('[{"start":0,"end":1,"speaker":"A","text":"yes"}]'), [segment(0, 1, 'A')]);
});

const many = (count: number, speakers: number) =>
  JSON.stringify(
    Array.from({ length: count }, (_, index) => segment(index, index + 1, `${index % speakers}`)),
  );

const refused: Readonly<Record<string, readonly [text: string, message: RegExp]>> = {
  'no segment': ['[]', /^Expected 1 to 1000 segments, in `segments`, got 0$/],
  'an empty part': ['', /^Expected 1 to 1000 segments, in `segments`, got 0$/],
  'too many segments': [many(1001, 2), /^Expected 1 to 1000 segments, in `segments`, got 1001$/],
  'too many speakers': [many(42, 21), /^Expected at most 20 speakers, in `segments`, got 21$/],
  'broken JSON': ['[{]', /got broken JSON$/],
  'JSON that is no array': ['{"segments": []}', /got other JSON$/],
  'no object': ['[1]', /^Expected an object with start, end and speaker, in `segments\[0\]`, got/],
  'a negative start': [
    JSON.stringify([segment(0, 1, 'A'), segment(-1, 1, 'A')]),
    /^Expected 0 or more for start, in `segments\[1\]`, got/,
  ],
  'an end at the start': [JSON.stringify([segment(1, 1, 'A')]), /^Expected an end after the start, in/],
  'a time as text': ['[{"start":"0","end":1,"speaker":"A"}]', /^Expected seconds for start, in/],
  'no name': [JSON.stringify([segment(0, 1, '')]), /^Expected 1 to 64 printable characters for speaker, in/],
  'a name of 65 characters': [JSON.stringify([segment(0, 1, 'A'.repeat(65))]), /^Expected 1 to 64 printable/],
  'another RTTM type': ['SPEAKER c 1 0 1 x x A\nLEXEME c 1 0 1 x x A', /line 2 of `segments`, got/],
  'an RTTM time that is no number': ['SPEAKER c 1 zero 1 x x A', /in line 1 of `segments`, got/],
};

for (const [name, [text, message]] of Object.entries(refused)) {
  test(`${name} is refused`, (t) => {
    const error = t.throws(() => parseSegments(text), { instanceOf: ServiceError, message });
    t.like(error?.problems[0], { field: 'segments', reason: 'segments' });
  });
}

test('names of speakers are printable characters of any script, also in RTTM', (t) => {
  for (const name of ['Ada Lovelace', 'م\u200cن', '李', 'क्‍ष', '👩‍🚀'.repeat(21), '😀'.repeat(64)])
    t.is(parseSegments(JSON.stringify([segment(0, 1, name)]))[0]?.speaker, name);
  for (const name of [
    '\0',
    'A\u001b[2J',
    '\u0085',
    '\u202e',
    '\u2028',
    '\ud800',
    '\ue000',
    '\u{e0001}',
    '😀'.repeat(65),
  ]) {
    t.throws(() => parseSegments(JSON.stringify([segment(0, 1, name)])), { message: /printable/ }, name);
  }
  t.throws(() => parseSegments('SPEAKER c 1 0 1 x x A\0'), { message: /printable/ });
});

test('the limits are inclusive', (t) => {
  t.is(parseSegments(many(1000, 20)).length, 1000);
});
