/** GET /v1/models: the machine-readable evidence card of each model. */
import type { Router } from '@koa/router';
import { correctionOf, type Manifest, publishedName, unavailableOf } from '../../models/manifest.ts';
import { sendJson } from '../respond.ts';
import type { State } from '../state.ts';

export type ModelOptions = { readonly manifests: readonly Manifest[] };

export function addModelRoutes(router: Router<State>, { manifests }: ModelOptions): void {
  const cards = evidenceCards(manifests);
  router.get('/v1/models', async function listModels(context) {
    sendJson(context, cards);
  });
}

export function evidenceCards(manifests: readonly Manifest[]): string {
  return JSON.stringify({ models: manifests.map(evidenceCard) });
}

function evidenceCard(manifest: Manifest): object {
  const { version, description, weights, trunk, labels, training, licence, evidence } = manifest;
  return {
    name: publishedName(manifest.name),
    version,
    kind: publishedName(manifest.kind),
    description,
    features_version: manifest.featuresVersion,
    weights_sha256: weights.sha256,
    correction_sha256: correctionOf(manifest)?.sha256 ?? null,
    trunk,
    labels,
    data: training.data,
    metrics: training.metrics,
    limits: training.limits,
    figures: evidence.figures,
    failures: evidence.failures,
    intended_use: evidence.intendedUse,
    unintended_use: evidence.unintendedUse,
    deployment: evidence.deployment,
    rule: manifest.params,
    licence,
    unavailable: unavailableOf(manifest),
  };
}
