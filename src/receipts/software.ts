/** Versions of everything that computes a score, on this thread. */
import { readFileSync } from 'node:fs';
import { addonFile, featuresVersion, lanes, libraryVersions } from '../audio/addon.ts';
import type { Models } from '../models/loader.ts';
import { multipliesExactly, runtimeVersion } from '../models/session.ts';
import { version } from '../runtime/paths.ts';
import { canonicalBytes, sha256 } from './canonical.ts';
import type { Software } from './receipt.ts';

const described = new WeakMap<Models, Software>();

/** Computed once for loaded models. */
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
