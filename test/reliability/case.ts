/** What a command of reliability measures, and the goal that each figure must reach. */

/** One figure. `value` is null when it could not be measured: then the goal is missed. */
export type Row = {
  readonly name: string;
  readonly unit: string;
  readonly value: number | null;
  /** In words: '<= 5', '0', 'none' for a figure that is only told. */
  readonly goal: string;
  readonly met: boolean;
  readonly note: string;
};

export type Options = {
  /** The form whose figures are written down; the short one ends within a minute or so on two quiet cores. */
  readonly long: boolean;
  readonly seed: number;
  /** How many of whatever the case repeats; null: the case's own number for this form. */
  readonly count: number | null;
};

/** What each file of test/reliability/cases exports as `run`. It installs the tools that it needs and lacks. */
export type Run = (options: Options) => Promise<readonly Row[]>;

type Measured = Pick<Row, 'name' | 'unit' | 'value'> & { readonly note?: string };

function row(measured: Measured, goal: string, holds: (value: number) => boolean): Row {
  const { value, note = '' } = measured;
  return { ...measured, note, goal, met: value !== null && holds(value) };
}

export function atMost(limit: number, measured: Measured): Row {
  return row(measured, `<= ${limit}`, (value) => value <= limit);
}

export function atLeast(limit: number, measured: Measured): Row {
  return row(measured, `>= ${limit}`, (value) => value >= limit);
}

export function exactly(number: number, measured: Measured): Row {
  return row(measured, String(number), (value) => value === number);
}

/**
 * A time. The long form holds it to its bound; the short one shares its machine with whatever else runs there, and asks
 * only that what was measured came to its end.
 */
export function within(limit: number, { long }: Pick<Options, 'long'>, measured: Measured): Row {
  return long ? atMost(limit, measured) : row(measured, 'an end', () => true);
}

/** Nothing of `total` things may be found; the note names the first. */
export function none(name: string, found: readonly string[], total: number): Row {
  const note = found.slice(0, 4).join('; ');
  return exactly(0, { name, unit: `of ${total}`, value: found.length, note });
}

/** A figure without a goal. */
export function told(measured: Measured): Row {
  return row(measured, 'none', () => true);
}

/** A negative control: the case is run on a planted fault, and must miss its goal there. */
export function caught(name: string, rows: readonly Row[]): Row {
  const missed = rows.filter(({ met }) => !met).map((one) => one.name);
  const note = missed.length > 0 ? `missed there: ${missed.join(', ')}` : 'no goal was missed there';
  return exactly(1, { name: `planted: ${name}`, unit: 'found', value: missed.length > 0 ? 1 : 0, note });
}
