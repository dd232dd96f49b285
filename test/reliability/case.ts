/** Figures of a reliability case and the goal of each. */

/** One figure. `value` is null when it could not be measured: then the goal is missed. */
export type Row = {
  readonly name: string;
  readonly unit: string;
  readonly value: number | null;
  /** '<= 5', '0', or 'none' for a figure without a goal. */
  readonly goal: string;
  readonly met: boolean;
  readonly note: string;
};

export type Options = {
  /** The form whose figures are kept; the short one ends within about a minute on two idle cores. */
  readonly long: boolean;
  readonly seed: number;
  /** Repetitions; null: the default of the case for this form. */
  readonly count: number | null;
};

/** Exported by each file of test/reliability/cases. Installs missing tools. */
export type Run = (options: Options) => Promise<readonly Row[]>;

function row(name: string, unit: string, value: number | null, goal: string, met: boolean, note = ''): Row {
  return { name, unit, value, note, goal, met };
}

type Measured = readonly [name: string, unit: string, value: number | null, note?: string];

export function atMost(limit: number, ...[name, unit, value, note]: Measured): Row {
  return row(name, unit, value, `<= ${limit}`, value !== null && value <= limit, note);
}

export function atLeast(limit: number, ...[name, unit, value, note]: Measured): Row {
  return row(name, unit, value, `>= ${limit}`, value !== null && value >= limit, note);
}

export function exactly(number: number, ...[name, unit, value, note]: Measured): Row {
  return row(name, unit, value, String(number), value === number, note);
}

/** A duration. The short form shares its machine with other work and requires only that the wait ended. */
export function within(limit: number, { long }: Pick<Options, 'long'>, ...measured: Measured): Row {
  const [name, unit, value, note] = measured;
  return long ? atMost(limit, ...measured) : row(name, unit, value, 'an end', value !== null, note);
}

/** None of `total` items may be found; the note names the first. */
export function none(name: string, found: readonly string[], total: number | string): Row {
  return exactly(0, name, `of ${total}`, found.length, found.slice(0, 4).join('; '));
}

/** A figure without a goal. */
export function informational(...[name, unit, value, note]: Measured): Row {
  return row(name, unit, value, 'none', value !== null, note);
}

/** The same check on an injected fault, where it must miss a goal. */
export function negativeControl(name: string, rows: readonly Row[]): Row {
  const missed = rows.filter(({ met }) => !met).map((one) => one.name);
  const note = missed.length > 0 ? `missed there: ${missed.join(', ')}` : 'no goal was missed there';
  return exactly(1, `negative control: ${name}`, 'found', missed.length > 0 ? 1 : 0, note);
}
