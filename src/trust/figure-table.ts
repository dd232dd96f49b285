/** The figures of the cards, as tables with a picture of each value and its interval. */
import { type Manifest, publishedName } from '../models/manifest.ts';
import { countText, type Html, html } from '../runtime/html.ts';
import { intervalPicture } from '../runtime/interval-picture.ts';

type Figure = Manifest['evidence']['figures'][number];

export function figureTables(manifests: readonly Manifest[]): Html {
  const measured = manifests.filter(({ evidence }) => evidence.figures.length > 0);
  return html`<p>Measured through the whole service on speakers that the models were not trained on, with 95 % intervals
    (bootstrap over speakers). Expect the figures of speech that nobody acted and of corpora left out.
    <a href="/docs/models.md">How they were measured</a>.</p>
    ${measured.map(({ name, evidence }, index) => modelTable(name, evidence.figures, index === 0))}`;
}

function modelTable(name: string, figures: readonly Figure[], open: boolean): Html {
  const titles = [...new Set(figures.map(titleOf))];
  const groups = titles.map((title) => {
    const rows = figures.filter((figure) => titleOf(figure) === title);
    return html`<tbody><tr><th scope="rowgroup" colspan="5">${title}</th></tr>${rows.map((row) => figureRow(row, rows))}</tbody>`;
  });
  return html`<details ${open ? { html: 'open' } : null}><summary>${publishedName(name)}</summary><div class="table-scroll" role="region" tabindex="0" aria-label="Figures of ${publishedName(name)}"><table class="figures">
    <thead><tr><th scope="col">Of</th><th scope="col"><span class="visually-hidden">Picture</span></th>
      <th scope="col">Value, 95 % interval</th><th scope="col">Speakers</th><th scope="col">Recordings</th></tr></thead>
    ${groups}</table></div></details>`;
}

/** Corpora with different numbers of labels are in one group. */
function titleOf({ figure }: Figure): string {
  return figure
    .replace(/^UAR of its \d+ labels$/, 'UAR of the labels of the corpus')
    .replace(/^UAR of the corpus's labels$/, 'UAR of the labels of the corpus, by language and sex');
}

function figureRow(figure: Figure, group: readonly Figure[]): Html {
  const { value, interval, speakers, clips } = figure;
  const range = interval === null ? '' : ` (${interval[0].toFixed(2)} to ${interval[1].toFixed(2)})`;
  return html`<tr><th scope="row">${figure.group}</th><td>${intervalPicture(figure, group)}</td>
    <td>${value.toFixed(3)}${range}</td><td>${speakers}</td><td>${countText(clips)}</td></tr>`;
}
