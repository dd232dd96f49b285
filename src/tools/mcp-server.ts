/** The MCP server of `undertone mcp`: the tools `analyze` and `explain`, over standard input and output. */
import { resolve } from 'node:path';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';
import { channelModes, defaultOptions, speakerModes } from '../engine/index.ts';
import { signals as allSignals, definitions, maxBaselines } from '../engine/schema.ts';
import { listDocs, readDoc } from '../node/docs.ts';
import { FileError, readRegularFile } from '../node/files.ts';
import { entryFile, version } from '../node/paths.ts';
import { refuseWith } from '../service/form.ts';
import { createThreadPool } from '../service/workers/threads.ts';
import type { AnalyzeResult, AnalyzeSettings, AnalyzeTask } from './analyze-thread.ts';
import { reportsOf } from './columns.ts';
import type { CliContext } from './context.ts';
import type { Report } from './index.ts';
import { partsOf, titleOf } from './parts.ts';
import { describeConversation, describeReport } from './report-text.ts';

type Analyze = (input: z.output<typeof recording>) => Promise<Analyzed>;
/** Of one voice, or of each channel or speaker. */
type Analyzed = Exclude<AnalyzeResult, { readonly error: unknown }>;
type Text = { readonly content: [{ readonly type: 'text'; readonly text: string }] };

const recording = z.strictObject({
  path: z.string().min(1).describe('Path of an audio or video file on this machine.'),
  channel: z.int().min(0).max(9999).optional().describe('0-based channel; the average of all by default.'),
  track: z
    .int()
    .min(0)
    .max(9999)
    .optional()
    .describe('0-based audio track; the default one of the file by default.'),
  channels: z
    .enum(channelModes)
    .optional()
    .describe('`split`: a report for each of two channels, and their conversation.'),
  speakers: z
    .literal([...speakerModes, 2, 3, 4, 5, 6])
    .optional()
    .describe(
      'A report for each voice on one channel, and their conversation: `2` to `6` voices, or `auto`.',
    ),
  baseline: z
    .array(z.string().min(1))
    .max(maxBaselines)
    .default([])
    .describe(
      'Paths of recordings of the same speaker at rest: load, processing, valence and arousal are compared with them.',
    ),
});

const analyzeInput = recording.extend({
  timeline: z
    .boolean()
    .default(false)
    .describe('Whether to return the values of each utterance and the segments of speech too.'),
});

const pageNames = listDocs().map((name) => name.replace(/\.md$/, ''));

const explainInput = recording.partial({ path: true }).extend({
  page: z
    .enum(pageNames)
    .optional()
    .describe(
      'A page of the documentation instead: evidence, measures, indices and models define the numbers.',
    ),
});

/** Resolves when the client has closed standard input. */
export async function runMcpServer(settings: AnalyzeSettings, { stdin }: CliContext): Promise<void> {
  const threads = createThreadPool<AnalyzeTask, AnalyzeResult>({
    threads: 1,
    file: entryFile('tools/analyze-thread'),
    settings,
  });
  const server = new McpServer({ name: 'undertone', version });
  addTools(server, async ({ path, channel = null, track = null, channels, speakers, baseline }) => {
    const compared = baseline[0];
    if (channels !== undefined) refuseWith('channels', { channel, speakers, baseline: compared });
    if (speakers !== undefined) refuseWith('speakers', { baseline: compared });
    const baselines = await Promise.all(baseline.map((one) => readBaseline(one, settings)));
    const mode = speakerModes.find((one) => one === String(speakers)) ?? null;
    const task = { ...defaultOptions, path: resolve(path), bytes: null, optional: false };
    const parts = { channel: channels ?? channel, track, speakers: mode };
    const result = await threads.run({ ...task, ...parts, signals: allSignals, baselines }, []);
    if ('error' in result) throw new Error(result.error.msg);
    return result;
  });
  const closed = new Promise((end) => stdin.once('end', end).once('close', end));
  await server.connect(new StdioServerTransport());
  await closed;
  await server.close();
  await threads.close();
}

async function readBaseline(path: string, { maxBytes, roots = null }: AnalyzeSettings): Promise<Uint8Array> {
  try {
    return await readRegularFile(resolve(path), { maxBytes, roots });
  } catch (error) {
    throw error instanceof FileError
      ? new Error(`Expected a readable file for \`baseline\`, got ${error.got}`)
      : error;
  }
}

function addTools(server: McpServer, analyze: Analyze): void {
  const annotations = { readOnlyHint: true, openWorldHint: false };
  server.registerTool(
    'analyze',
    {
      title: 'Analyse a recording',
      description:
        'How a person speaks in a recording: valence, arousal, emotion probabilities, cognitive load, clarity and processing with 80 % intervals, measures of speech, audio quality and warnings, as JSON. Not what is said, and no diagnosis.',
      inputSchema: analyzeInput,
      annotations,
    },
    async ({ timeline, ...input }) => {
      const { report } = await analyze(input);
      return toText(JSON.stringify(report, timeline ? undefined : withoutTimes));
    },
  );
  server.registerTool(
    'explain',
    {
      title: 'Explain the scores of a recording, or a number',
      description:
        'With `path`: the scores of a recording in words, what each measure contributed and the study behind it, and what the warnings mean. With `page`: that page of the documentation.',
      inputSchema: explainInput,
      annotations,
    },
    async ({ path, page, ...options }) => {
      if (page !== undefined) return toText(readDoc(`${page}.md`));
      if (path === undefined) throw new Error('Expected `path` or `page`, got neither');
      const kind = options.channels === undefined ? 'speaker' : 'channel';
      const analyzed = await analyze({ path, ...options });
      const parts = partsOf(analyzed, kind);
      const texts = parts.flatMap(({ result, part }) =>
        'error' in result ? [] : [explainReport(titleOf(path, part), result.report)],
      );
      const conversation = describeConversation(analyzed).trim();
      return toText([...texts, conversation, limits].filter(Boolean).join('\n\n'));
    },
  );
}

const toText = (text: string): Text => ({ content: [{ type: 'text', text }] });

/** For JSON.stringify. */
const withoutTimes = (name: string, value: unknown) =>
  name === 'timeline' || name === 'segments' || name === 'unassigned' ? undefined : value;

// A report in words: scores, warnings and contributions.

const limits = `Intervals hold the rated or, with models that may be sold, categorical values of 80 % of the recordings of speakers whom
the heads were not fitted on. Scores describe how
listeners rate such voices, not what a person feels or thinks, and are no diagnosis. The pages evidence, indices and measures of \`explain\` define each number.`;

/** @param title path of the recording, and the channel or speaker */
function explainReport(title: string, report: Report): string {
  return [
    describeReport(title, report),
    ...reportsOf(report).flatMap(([signal, own]) =>
      own.status === 'ok' ? (definitions[signal].explain?.(own) ?? []) : [],
    ),
  ].join('\n\n');
}
