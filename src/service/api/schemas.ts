/** The named schemas of the document: the validation schemas and the bodies of errors. */
import { z } from 'zod';
import {
  channelsReportSchema,
  combinedReportSchema,
  conversationSchema,
  definitions,
  embeddingReportSchema,
  envelope,
  noSignalsSchema,
  receiptSchema,
  recordingSchema,
  reportSchemas,
  reportShape,
  type Signal,
  signals,
  speakerReportSchema,
  speakersReportSchema,
} from '../../engine/schema.ts';
import { type ErrorCode, errorTable, validationTypes } from '../errors.ts';
import { publicKeySchema, publicKeysSchema } from '../receipt-keys.ts';
import { accountSchemas } from './account-schemas.ts';
import { jobSchemas } from './job-schemas.ts';
import { streamTokenBody, streamTokenSchema } from './live-schemas.ts';
import { usageSchemas } from './usage-schemas.ts';

const requestId = envelope.request_id;
const listing: readonly ErrorCode[] = ['too_large', 'invalid'];
const codes = (Object.keys(errorTable) as ErrorCode[]).filter((code) => !listing.includes(code));

const failureSchema = z
  .strictObject({
    detail: z.string().describe('The expected and the received value, for people.'),
    code: z
      .enum(codes)
      .describe(`The reason, for programs. ${explain(codes, (code) => errorTable[code].when)}`),
    request_id: requestId,
  })
  .describe('The body of every error but 413 and 422.');

const types = Object.keys(validationTypes);

const itemSchema = z
  .strictObject({
    loc: z
      .array(z.string())
      .min(2)
      .describe(
        'The location: `body` and the name of the part (`audio`, `baseline`, `channel`, `channels`, `segments`, `speakers`, `receipt`; for jobs also `callback`, `urls`, `url`, and `body` for the whole JSON), or `header` and its name (`Idempotency-Key`).',
      ),
    msg: z.string().describe('The expected and the received value, for people.'),
    type: z
      .enum(types)
      .describe(`The reason, for programs. ${explain(types, (type) => validationTypes[type] ?? '')}`),
  })
  .describe('One problem of the body.');

const validationFailureSchema = z
  .strictObject({
    detail: z.array(itemSchema).min(1).describe('One item per problem.'),
    request_id: requestId,
  })
  .describe('The body of 413 and 422.');

const emptySchema = z.strictObject({}).describe('An empty object.');

const cardSchema = z
  .looseObject({
    name: z.string().describe('Name of the model, as in reports.'),
    version: z.string().describe('MAJOR.MINOR.PATCH.'),
    kind: z.enum(['activity', 'trunk', 'voice', ...signals]).describe('The use of the model.'),
    description: z.string().describe('Inputs and outputs.'),
    features_version: z.int().describe('Version of the features of its training.'),
    weights_sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .describe('SHA-256 of its weights.'),
    correction_sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .nullable()
      .describe('SHA-256 of the correction of their outputs; null for models that are not adapted.'),
    labels: z.array(z.string()).nullable().describe('Labels of its classes; null for a regression.'),
    licence: z.string().describe('Licence of the weights.'),
  })
  .describe('The evidence card of one model, with data, metrics, limits and rule as further fields.');

const modelsSchema = z
  .strictObject({ models: z.array(cardSchema).describe('One card per loaded model.') })
  .describe('The evidence cards.');

type ReportName = `${Capitalize<Signal>}Report`;

export function reportName(signal: Signal): ReportName {
  return `${toPascalCase(signal)}Report` as ReportName;
}

function signalReports(): Readonly<Record<ReportName, z.ZodType>> {
  const reports = signals.map((signal) => ({
    ...withVariants(reportName(signal), reportSchemas[signal]),
    ...withVariants(toPascalCase(signal), definitions[signal].body),
  }));
  return Object.assign({}, ...reports);
}

/** A discriminator of OpenAPI refers to variants by name: `EmotionReport` is one of `EmotionReportOk` and others. */
function withVariants<Name extends string>(
  name: Name,
  schema: z.ZodDiscriminatedUnion<readonly z.ZodObject[]>,
): Readonly<Record<Name, z.ZodType>> {
  const variants = schema.options.map((variant) => [`${name}${toPascalCase(statusOf(variant))}`, variant]);
  return Object.fromEntries([[name, schema], ...variants]);
}

/** Null for a schema without variants by `status`. */
function variantsOf(schema: z.core.$ZodType): readonly z.ZodObject[] | null {
  if (!(schema instanceof z.ZodDiscriminatedUnion) || schema.def.discriminator !== 'status') return null;
  return schema.options as readonly z.ZodObject[];
}

const statusOf = ({ shape }: z.ZodObject) => (shape.status as z.ZodLiteral<string>).value;

function toPascalCase(words: string): string {
  return words.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Zod replaces each use of a named schema by a reference. */
const named = {
  ...signalReports(),
  Report: combinedReportSchema,
  ChannelsReport: channelsReportSchema,
  Conversation: conversationSchema,
  SpeakersReport: speakersReportSchema,
  SpeakerReport: speakerReportSchema,
  ...withVariants('EmbeddingReport', embeddingReportSchema),
  Recording: recordingSchema,
  NoSignals: noSignalsSchema,
  Audio: envelope.audio,
  Segments: envelope.segments,
  Warnings: reportShape.warnings,
  Model: reportShape.model,
  Failure: failureSchema,
  ValidationFailure: validationFailureSchema,
  ValidationItem: itemSchema,
  Empty: emptySchema,
  Readiness: z
    .strictObject({
      jobs: z.enum(['no_worker']).optional().describe('Why jobs wait: no_worker: no process takes jobs.'),
    })
    .describe('The service is ready.'),
  Models: modelsSchema,
  ModelCard: cardSchema,
  Receipt: receiptSchema,
  ReceiptKey: publicKeySchema,
  ReceiptKeys: publicKeysSchema,
  ...accountSchemas,
  ...usageSchemas,
  ...jobSchemas,
  StreamTokenRequest: streamTokenBody,
  StreamToken: streamTokenSchema,
} as const satisfies Readonly<Record<string, z.ZodType>>;

export type SchemaName = keyof typeof named;

export function schemaRef(name: SchemaName): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

/** @param more schemas in addition to those of the document */
export function componentSchemas(
  more: Readonly<Record<string, z.ZodType>> = {},
): Readonly<Record<string, object>> {
  const registry = z.registry<{ id: string }>();
  const ofSignals = signals.flatMap((signal) => Object.entries(definitions[signal].components));
  for (const [id, schema] of Object.entries({ ...named, ...Object.fromEntries(ofSignals), ...more })) {
    registry.add(schema, { id });
  }
  const { schemas } = z.toJSONSchema(registry, {
    io: 'input',
    uri: (id) => schemaRef(id as SchemaName).$ref,
    override: ({ zodSchema, jsonSchema }) => {
      const variants = variantsOf(zodSchema);
      if (variants !== null) {
        const mapping = variants.map((variant, index) => [
          statusOf(variant),
          jsonSchema.oneOf?.[index]?.$ref,
        ]);
        jsonSchema.discriminator = { propertyName: 'status', mapping: Object.fromEntries(mapping) };
      }
      // Generators make of `additionalProperties` an index of `never`, and then every field is one of an empty object.
      if (
        jsonSchema.additionalProperties === false &&
        Object.keys(jsonSchema.properties ?? {}).length === 0
      ) {
        delete jsonSchema.additionalProperties;
        jsonSchema.maxProperties = 0;
      }
      // Linters require a schema for the items of a tuple, although no more items are allowed.
      if (jsonSchema.items === false) jsonSchema.items = jsonSchema.prefixItems?.[0] ?? true;
      // The pattern is the rule; the format `email` of JSON Schema differs from it.
      if (jsonSchema.format === 'email') delete jsonSchema.format;
    },
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema: _, $id: __, ...schema }]) => [id, schema]),
  );
}

function explain<Name extends string>(names: readonly Name[], when: (name: Name) => string): string {
  return names.map((name) => `${name}: ${when(name)}.`).join(' ');
}
