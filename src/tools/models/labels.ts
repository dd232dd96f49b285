/** Names of emotions in published models -> those of reports. */
import { UsageError } from '../context.ts';

const synonyms: Readonly<Record<string, readonly string[]>> = {
  neutral: ['neu', 'neutrality', 'no emotion', '中立'],
  calm: ['cal'],
  happy: ['hap', 'happiness', 'joy', 'joyful', '开心'],
  sad: ['sadness', '难过'],
  angry: ['ang', 'anger', '生气'],
  fearful: ['fea', 'fear', 'scared', '恐惧'],
  disgusted: ['dis', 'disgust', '厌恶'],
  surprised: ['sur', 'surprise', 'pleasant surprise', '吃惊'],
  excited: ['exc', 'excitement'],
  frustrated: ['fru', 'frustration'],
  bored: ['boredom'],
  other: ['oth', '其他'],
  unknown: ['<unk>', 'unk'],
};
/** Other names, in lower case, and those of reports. */
export const reportNames: ReadonlyMap<string, string> = new Map(
  Object.entries(synonyms).flatMap(([name, others]) => [name, ...others].map((one) => [one, name])),
);
const maxLabels = 64;
/** Printable, no formula in a spreadsheet, no quote. */
const printable = /^(?![=+\-@])[^\p{C}"`]{1,64}$/u;

/**
 * @param given in the order of the outputs
 * @param chosen names that the user gives in place of them
 * @throws UsageError
 */
export function mapLabels(given: readonly string[], chosen: ReadonlyMap<string, string>): string[] {
  if (given.length < 2 || given.length > maxLabels)
    throw new UsageError(`Expected 2 to ${maxLabels} labels, got ${given.length}`);
  const absent = [...chosen.keys()].find((name) => !given.includes(name));
  if (absent !== undefined)
    throw new UsageError(`Expected one of ${given.join(', ')} for \`--label\`, got ${absent}`);
  const labels = given.map((name) => chosen.get(name) ?? nameOf(name));
  const wrong = labels.find((name) => !printable.test(name));
  if (wrong !== undefined)
    throw new UsageError(
      `Expected labels of 1 to 64 printable characters, got ${JSON.stringify(wrong)}: --label ${JSON.stringify(wrong)}=name names it`,
    );
  const twice = labels.find((name, index) => labels.indexOf(name) !== index);
  if (twice !== undefined)
    throw new UsageError(`Expected each label once, got ${twice} twice: --label OLD=NEW names one of them`);
  return labels;
}

/** emotion2vec has two languages in one name: 生气/angry. */
function nameOf(label: string): string {
  const names = [label, ...label.split('/')].map((name) => name.trim().toLowerCase());
  return names.map((name) => reportNames.get(name)).find((name) => name !== undefined) ?? label.trim();
}
