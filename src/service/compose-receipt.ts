/** Report -> JSON bytes with a receipt that has no signature yet, on the thread of the analysis. */

import { readFileSync } from 'node:fs';
import type { Analyses, AnalyzeRequest, Analyzer, Models } from '../engine/index.ts';
import type { Ignored, Software, UnsignedReceipt } from '../engine/schema.ts';
import { addonFile, featuresVersion, lanes, libraryVersions } from '../node/addon.ts';
import { multipliesExactly, runtimeVersion } from '../node/onnx.ts';
import { version } from '../node/paths.ts';
import { canonicalBytes } from './canonical-json.ts';
import { attachReceipt, hashReport, type Unsigned } from './receipts.ts';
import { sha256 } from './sha256.ts';

/** @param request with `hashSamples` */
export function encodeWithReceipt(
  { models }: Analyzer,
  request: AnalyzeRequest,
  { analyses, report }: { readonly analyses: Analyses; readonly report: object },
  signing: Signing,
): Unsigned {
  return attachReceipt(
    report,
    composeReceipt(request, { analyses, report }, describeSoftware(models), signing),
  );
}

/** The key, and the purpose of the token. */
export type Signing = { readonly keyId: string; readonly purpose: string | null };

/** @param analyses of the request, with hashes of its samples */
export function composeReceipt(
  request: AnalyzeRequest,
  { analyses, report }: { readonly analyses: Analyses; readonly report: object },
  software: Software,
  { keyId, purpose }: Signing,
): UnsignedReceipt {
  const { audio, baselines, segments, speakers, signals, channel, track, channels } = request;
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
    samples_sha256: channels === null ? samples.slice(0, 1) : samples,
    report_sha256: hashReport(report),
    options: {
      signals: [...signals],
      channel,
      ...(track !== null && { track }),
      channels,
      speakers,
      ...(ignored && { ignored }),
    },
    scores: scoresOf(report, signals),
    software,
  };
}

type Scores = UnsignedReceipt['scores'];
type Body = { readonly signals: Scores[number][string] };

/** Of each report in an answer: one, or one per channel or speaker. */
function scoresOf(report: object, signals: readonly string[]): Scores {
  const { channels, speakers } = report as { channels?: object[]; speakers?: object[] };
  return (channels ?? speakers ?? [report]).map((one) => {
    const bodies = one as Readonly<Record<string, Body>>;
    return Object.fromEntries(signals.map((signal) => [signal, (bodies[signal] ?? (one as Body)).signals]));
  });
}

const described = new WeakMap<Models, Software>();

/** Versions of everything that computes a score, on this thread; computed once for loaded models. */
export function describeSoftware(models: Models): Software {
  const known = described.get(models) ?? describe(models);
  described.set(models, known);
  return known;
}

function describe({ manifests }: Models): Software {
  return {
    undertone: version,
    node: process.versions.node,
    addon_sha256: sha256(readFileSync(addonFile)),
    features_version: featuresVersion,
    models: manifests.map((manifest) => ({
      name: manifest.name,
      version: manifest.version,
      sha256: sha256(canonicalBytes(manifest)),
    })),
    libraries: { ...libraryVersions, onnxruntime: runtimeVersion },
    kernel: { architecture: process.arch, lanes, exact_int8: multipliesExactly },
  };
}
