/** The JSON bodies about the usage of tokens. */
import { z } from 'zod';

const day = z
  .strictObject({
    date: z.iso.date().describe('The day, UTC.'),
    requests: z.int().min(0).describe('Requests with the token, this path included.'),
    errors: z.int().min(0).describe('Responses of 400 and above.'),
    audio_s: z.number().min(0).describe('Analysed audio of uploads, jobs and live sessions, s.'),
  })
  .describe('The counts of one day.');

const purpose = z
  .string()
  .nullable()
  .describe('What the scores are for, as declared with the token; null without a declaration.');
const days = z.array(day).describe('Days with requests or audio, newest first.');
const since = z.iso.date().describe('The first day that is counted, 89 days before today.');

export const usageSchemas = {
  UsageDay: day,
  Usage: z
    .strictObject({
      token: z
        .strictObject({
          id: z.string().describe('Id of the token.'),
          name: z.string().describe('Name of the token.'),
          purpose,
        })
        .describe('The calling token.'),
      since,
      days,
    })
    .describe('The usage of the calling token.'),
  AccountUsage: z
    .strictObject({
      since,
      tokens: z
        .array(
          z
            .strictObject({
              id: z.string().describe('Id of the token; `playground` for the tokens of log-ins.'),
              name: z.string().describe('Name of the token.'),
              purpose,
              email: z.string().nullable().describe('The account; null for the command line.'),
              days,
            })
            .describe('The usage of one token.'),
        )
        .describe('Tokens with requests or audio, the most used first.'),
    })
    .describe('The usage of the tokens of an account; of all tokens for an administrator.'),
} as const satisfies Readonly<Record<string, z.ZodType>>;

export type UsageDayJson = Readonly<z.infer<typeof day>>;
export type AccountUsageJson = Readonly<z.infer<typeof usageSchemas.AccountUsage>>;
