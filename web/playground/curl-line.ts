/** The curl command of an analysis. */
import type { AnalysisRequest } from './analyze.ts';

export function curlLine({ recording, baseline, channel }: AnalysisRequest, origin: string): string {
  const parts = [
    'curl -H "Authorization: Bearer $UNDERTONE_TOKEN"',
    `-F ${file('audio', recording.name)}`,
    ...(baseline === null ? [] : [`-F ${file('baseline', baseline.name)}`]),
    ...(channel === null ? [] : [`-F channel=${channel}`]),
    `${origin}/v1/analyze`,
  ];
  return parts.join(' \\\n  ');
}

/** Backslashes escape a quoted name for curl; single quotes escape it for the shell. */
function file(part: string, name: string): string {
  if (/^[A-Za-z0-9._-]+$/.test(name)) return `${part}=@${name}`;
  const quoted = name.replaceAll('\\', '\\\\').replaceAll('"', '\\"');
  return `'${`${part}=@"${quoted}"`.replaceAll("'", "'\\''")}'`;
}
