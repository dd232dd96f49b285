/** Loads native code: built from source in a clone, or from a package for the platform. */
import { createRequire } from 'node:module';

/** Platforms that packages exist for. */
const platforms = ['linux-x64', 'linux-arm64'];
const platform = `${process.platform}-${process.arch}`;

export const platformPackage = `@undertone/${platform}`;
export const onnxRuntimePackage = `@undertone/onnxruntime-${platform}`;

type Host = { readonly platform: string; readonly glibc: string | null; readonly node: string };

/** Exported for tests. */
export function describeFailure(
  what: string,
  failures: readonly (readonly [candidate: string, reason: string])[],
  { platform, glibc, node }: Host,
): string {
  const isLinux = platform.startsWith('linux-');
  const libc = isLinux ? `, ${glibc === null ? 'musl or another C library' : `glibc ${glibc}`}` : '';
  return [
    `Expected ${what} for ${platform}${libc}, Node.js ${node}, got none. Tried:`,
    ...failures.map(([candidate, reason]) => `- ${candidate}: ${reason.split('\n')[0]}`),
    advice(platform, isLinux && glibc === null),
  ].join('\n');
}

function advice(platform: string, isOtherLibc: boolean): string {
  const source = 'clone the repository and run `npm start`, which builds from source';
  if (!platforms.includes(platform))
    return `Packages exist for ${platforms.join(' and ')}. Elsewhere ${source}.`;
  if (isOtherLibc)
    return `The packages need glibc 2.28 or later: use an image of Debian or Ubuntu, or ${source}.`;
  return `Run \`npm install\` on this platform without --omit=optional and --no-optional (the packages need glibc 2.28 or later), or ${source}.`;
}

function currentHost(): Host {
  const report = process.report.getReport() as {
    readonly header?: { readonly glibcVersionRuntime?: string };
  };
  return { platform, glibc: report.header?.glibcVersionRuntime ?? null, node: process.versions.node };
}

/** Returns the file of the candidate that was loaded. */
export function loadedFile(candidates: readonly string[]): string | undefined {
  const { cache, resolve } = createRequire(import.meta.url);
  return candidates
    .map((candidate) => {
      try {
        return resolve(candidate);
      } catch {
        return '';
      }
    })
    .find((file) => cache[file] !== undefined);
}

/**
 * Returns the first module that loads.
 * @param candidates paths or names of packages
 * @throws with the failure of each
 */
export function loadNative<Module>(what: string, candidates: readonly string[]): Module {
  const load = createRequire(import.meta.url);
  const failures: [string, string][] = [];
  for (const candidate of candidates) {
    try {
      return load(candidate) as Module;
    } catch (error) {
      failures.push([candidate, error instanceof Error ? error.message : String(error)]);
    }
  }
  throw new Error(describeFailure(what, failures, currentHost()));
}
