// Definitions: what can run in this process, and how its runs are doing.
import { html, Answer, Panel } from './view.js';
import { go, link } from './router.js';
import { bounded, simpleName } from './format.js';
import { useData } from './live.js';
import { definitions as readDefinitions, start } from './api.js';
import { parsed } from './actions.js';
import { confirm } from './confirm.js';
import { session } from './session.js';

const SHOWN = ['RUNNING', 'SUSPENDED', 'BACKING_OFF', 'PAUSED', 'FAILED', 'COMPLETED'];

/** The share of ended runs that completed, as far as the counts go. */
function success(states) {
  const ended = ['COMPLETED', 'FAILED', 'CANCELLED'].map(state => states[state] ?? { runs: 0 });
  const all = ended.reduce((sum, one) => sum + one.runs, 0);
  if (!all || ended.some(one => one.more)) return '';
  return `${((100 * ended[0].runs) / all).toFixed(ended[0].runs === all ? 0 : 1)} %`;
}

const Cell = ({ count, href }) => (count?.runs ? html`<a href=${href}>${bounded(count)}</a>` : html`<span class="m3">0</span>`);

const startOne = one => confirm({
  title: `Start a run of ${one.name}`,
  lines: one.input ? [{ text: `It takes an input of type ${one.input}.` }] : [{ text: 'It takes no input.' }],
  fields: [...(one.input ? [{ name: 'input', label: 'Input, as JSON', type: 'json', required: true }] : []), { name: 'id', label: 'Id; a new one if it is empty' }],
  verb: 'Start a run',
  keep: 'Start nothing',
  run: async values => {
    const started = await start(one.name, values.id.trim() || undefined, one.input ? parsed(values.input) : undefined);
    go(link('/runs/' + (started.run?.id ?? started.id)));
  },
});

export function Definitions() {
  const answer = useData('definitions', readDefinitions, { live: false });
  const off = session.refusal();
  return html`<main class="page"><div class="hd"><h1>Definitions</h1><span class="m3 sm">registered in the process that serves this page</span></div>
    <${Panel} label="Definitions"><${Answer} of=${answer}>${data => data.definitions.length === 0 ? html`<p class="empty">This process registers no definition. Its workers may be in other processes: look at the <a href=${link('/runs')}>runs</a>.</p>` : html`<div class="scroll"><table>
      <thead><tr><th>Name</th><th>Kind</th><th>Input</th><th>Result</th>${SHOWN.map(state => html`<th class="n">${state}</th>`)}<th class="n">Completed of ended</th><th></th></tr></thead>
      <tbody>${data.definitions.map(one => html`<tr><td><a class="id" href=${link('/runs', { definition: one.name })}>${one.name}</a></td><td class="sm m2">${one.kind.toLowerCase()}</td><td class="mono m2" title=${one.input}>${simpleName(one.input)}</td><td class="mono m2" title=${one.result}>${simpleName(one.result)}</td>
        ${SHOWN.map(state => html`<td class="n"><${Cell} count=${one.states[state]} href=${link('/runs', { definition: one.name, state })}/></td>`)}<td class="n">${success(one.states)}</td><td class="n">${one.kind !== 'HANDLER' && html`<button class="text" disabled=${Boolean(off)} title=${off} onClick=${() => startOne(one)}>Start…</button>`}</td></tr>`)}</tbody></table></div>`}<//><//></main>`;
}
