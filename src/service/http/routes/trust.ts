/** GET /trust: models, figures, failures, keys and retention of this service; GET /trust/NAME: its recordings. */
import type { Router } from '@koa/router';
import { loadOnce } from '../../../engine/index.ts';
import type { Manifest } from '../../../engine/schema.ts';
import type { Config } from '../../config.ts';
import type { ReceiptKeys } from '../../receipt-keys.ts';
import type { Trust } from '../../trust.ts';
import type { State } from '../context.ts';
import { type PreparedDocument, prepareDocument, sendDocument, withContent } from '../documents.ts';
import { unknownPath } from '../errors.ts';
import { requireKnownHost } from '../hosts.ts';
import { sendTagged, type TaggedBody, tagBody } from '../responses.ts';
import type { Pages } from './pages.ts';

type TrustRouteOptions = {
  readonly pages: Pages;
  readonly manifests: readonly Manifest[];
  readonly receiptKeys: ReceiptKeys;
  readonly config: Config;
};

type Served = { readonly document: PreparedDocument; readonly recordings: ReadonlyMap<string, TaggedBody> };

const recordingCaching = 'public, max-age=31536000, immutable';

/** The page is made at its first request: it takes longer than the start of the service. */
export function addTrustRoutes(router: Router<State>, options: TrustRouteOptions): void {
  const load = loadOnce(() => readPage(options));
  router.get('/trust', requireKnownHost(options.config), async function trust(context) {
    sendDocument(context, (await load()).document);
  });
  router.get('/trust/:name', async function trustRecording(context) {
    const recording = (await load()).recordings.get(context.params.name ?? '');
    if (recording === undefined) throw unknownPath(context);
    sendTagged(context, recording, recordingCaching);
  });
}

async function readPage({ pages, manifests, receiptKeys, config }: TrustRouteOptions): Promise<Served> {
  const { readTrust } = await import('../../trust.ts');
  const trust: Trust = await readTrust({ manifests, keys: receiptKeys.published, config });
  const recordings = [...trust.files].map(([name, bytes]) => [name, tagBody(bytes, 'audio/flac')] as const);
  return {
    document: prepareDocument(withContent(pages.trust, trust.content)),
    recordings: new Map(recordings),
  };
}
