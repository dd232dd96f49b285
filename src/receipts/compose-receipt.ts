/** Report -> its receipt without signature, on the thread of the analysis. */
import type { Analyses, AnalyzeRequest } from '../analysis/analyze.ts';
import { canonicalBytes, hashReport, sha256 } from './canonical.ts';
import type { Ignored, Software, UnsignedReceipt } from './receipt.ts';

/** The key, and the purpose of the token. */
export type Signing = { readonly keyId: string; readonly purpose: string | null };

/** @param analyses of the request, with hashes of its samples */
export function composeReceipt(
  request: AnalyzeRequest,
  { analyses, report }: { readonly analyses: Analyses; readonly report: object },
  software: Software,
  { keyId, purpose }: Signing,
): UnsignedReceipt {
  const { audio, baselines, segments, signals, channel, channels } = request;
  const { ignored } = report as { ignored?: Ignored };
  const samples = analyses.map(({ samplesSha256 }) => samplesSha256 as string);
  return {
    version: 1,
    issued_at: new Date().toISOString(),
    purpose,
    key_id: keyId,
    upload_sha256: sha256(audio),
    baselines_sha256: baselines.map(sha256),
    segments_sha256: segments === null ? null : sha256(canonicalBytes(segments)),
    samples_sha256: segments === null ? samples : samples.slice(0, 1),
    report_sha256: hashReport(report),
    options: { signals: [...signals], channel, channels, ...(ignored && { ignored }) },
    scores: scoresOf(report, signals),
    software,
  };
}

type Scores = UnsignedReceipt['scores'];
type Body = { readonly signals: Scores[number][string] };

/** Of each report in an answer: one, or one per channel or speaker. */
export function scoresOf(report: object, signals: readonly string[]): Scores {
  const { channels, speakers } = report as { channels?: object[]; speakers?: object[] };
  return (channels ?? speakers ?? [report]).map((own) => {
    const bodies = own as Readonly<Record<string, Body>>;
    return Object.fromEntries(signals.map((signal) => [signal, (bodies[signal] ?? (own as Body)).signals]));
  });
}
