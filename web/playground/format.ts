/** Formats numbers for display. */

export function score(value: number): string {
  return value.toFixed(2);
}

export function share(value: number): string {
  return `${Math.round(100 * value)} %`;
}

export function signed(value: number): string {
  const sign = value < 0 ? '−' : '+';
  return `${sign}${Math.abs(value).toFixed(2)}`;
}

/** `75.4` as `1:15`. */
export function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

export function seconds(value: number): string {
  return `${value.toFixed(1)} s`;
}

export function bytes(count: number): string {
  return count < 1_000_000
    ? `${Math.max(1, Math.round(count / 1000))} kB`
    : `${(count / 1_000_000).toFixed(1)} MB`;
}

export function quantity(value: number, unit: string): string {
  const lowest = /^semitones re ([\d.]+) Hz$/.exec(unit)?.[1];
  if (lowest !== undefined) return `${Math.round(Number(lowest) * 2 ** (value / 12))} Hz`;
  if (unit === 'ratio') return value.toFixed(2);
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${unit.replace('1/min', 'per minute').replace('/s', ' per s').replace('/octave', ' per octave')}`;
}
