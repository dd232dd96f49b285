import test from 'ava';
import {
  type CpuProfile,
  flameGraph,
  mergeProfiles,
  selfTimes,
} from '../../benchmarks/profile/flame-graph.ts';

const node = (id: number, functionName: string, children: readonly number[] = [], url = '') => ({
  id,
  callFrame: { functionName, url },
  children,
});

const profile: CpuProfile = {
  nodes: [
    node(1, '(root)', [2, 3, 5]),
    node(2, '(idle)'),
    node(3, 'handle', [4]),
    node(4, '', [], 'file:///srv/decode<1>.js'),
    node(5, 'collect'),
  ],
  startTime: 1000,
  samples: [3, 2, 4, 4, 5],
  timeDeltas: [100, 1000, 200, 300, 50],
};

const threads = [
  ['main', profile],
  ['worker', { ...profile, samples: [5], timeDeltas: [5000] }],
] as const;

const flat = (frame: ReturnType<typeof mergeProfiles>, depth = 0): string[] => [
  `${' '.repeat(depth)}${frame.name} ${frame.micros}`,
  ...[...frame.callees.values()].flatMap((callee) => flat(callee, depth + 1)),
];

test('waiting and samples before the start do not count, and threads stand side by side', (t) => {
  const merged = mergeProfiles(threads, 1200);
  t.deepEqual(flat(merged), [
    'all threads 5550',
    ' main 550',
    '  handle 500',
    '   decode<1>.js 500',
    '  collect 50',
    ' worker 5000',
    '  collect 5000',
  ]);
});

test('the picture has a box for each function, as wide as its time', (t) => {
  const svg = flameGraph(mergeProfiles([['main', profile]], 0), 'a <title>');
  t.regex(svg, /a &lt;title&gt;/);
  t.regex(svg, /<title>decode&lt;1&gt;\.js: 0\.5 ms, 76\.9 %<\/title><rect x="0\.0" y="72" width="922\.8"/);
  t.regex(svg, /<title>collect: 0\.1 ms, 7\.7 %<\/title><rect x="1107\.7" y="54" width="92\.0"/);
});

test('the time of a function is without that of its callees, over all threads', (t) => {
  const merged = mergeProfiles(threads, 1000);
  t.deepEqual(selfTimes(merged), [
    ['collect', 5050],
    ['decode<1>.js', 500],
    ['handle', 100],
  ]);
});
