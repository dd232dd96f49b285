/** Why the service cannot start, in one line: the setting, what was expected, what came, and what to do. */
import { ModelError } from '../engine/index.ts';
import { type Config, ConfigError } from './config.ts';
import { describeServiceError, ServiceError } from './errors.ts';

type SystemError = Error & {
  readonly code: string;
  readonly syscall: string;
  readonly path?: string;
  readonly address?: string;
  readonly port?: number;
};

/** Unexpected errors have their stack. @param config null before it is parsed */
export function describeStartFailure(error: unknown, config: Config | null): string {
  if (error instanceof ConfigError) return error.message;
  if (error instanceof ModelError) return `${error.message} (\`UNDERTONE_MODELS_DIR\`)`;
  if (error instanceof ServiceError) return describeStorage(error);
  if (!(error instanceof Error)) return String(error);
  if (!isSystemError(error)) return error.stack ?? error.message;
  return (config && describeSystemError(error, config)) ?? `The service cannot start: ${error.message}`;
}

function isSystemError(error: Error): error is SystemError {
  return 'syscall' in error && 'code' in error;
}

function describeSystemError(error: SystemError, config: Config): string | null {
  if (error.syscall === 'listen') return describeListen(error, config);
  const { dataDir } = config;
  const path = error.path ?? '';
  if (path === '' || !(path.startsWith(dataDir) || dataDir.startsWith(path))) return null;
  const came = `got ${dataDir} (${error.message.split(',')[0]})`;
  return error.code === 'ENOSPC'
    ? `Expected free disk space for \`UNDERTONE_DATA_DIR\`, ${came}: free some, or choose another folder`
    : `Expected a folder for \`UNDERTONE_DATA_DIR\` in which this user can create files, ${came}: change its owner, or choose another folder`;
}

function describeListen({ code, message, address, port }: SystemError, config: Config): string | null {
  const { metricsAddress } = config;
  const isMetrics =
    port !== config.port && typeof metricsAddress !== 'string' && port === metricsAddress.port;
  const [forPort, forHost] = isMetrics
    ? ['UNDERTONE_METRICS_ADDRESS', 'UNDERTONE_METRICS_ADDRESS']
    : ['UNDERTONE_PORT', 'UNDERTONE_HOST'];
  if (code === 'EADDRINUSE')
    return `Expected a free port for \`${forPort}\`, got ${address}:${port} in use by another process (EADDRINUSE): stop it, or choose another port; 0 is any free one`;
  if (code === 'EACCES')
    return `Expected a port for \`${forPort}\` that this user can listen on, got ${port} (EACCES): choose one from 1024`;
  if (code === 'EADDRNOTAVAIL')
    return `Expected an address of this machine for \`${forHost}\`, got ${address} (EADDRNOTAVAIL)`;
  return `Expected an address that this process can listen on for \`${forHost}\`, got: ${message}`;
}

/** Cause of a database that cannot be opened -> what was expected, and what to do. */
const storageFailures: readonly (readonly [RegExp, expected: string, advice: string])[] = [
  [/file is not a database/, 'a SQLite database', 'move the file away, or choose another one'],
  [/is locked/, 'a database that no other process locks', 'stop the process that writes into it'],
  [
    /previously executed migration/,
    'a database of this version or of an earlier one',
    'start the later version, or restore a backup',
  ],
  [/disk is full|disk I\/O error/, 'a database with free disk space', 'free some'],
  [
    /EACCES|ENOENT|ENOTDIR|EPERM|EROFS/,
    'a file that this user can create',
    'change the owner of its folder, or choose another one',
  ],
  [/ECONNREFUSED|ENOTFOUND|ETIMEDOUT|EHOSTUNREACH/, 'a reachable database', 'start it, or correct the URL'],
];

function describeStorage(error: ServiceError): string {
  const cause = error.cause instanceof Error ? error.cause.message : '';
  const found =
    error.code === 'storage_unavailable' && storageFailures.find(([pattern]) => pattern.test(cause));
  if (!found) return describeServiceError(error);
  const [, expected, advice] = found;
  return `Expected ${expected} for \`UNDERTONE_DATABASE_URL\`, got: ${cause}: ${advice}`;
}
