/** The JSON bodies of live sessions. */
import { z } from 'zod';
import { scopes } from '../auth/token-format.ts';

const someScopes = { error: `a list of ${scopes.join(', ')}` };

export const streamTokenBody = z
  .strictObject({
    scopes: z
      .array(z.enum(scopes, someScopes), someScopes)
      .min(1, someScopes)
      .max(scopes.length, someScopes)
      .optional()
      .describe(
        'Scopes of the token, at most those of the token in `Authorization`; all of them by default.',
      ),
  })
  .describe('A token for one live session.');

export const streamTokenSchema = z
  .strictObject({
    token: z.string().describe('The second subprotocol of GET /v1/stream, after `undertone.v1`.'),
    expires_at: z.iso
      .datetime()
      .describe('Until when the session must be opened, 60 s from now. It may last longer.'),
  })
  .describe('A token for one live session.');
