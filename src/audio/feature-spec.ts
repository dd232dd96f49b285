import type { FeatureSpec } from './addon.ts';

/** Keys of earlier versions, which published manifests and specs of users have. */
const renamedKeys: Readonly<Record<string, keyof FeatureSpec>> = {
  frameLength: 'winLength',
  hop: 'hopLength',
  fftLength: 'nFft',
  bins: 'nMels',
  coefficients: 'nMfcc',
  dynamicRange: 'topDb',
};

/** Decibels per unit of the logarithm: 10 log10 of power, 20 log10 of magnitude. */
function dbPerUnit({ spectrum, logBase }: Partial<FeatureSpec>): number {
  const perDecade = spectrum === 'magnitude' ? 20 : 10;
  return logBase === 'e' ? perDecade / Math.LN10 : perDecade;
}

/**
 * Renames keys and values of earlier versions. An old key beside its new one stays, and the extractor rejects it as
 * unknown.
 */
export function upgradeFeatureSpec(spec: FeatureSpec): FeatureSpec {
  if (typeof spec !== 'object' || spec === null) return spec;
  const isOld = (key: string) => key in renamedKeys && !((renamedKeys[key] as string) in spec);
  const hasOldPadding = (spec.padding as string) === 'reflect-kaldi';
  if (!hasOldPadding && !Object.keys(spec).some(isOld)) return spec;
  const upgrade = ([key, value]: [string, unknown]): [string, unknown] => {
    if (key === 'padding' && hasOldPadding) return [key, 'snip-edges-false'];
    if (!isOld(key)) return [key, value];
    const inDb = key === 'dynamicRange' && typeof value === 'number';
    return [renamedKeys[key] as string, inDb ? value * dbPerUnit(spec) : value];
  };
  return Object.fromEntries(Object.entries(spec).map(upgrade)) as FeatureSpec;
}
