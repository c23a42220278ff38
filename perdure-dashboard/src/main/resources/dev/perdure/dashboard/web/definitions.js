// Definitions: what workers can run and how its runs are doing; and one of them, with where its time goes.
import { html, useState, Answer, Count, Panel, Problem, RunLink, Titles } from './view.js';
import { go, link } from './router.js';
import { bounded, isPart, length, number, plural, relative, shortened, simpleName, time } from './format.js';
import { useData } from './live.js';
import { definitions as readDefinitions, failures as readFailures, start, statistics as readStatistics } from './api.js';
import { parsed } from './actions.js';
import { session } from './session.js';

const share = part => `${(100 * part).toFixed(part === 1 || part === 0 ? 0 : 1)} %`;

const Cell = ({ count, href }) => (count?.runs ? html`<a href=${href}>${bounded(count)}</a>` : html`<span class="m3">0</span>`);

const looked = data => (data.looked ? `of the newest ${plural(data.looked, 'run')}, since ${time(data.since)}` : 'no run in the last 24 h');

/** Those that are no part of another one: tasks of a DAG are on its page. */
export const whole = all => all.filter(one => !isPart(one.name, all.map(other => other.name)));

function List() {
  const answer = useData('definitions', readDefinitions, { live: false });
  return html`<main class="page"><div class="hd"><${Titles} of="definitions"/><span class="m3 sm">${answer.data && looked(answer.data)}</span></div>
    <${Panel} label="Definitions"><${Answer} of=${answer}>${data => data.definitions.length === 0 ? html`<p class="empty">No worker registers a definition. Start a process with <code>Perdure.on(store).register(…).start()</code>.</p>` : html`<div class="scroll"><table>
      <thead><tr><th>Name</th><th>Kind</th><th>Input</th><th class="n">Workers</th><th class="n">Not ended</th><th class="n">Completed</th><th class="n">Failed</th><th class="n">Cancelled</th><th class="n">Success</th><th class="n">p50</th><th class="n">p95</th><th class="n">p99</th><th class="n">Longest</th></tr></thead>
      <tbody>${whole(data.definitions).map(one => { const runs = (state, count) => html`<td class="n"><${Count} value=${count} href=${link('/runs', { definition: one.name, state })}/></td>`; return html`<tr onClick=${event => event.target.closest('a') || go(link('/definitions/' + one.name))}><td><a class="id" href=${link('/definitions/' + one.name)}>${one.name}</a></td><td class="sm m2">${one.kind?.toLowerCase()}</td><td class="mono m2" title=${one.input}>${simpleName(one.input)}</td><td class="n"><${Count} value=${one.workers}/></td><td class="n"><${Count} value=${one.live}/></td>
        ${runs('COMPLETED', one.completed)}${runs('FAILED', one.failed)}${runs('CANCELLED', one.cancelled)}<td class="n">${one.success_rate == null ? '' : share(one.success_rate)}</td>${one.durations ? html`<${Percentiles} of=${one.durations}/>` : html`<td></td><td></td><td></td><td></td>`}</tr>`; })}</tbody></table></div>`}<//><//></main>`;
}

/** The percentiles of a kind of thing, as cells of a table. */
const Percentiles = ({ of }) => html`<td class="n">${length(of.p50_ms)}</td><td class="n">${length(of.p95_ms)}</td><td class="n">${length(of.p99_ms)}</td><td class="n">${length(of.max_ms)}</td>`;

/** Where the time goes: the steps, those with the most time in all first, with their share of it. */
function Steps({ data }) {
  const weight = step => step.durations.total_ms;
  const most = Math.max(1, ...data.steps.map(weight));
  const sum = Math.max(1, data.steps.reduce((all, step) => all + weight(step), 0));
  return html`<${Panel} title="Where the time goes" note="steps of the newest runs that have ended, most time in all first">${data.steps.length === 0
    ? html`<p class="empty">No step of these runs has ended.</p>` : html`<div class="scroll"><table>
    <thead><tr><th>Step</th><th>Share of the time in steps</th><th class="n">Times</th><th class="n">Failed</th><th class="n">p50</th><th class="n">p95</th><th class="n">p99</th><th class="n">Longest</th></tr></thead>
    <tbody>${data.steps.map(step => html`<tr><td class="mono">${step.name}</td><td class="nw"><svg class="share" aria-hidden="true"><rect class="f-running" x="0" y="3" width=${Math.max(2, (120 * weight(step)) / most).toFixed(1)} height="8" rx="2"/></svg>${share(weight(step) / sum)}</td><td class="n">${number(step.durations.count)}</td><td class="n">${step.failed ? html`<span class="failed">${number(step.failed)}</span>` : html`<span class="m3">0</span>`}</td><${Percentiles} of=${step.durations}/></tr>`)}</tbody></table></div>`}<//>`;
}

/** Where the time of a DAG goes: its tasks. All are started with their run, so their times are those of their ends. */
function Tasks({ name, tasks }) {
  return html`<${Panel} title="Tasks" note="from the start of the run to the end of the task"><div class="scroll"><table>
    <thead><tr><th>Task</th><th class="n">Completed</th><th class="n">Failed</th><th class="n">p50</th><th class="n">p95</th><th class="n">p99</th><th class="n">Longest</th></tr></thead>
    <tbody>${tasks.map(task => html`<tr><td><a class="id" href=${link('/runs', { definition: task.name })}>${task.name.slice(name.length + 1)}</a></td><td class="n"><${Count} value=${task.completed}/></td><td class="n">${task.failed ? html`<span class="failed">${number(task.failed)}</span>` : html`<span class="m3">0</span>`}</td>${task.durations && html`<${Percentiles} of=${task.durations}/>`}</tr>`)}</tbody></table></div><//>`;
}

/** Recent failures, those with the same message together. */
function Failures({ name }) {
  const answer = useData('failures' + name, () => readFailures(name), { live: false });
  return html`<${Panel} title="Failures" note=${answer.data?.looked ? `of the newest ${plural(answer.data.looked, 'failed run')}${answer.data.more ? ', of more' : ''}; # stands for what differs` : null}>
    <${Answer} of=${answer}>${data => data.failures.length === 0 ? html`<p class="empty">No run of this definition has failed.</p>` : html`<div class="scroll"><table class="list">
      <thead><tr><th class="n">Runs</th><th>Message</th><th class="n">First</th><th class="n">Last</th><th>Latest run</th></tr></thead>
      <tbody>${data.failures.map(group => html`<tr><td class="n">${number(group.runs)}</td><td class="cut" title=${group.example}><span class="failed">${simpleName(group.type)}</span>${group.type && group.message && ': '}${shortened(group.message)}</td><td class="n opt">${time(group.first_at)}</td><td class="n" title=${group.last_at}>${relative(group.last_at)}</td><td><${RunLink} id=${group.latest}/></td></tr>`)}</tbody></table></div>`}<//><//>`;
}

/** A form that starts a run with an input. */
function Start({ definition }) {
  const [input, setInput] = useState('');
  const [id, setId] = useState('');
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const off = session.refusal();
  if (definition.kind === 'HANDLER') return null;
  const submit = async event => {
    event.preventDefault();
    setError(null);
    setBusy(true);
    try {
      const started = await start(definition.name, id.trim() || undefined, definition.input ? parsed(input) : undefined);
      go(link('/runs/' + (started.run?.id ?? started.id)));
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return html`<${Panel} title="Start a run"><form class="pb form" onSubmit=${submit}>
    ${definition.input ? html`<label>Input, as JSON <span class="mono m3">${definition.input}</span><textarea class="inp mono" rows="5" spellcheck="false" value=${input} onInput=${event => setInput(event.target.value)}></textarea></label>` : html`<p class="m2 sm">It takes no input.</p>`}
    <label>Id; a new one if it is empty<input class="inp" value=${id} onInput=${event => setId(event.target.value)}/></label>
    ${error && html`<${Problem} error=${error}/>`}
    <div class="acts"><button type="submit" class="btn main" disabled=${Boolean(off) || busy || (definition.input && !input.trim())} title=${off}>Start a run</button></div></form><//>`;
}

function Facts({ data, name }) {
  const { durations, sample, states } = data;
  return html`<section class="panel figures" aria-label="Figures">
    <div><small>Completed, of those that completed or failed</small><strong>${data.success_rate == null ? 'none yet' : share(data.success_rate)}</strong><small>${sample.runs ? `${plural(sample.runs, 'run')}${sample.more ? ', the newest' : ''}, since ${time(sample.since)}` : 'no run has ended in the last 24 h'}</small></div>
    ${durations && [['p50', 'half take no longer'], ['p95', '1 in 20 takes longer'], ['p99', '1 in 100 takes longer']].map(([key, text]) => html`<div><small>${key}</small><strong>${length(durations[key + '_ms'])}</strong><small>${text}</small></div>`)}
    ${['RUNNING', 'SUSPENDED', 'FAILED'].map(state => html`<div><small>${state}</small><strong><${Cell} count=${states[state]} href=${link('/runs', { definition: name, state })}/></strong><small>${state === 'FAILED' ? 'in all' : 'now'}</small></div>`)}</section>`;
}

function One({ name }) {
  const known = useData('definitions', readDefinitions, { live: false });
  const figures = useData('statistics' + name, () => readStatistics(name), { live: false });
  const definition = known.data?.definitions.find(one => one.name === name && one.registered);
  const tasks = definition?.kind === 'HANDLER' ? [] : known.data?.definitions.filter(one => one.name.startsWith(name + '/')) ?? [];
  return html`<main class="page"><div class="sm m3"><a href=${link('/definitions')}>Definitions</a></div>
    <div class="hd"><h1 class="mono">${name}</h1>${definition && html`<span class="tag">${definition.kind.toLowerCase()}</span>`}<a class="end sm" href=${link('/runs', { definition: name })}>Show its runs</a></div>
    <${Answer} of=${figures}>${data => html`<${Facts} data=${data} name=${name}/>`}<//>
    <div class="c2"><div class="col">${tasks.length > 0 ? html`<${Tasks} name=${name} tasks=${tasks}/>` : html`<${Answer} of=${figures}>${data => html`<${Steps} data=${data}/>`}<//>`}<${Failures} name=${name}/></div>
      <div class="col">${definition ? html`<${Start} definition=${definition}/>` : known.data && html`<${Panel} title="Start a run"><p class="empty">The process that serves this page does not register it, so it cannot be started here.</p><//>`}</div></div></main>`;
}

export const Definitions = ({ name }) => (name ? html`<${One} key=${name} name=${name}/>` : html`<${List}/>`);
