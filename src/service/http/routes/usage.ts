/** GET /v1/usage: what the calling token has used; and the JSON of usage, for the account page too. */
import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { AccountUsageJson, UsageDayJson } from '../../api/usage-schemas.ts';
import { staticPrincipal } from '../../auth/token-verifier.ts';
import type { Principal } from '../../auth/tokens.ts';
import {
  type AccountUsage,
  type DayCounts,
  playgroundUsage,
  type TokenUsage,
  type Usage,
  usageKey,
} from '../../auth/usage.ts';
import { type AuthOptions, requireScopes } from '../auth.ts';
import type { State } from '../context.ts';
import { sendPrivateJson } from '../responses.ts';

export function addUsageRoutes(
  router: Router<State>,
  options: AuthOptions & { readonly usage: Usage },
): void {
  const { usage } = options;
  router.get('/v1/usage', requireScopes(options, []), async function showUsage(context: Context) {
    const { principal } = context.state as { readonly principal: Principal };
    const { since, days } = await usage.ofToken(usageKey(principal));
    const token = { id: principal.id, name: principal.name, purpose: principal.purpose };
    sendPrivateJson(context, { token, since, days: days.map(toDayJson) });
  });
}

export function toUsageJson({ since, tokens }: AccountUsage): AccountUsageJson {
  return { since, tokens: tokens.map(toTokenJson) };
}

function toTokenJson({ token, name, purpose, email, days }: TokenUsage): AccountUsageJson['tokens'][number] {
  const id = token.startsWith(`${playgroundUsage}:`) ? playgroundUsage : token;
  return { id, name: name ?? nameless[id] ?? id, purpose, email, days: days.map(toDayJson) };
}

/** Names of tokens that have no row. */
const nameless: Readonly<Record<string, string>> = {
  [playgroundUsage]: 'playground',
  [staticPrincipal.id]: staticPrincipal.name,
};

function toDayJson({ date, requests, errors, audioSeconds }: DayCounts): UsageDayJson {
  return { date, requests, errors, audio_s: audioSeconds };
}
