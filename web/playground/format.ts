/** Formats numbers for display. */

export function score(value: number): string {
  return fixed(value, 2);
}

/** Without the sign of a value that rounds to zero. */
export function fixed(value: number, digits: number): string {
  return value.toFixed(digits).replace(/^-(0(?:\.0*)?)$/, '$1');
}

export function share(value: number): string {
  return `${Math.round(100 * value)} %`;
}

export function signed(value: number): string {
  const size = score(Math.abs(value));
  if (Number(size) === 0) return size;
  return `${value < 0 ? '−' : '+'}${size}`;
}

/** `75.4` as `1:15`. */
export function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

/** `75.4` as `1:15.4`, and `75` as `1:15`. */
export function tick(seconds: number): string {
  const tenths = Math.round(10 * seconds);
  const rest = tenths % 10;
  return clock(Math.floor(tenths / 10)) + (rest === 0 ? '' : `.${rest}`);
}

/** Seconds below a minute, otherwise minutes and seconds. */
export function length(value: number): string {
  return value < 59.95 ? seconds(value) : clock(Math.round(value));
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
  if (unit === 'ratio') return score(value);
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${fixed(value, digits)} ${unit.replace('1/min', 'per minute').replace('/s', ' per s').replace('/octave', ' per octave')}`;
}
