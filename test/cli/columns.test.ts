/** Columns of the rows of results. */
import test from 'ava';
import { columnsOf } from '../../src/tools/columns.ts';
import type { Report } from '../../src/tools/index.ts';

/** The cells of the columns of warnings. */
function warningsOf(report: object) {
  const row = { path: 'a.wav', result: { report: report as Report }, part: null };
  const columns = columnsOf('file').filter(({ name }) => name.includes('warnings'));
  return Object.fromEntries(columns.map((column) => [column.name, column.value(row)]));
}

test('warnings of each signal have a column next to those of both', (t) => {
  const emotion = { warnings: ['low_snr', 'low_confidence'] };
  const cognitive = { warnings: ['low_snr', 'possibly_scripted'] };
  t.deepEqual(warningsOf({ emotion, cognitive }), {
    warnings: 'low_snr low_confidence possibly_scripted',
    emotion_warnings: 'low_snr low_confidence',
    cognitive_warnings: 'low_snr possibly_scripted',
  });
  t.deepEqual(warningsOf({ emotion }), {
    warnings: 'low_snr low_confidence',
    emotion_warnings: 'low_snr low_confidence',
    cognitive_warnings: null,
  });
});
