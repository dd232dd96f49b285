import test from 'ava';
import { describeConversation } from '../../src/engine/conversation.ts';

type Bounds = readonly (readonly [start: number, end: number])[];

/** Seconds, at 100 frames per second. */
const framesOf = (bounds: Bounds) => bounds.map(([start, end]) => ({ start: 100 * start, end: 100 * end }));

const spanOf = (bounds: Bounds) => ({
  segments: framesOf(bounds),
  missing: [],
  framesPerSecond: 100,
  speechSeconds: bounds.reduce((sum, [start, end]) => sum + end - start, 0),
});

function conversationOf(one: Bounds, other: Bounds, unassigned: Bounds = []) {
  return describeConversation([spanOf(one), spanOf(other)], framesOf(unassigned));
}

test('turns without overlap: each response has the silence before it', (t) => {
  const turns = conversationOf(
    [
      [0, 4],
      [7, 9],
    ],
    [
      [4.5, 6],
      [9.25, 11],
    ],
  );
  t.deepEqual(turns, {
    talkShare: [6 / 9.25, 3.25 / 9.25],
    overlapSeconds: 0,
    responseGapsSeconds: [[1], [0.5, 0.25]],
    interruptions: [0, 0],
  });
});

test('speech inside the other overlaps, but is neither a response nor an interruption', (t) => {
  t.deepEqual(conversationOf([[0, 10]], [[2, 3]]), {
    talkShare: [10 / 11, 1 / 11],
    overlapSeconds: 1,
    responseGapsSeconds: [[], []],
    interruptions: [0, 0],
  });
  // The other goes on: no one responds.
  const { responseGapsSeconds } = conversationOf(
    [
      [0, 4],
      [5, 6],
    ],
    [[2, 3]],
  );
  t.deepEqual(responseGapsSeconds, [[], []]);
});

test('a gap with speech of neither is no silence', (t) => {
  const gaps = conversationOf([[0, 3]], [[5, 6]], [[3.25, 4.5]]).responseGapsSeconds;
  t.deepEqual(gaps, [[], []]);
  t.deepEqual(conversationOf([[0, 3]], [[5, 6]], [[7, 8]]).responseGapsSeconds, [[], [2]]);
});

test('speech that starts inside the other and outlasts it is an interruption', (t) => {
  const { overlapSeconds, responseGapsSeconds, interruptions } = conversationOf(
    [
      [0, 4],
      [8, 12],
    ],
    [
      [3, 6],
      [11, 13],
    ],
  );
  t.is(overlapSeconds, 2);
  t.deepEqual(interruptions, [0, 2]);
  t.deepEqual(responseGapsSeconds, [[2], []]);
});

test('an overlap of less than 0.5 s is an ordinary change of turns, and no interruption', (t) => {
  const interruptionsAt = (start: number) => conversationOf([[0, 4]], [[start, 6]]).interruptions;
  t.deepEqual(interruptionsAt(3.8), [0, 0]);
  t.deepEqual(interruptionsAt(3.51), [0, 0]);
  t.deepEqual(interruptionsAt(3.5), [0, 1]);
  t.is(conversationOf([[0, 4]], [[3.8, 6]]).overlapSeconds, 0.2);
});

test('speech of both at the same time, or one right after the other', (t) => {
  const same = conversationOf([[1, 2]], [[1, 2]]);
  t.deepEqual([same.overlapSeconds, same.interruptions, same.responseGapsSeconds], [1, [0, 0], [[], []]]);
  const adjacent = conversationOf([[1, 2]], [[2, 3]]);
  t.deepEqual([adjacent.overlapSeconds, adjacent.responseGapsSeconds], [0, [[], [0]]]);
  // Both end at once: the next one responds to nobody.
  t.deepEqual(
    conversationOf(
      [
        [0, 2],
        [3, 4],
      ],
      [[1, 2]],
    ).responseGapsSeconds,
    [[], []],
  );
});

test('a channel without speech, and none at all', (t) => {
  t.deepEqual(conversationOf([], [[1, 2]]).talkShare, [0, 1]);
  t.deepEqual(conversationOf([], []), {
    talkShare: [0, 0],
    overlapSeconds: 0,
    responseGapsSeconds: [[], []],
    interruptions: [0, 0],
  });
});

test('the channels change places with their values, and a count of every frame agrees', (t) => {
  let seed = 1;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  const draw = (): Bounds => {
    let at = 0;
    return Array.from({ length: Math.floor(20 * random()) }, () => {
      const start = at + Math.ceil(50 * random()) / 100;
      at = start + Math.ceil(90 * random()) / 100;
      return [start, at] as const;
    });
  };
  for (let round = 0; round < 200; round++) {
    const [one, other] = [draw(), draw()];
    const there = conversationOf(one, other);
    const back = conversationOf(other, one);
    t.deepEqual(back.talkShare, there.talkShare.toReversed() as [number, number]);
    t.deepEqual(back.interruptions, there.interruptions.toReversed() as [number, number]);
    t.deepEqual(back.responseGapsSeconds, [there.responseGapsSeconds[1], there.responseGapsSeconds[0]]);
    const frames = (bounds: Bounds) =>
      new Set(
        bounds.flatMap(([start, end]) =>
          Array.from(
            { length: Math.round(100 * (end - start)) },
            (_, index) => Math.round(100 * start) + index,
          ),
        ),
      );
    const ofOther = frames(other);
    const overlap = [...frames(one)].filter((frame) => ofOther.has(frame)).length / 100;
    t.true(Math.abs(there.overlapSeconds - overlap) < 1e-6, `${there.overlapSeconds} and ${overlap}`);
  }
});

test('of three speakers each is compared with the others together', (t) => {
  const bounds: readonly Bounds[] = [
    [
      [0, 2],
      [6, 8],
    ],
    [[2.5, 4]],
    [[7, 9]],
  ];
  t.deepEqual(describeConversation(bounds.map(spanOf)), {
    talkShare: [4 / 7.5, 1.5 / 7.5, 2 / 7.5],
    overlapSeconds: 1,
    responseGapsSeconds: [[2], [0.5], []],
    interruptions: [0, 0, 1],
  });
});
