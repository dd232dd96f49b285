/** Data of the client, returned with its job. */

export type Metadata = Readonly<Record<string, string>>;

export const maxMetadataBytes = 2048;
export const expectedMetadata = `an object of text values, at most ${maxMetadataBytes} bytes as JSON`;

export function isMetadata(value: unknown): value is Metadata {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const isText = Object.values(value).every((one) => typeof one === 'string');
  return isText && Buffer.byteLength(JSON.stringify(value)) <= maxMetadataBytes;
}
