/** Bounds and reference distributions of the loaded models, from GET /v1/models. */
import type { ParamsOf } from '../../src/engine/signals/table.ts';

type Emotion = ParamsOf<'emotion'>;
type Cognitive = ParamsOf<'cognitive'>;

export type ToneBounds = Emotion['tone'];
export type Reference = Cognitive['reference'][string];

export type Rules = {
  readonly tone: ToneBounds | null;
  readonly reference: Cognitive['reference'];
};

type Card =
  | { readonly kind: 'emotion'; readonly rule: Emotion }
  | { readonly kind: 'cognitive'; readonly rule: Cognitive }
  | { readonly kind: 'trunk' };

const unknown: Rules = { tone: null, reference: {} };
let loading: Promise<Rules> | null = null;

/** Requests them once; without an answer, the page shows no bounds and no percentiles. */
export function loadRules(): Promise<Rules> {
  loading ??= request().catch(() => {
    loading = null;
    return unknown;
  });
  return loading;
}

async function request(): Promise<Rules> {
  const response = await fetch('/v1/models');
  if (!response.ok) throw new Error(`Expected 200 from /v1/models, got ${response.status}`);
  const { models } = (await response.json()) as { readonly models: readonly Card[] };
  const rules = { ...unknown };
  for (const card of models) {
    if (card.kind === 'emotion') rules.tone = card.rule.tone;
    if (card.kind === 'cognitive') rules.reference = card.rule.reference;
  }
  return rules;
}

/** Share of the reference recordings with a lower value: the logistic distribution of the reference, 0 to 1. */
export function percentile(value: number, { median, spread, scale }: Reference): number {
  const odds = (share: number) => share / (1 - share);
  const distance = {
    difference: value - median,
    ratio: Math.log(value / median),
    inverse: Math.log(value / median),
    odds: Math.log(odds(value) / odds(median)),
  }[scale];
  return 1 / (1 + Math.exp(-distance / spread));
}
