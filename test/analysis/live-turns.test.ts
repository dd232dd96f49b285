/** Starts and ends of speech and utterances of a stream, decided once. Frames of 10 ms. */
import test from 'ava';
import { decideTurns, initialState, type LiveEvent, type LiveState } from '../../src/analysis/live-turns.ts';
import type { Segment } from '../../src/analysis/segments.ts';

const params = { minSpeechSeconds: 0.1, minPauseSeconds: 0.25 };

type Cause = Parameters<typeof decideTurns>[4];

const decide = (
  state: LiveState,
  segments: readonly Segment[],
  frames: number,
  cause: Cause = null,
  firstFrame = 0,
) => {
  const speechProbability = new Float32Array(frames);
  for (const { start, end } of segments) speechProbability.fill(1, start, end);
  return decideTurns(state, { segments, speechProbability, framesPerSecond: 100 }, firstFrame, params, cause);
};

const short = (events: readonly LiveEvent[]) =>
  events.map((event) =>
    event.type === 'turn'
      ? `${event.span.start}-${event.span.end} ${event.cause}`
      : `${event.type} ${event.frame}`,
  );

test('speech starts once, and ends with its utterance after a pause of 0.25 s', (t) => {
  const first = decide(initialState, [{ start: 20, end: 100 }], 100);
  t.deepEqual(short(first.events), ['started 20']);
  const waiting = decide(first.state, [{ start: 20, end: 110 }], 134);
  t.deepEqual(short(waiting.events), []);
  const ended = decide(waiting.state, [{ start: 20, end: 110 }], 135);
  t.deepEqual(short(ended.events), ['ended 110', '20-110 pause']);
  t.deepEqual(short(decide(ended.state, [{ start: 20, end: 110 }], 400).events), []);
});

test('a pause that a later result shortens stays a pause', (t) => {
  const ended = decide({ decided: 20, speaking: true }, [{ start: 20, end: 100 }], 125);
  const joined = decide(ended.state, [{ start: 20, end: 150 }], 150);
  t.deepEqual(short(joined.events), ['started 125']);
  const apart = decide(
    joined.state,
    [
      { start: 20, end: 100 },
      { start: 126, end: 175 },
    ],
    175,
  );
  t.deepEqual(short(apart.events), []);
});

test('speech of several segments has an utterance for each; one under 0.5 s has none', (t) => {
  const { events, state } = decide(
    initialState,
    [
      { start: 0, end: 60 },
      { start: 90, end: 120 },
      { start: 150, end: 200 },
    ],
    200,
  );
  t.deepEqual(short(events), [
    'started 0',
    'ended 60',
    '0-60 pause',
    'started 90',
    'ended 120',
    'started 150',
  ]);
  t.deepEqual(state, { decided: 150, speaking: true });
});

test('speech over 10 s is cut and goes on', (t) => {
  const { events, state } = decide({ decided: 100, speaking: true }, [{ start: 100, end: 1110 }], 1110);
  t.is(events.length, 1);
  t.regex(short(events)[0] ?? '', /^100-\d+ length$/);
  t.true(state.speaking);
  t.true(state.decided >= 600 && state.decided <= 1100);
});

test('the application ends an utterance, and speech that goes on starts anew', (t) => {
  const { events, state } = decide({ decided: 0, speaking: true }, [{ start: 0, end: 90 }], 100, 'turn.end');
  t.deepEqual(short(events), ['ended 90', '0-90 turn.end']);
  t.deepEqual(state, { decided: 100, speaking: false });
  t.deepEqual(short(decide(state, [{ start: 0, end: 150 }], 150).events), ['started 100']);
});

test('an end that the application asks for decides every segment', (t) => {
  const segments = [
    { start: 0, end: 60 },
    { start: 90, end: 160 },
  ];
  const { events } = decide({ decided: 0, speaking: true }, segments, 160, 'session.end');
  t.deepEqual(short(events), ['ended 60', '0-60 pause', 'started 90', 'ended 160', '90-160 session.end']);
});

test('speech that a later result takes back ends without an utterance', (t) => {
  t.deepEqual(short(decide({ decided: 50, speaking: true }, [], 80).events), ['ended 50']);
});

test('positions are frames of the stream', (t) => {
  const { events, state } = decide(
    { decided: 1020, speaking: true },
    [{ start: 20, end: 100 }],
    130,
    null,
    1000,
  );
  t.deepEqual(short(events), ['ended 1100', '20-100 pause']);
  t.deepEqual(state, { decided: 1125, speaking: false });
});
