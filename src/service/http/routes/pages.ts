/** Pages that `vite build web` wrote, served from memory. */
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Router } from '@koa/router';
import type { Logger } from 'pino';
import { channelsReportSchema, type Manifest, type Signal, signals } from '../../../engine/schema.ts';
import { readManifests, readOptionalJson } from '../../../node/models.ts';
import { nameSets } from '../../../node/paths.ts';
import { type Config, ConfigError } from '../../config.ts';
import type { State } from '../context.ts';
import { prepareDocument, sendDocument } from '../documents.ts';
import { unknownPath } from '../errors.ts';
import { requireKnownHost } from '../hosts.ts';
import { sendTagged, type TaggedBody, tagBody } from '../responses.ts';

export type Pages = {
  /** HTML by path. */
  readonly documents: ReadonlyMap<string, string>;
  /** HTML of /trust without its content. */
  readonly trust: string;
  /** HTML of /docs without its content. */
  readonly docs: string;
  /** Folder of the pages of the documentation. */
  readonly guide: string;
  /** By file name, which contains a hash of the content. */
  readonly assets: ReadonlyMap<string, TaggedBody>;
};

export type StaticOptions = { readonly pages: Pages; readonly config: Pick<Config, 'publicUrl' | 'host'> };

const documentFiles = { '/': 'index.html', '/account': 'account/index.html' };
/** In web/index.html. */
const placeholders = { example: '"EXAMPLE"', sets: '"SETS"' };
const exampleFile = 'example.json';
const assetCaching = 'public, max-age=31536000, immutable';

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.ogg': 'audio/ogg',
  '.svg': 'image/svg+xml',
  '.wav': 'audio/wav',
};

type PageData = {
  /** The report that the playground shows before it has another; null: none. */
  readonly example: object | null;
  /** Names of two sets of models that the playground compares; null: it has one. */
  readonly sets: readonly [string, string] | null;
};

/** @param folder output of `vite build web` */
export async function readPages(folder: string, { example, sets }: PageData): Promise<Pages> {
  const documents = Object.entries(documentFiles).map(async ([path, file]) => {
    const html = await readFile(join(folder, file), 'utf8');
    const filled = html
      .replace(placeholders.example, () => scriptText(example))
      .replace(placeholders.sets, () => scriptText(sets));
    return [path, filled] as const;
  });
  const names = await readdir(join(folder, 'assets'));
  const assets = names.map(async (name) => [name, await readAsset(join(folder, 'assets', name))] as const);
  return {
    documents: new Map(await Promise.all(documents)),
    trust: await readFile(join(folder, 'trust', 'index.html'), 'utf8'),
    docs: await readFile(join(folder, 'docs', 'index.html'), 'utf8'),
    guide: join(folder, 'guide'),
    assets: new Map(await Promise.all(assets)),
  };
}

/** JSON that does not end the script element around it. */
function scriptText(value: object | null): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}

/** @throws ConfigError for a second folder that holds no set */
export async function readSetNames({
  modelsDir,
  comparedModelsDir,
}: Pick<Config, 'modelsDir' | 'comparedModelsDir'>): Promise<PageData['sets']> {
  if (comparedModelsDir === null) return null;
  await readManifests(comparedModelsDir).catch((error: Error) => {
    throw new ConfigError([`${error.message} (\`UNDERTONE_COMPARE_MODELS_DIR\`)`]);
  });
  return nameSets(modelsDir, comparedModelsDir);
}

/**
 * Reads the report of examples/call.ogg that `npm run answers` wrote. Null without one, and with one of another release or of
 * other models, which is logged.
 */
export async function readExample(
  modelsDir: string,
  manifests: readonly Manifest[],
  logger: Pick<Logger, 'warn'>,
): Promise<object | null> {
  const report = await readOptionalJson(modelsDir, exampleFile);
  if (report === null) return null;
  const { success, data } = channelsReportSchema.safeParse(report, { jitless: true });
  const isCurrent = (signal: Signal) => {
    const manifest = manifests.find(({ kind }) => kind === signal);
    return manifest !== undefined && data?.channels[0]?.[signal].model.version === manifest.version;
  };
  // The parsed copy has its keys in another order.
  if (success && signals.every(isCurrent)) return report as object;
  logger.warn(
    { file: exampleFile },
    'the report of the example is of other models or another release: the page has no example',
  );
  return null;
}

async function readAsset(file: string): Promise<TaggedBody> {
  const type = types[extname(file)];
  if (type === undefined) throw new Error(`Expected one of ${Object.keys(types).join(', ')}, got ${file}`);
  return tagBody(await readFile(file), type);
}

/** Pages use the cookies of accounts, so they require a known host. */
export function addStaticRoutes(router: Router<State>, { pages, config }: StaticOptions): void {
  const knownHost = requireKnownHost(config);
  for (const [path, html] of pages.documents) {
    const prepared = prepareDocument(html);
    // The playground makes a PNG of a picture in memory.
    const images = path === '/' ? "'self' blob:" : undefined;
    router.get(path, knownHost, async function page(context) {
      sendDocument(context, prepared, images);
    });
  }
  router.get('/assets/:name', async function sendAsset(context) {
    const asset = pages.assets.get(context.params.name ?? '');
    if (asset === undefined) throw unknownPath(context);
    sendTagged(context, asset, assetCaching);
  });
}
