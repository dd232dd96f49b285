/** Reads a Containerfile: the instructions that ours uses, and no others. */

export type Copy = {
  readonly kind: 'copy';
  /** Name of the stage; null: the project. */
  readonly from: string | null;
  readonly source: string;
  readonly target: string;
};

export type Step =
  | Copy
  | { readonly kind: 'run' | 'workdir' | 'user'; readonly text: string }
  | { readonly kind: 'env'; readonly name: string; readonly value: string };

export type Stage = {
  readonly image: string;
  readonly name: string | null;
  readonly steps: readonly Step[];
  readonly command: readonly string[];
  readonly healthCheck: readonly string[];
};

type Draft = { image: string; name: string | null; steps: Step[]; command: string[]; healthCheck: string[] };

/** Instructions without effect in this test. */
const declarations = new Set(['VOLUME', 'EXPOSE', 'STOPSIGNAL']);

/** @throws Error for an instruction that is not known here: then it would go unchecked */
export function parseContainerfile(text: string): Stage[] {
  const stages: Draft[] = [];
  for (const line of text.split('\n').filter((one) => one.trim() !== '' && !one.startsWith('#'))) {
    const [, word = '', rest = ''] = /^(\w+) +(.*)$/.exec(line) ?? [];
    if (word === 'FROM') stages.push(stageOf(rest));
    else take(stages.at(-1), word, rest);
  }
  return stages;
}

function stageOf(text: string): Draft {
  const [image = '', , name = null] = text.split(' ');
  return { image, name, steps: [], command: [], healthCheck: [] };
}

function take(stage: Draft | undefined, word: string, rest: string): void {
  if (stage === undefined) throw new Error(`Expected FROM before \`${word}\``);
  if (word === 'RUN') stage.steps.push({ kind: 'run', text: rest });
  else if (word === 'WORKDIR') stage.steps.push({ kind: 'workdir', text: rest });
  else if (word === 'USER') stage.steps.push({ kind: 'user', text: rest });
  else if (word === 'COPY') stage.steps.push(copyOf(rest));
  else if (word === 'ENV') stage.steps.push(variableOf(rest));
  else if (word === 'CMD') stage.command = JSON.parse(rest) as string[];
  else if (word === 'HEALTHCHECK') stage.healthCheck = JSON.parse(rest.replace(/^.*?CMD /, '')) as string[];
  else if (!declarations.has(word)) throw new Error(`Expected a known instruction, got \`${word}\``);
}

function copyOf(text: string): Copy {
  const found = /^(?:--from=(\S+) )?(\S+) (\S+)$/.exec(text);
  if (found === null) throw new Error(`Expected one source and one target for \`COPY\`, got "${text}"`);
  const [, from = null, source = '', target = ''] = found;
  return { kind: 'copy', from, source, target };
}

function variableOf(text: string): Step {
  const [name = '', ...value] = text.split('=');
  return { kind: 'env', name, value: value.join('=') };
}
