// The overview: what needs a person first, then how much is at work, waits and sleeps.
import { html, Answer, Count, Icon, Panel, RunLink, State } from './view.js';
import { link } from './router.js';
import { length, millis, now, number, plural, relative, shortened, time } from './format.js';
import { useData, useSecond } from './live.js';
import { queues as readQueues, runs as readRuns, status } from './api.js';
import { STATES } from './filters.js';
import { isFull, QueueState } from './queues.js';
import { session } from './session.js';
import { SpanChoice, spanOf, DefinitionsPanel, ErrorsPanel, Rates } from './figures.js';
import { WorkersPanel } from './workers.js';

const NOTES = {
  PENDING: 'come after others', READY: 'wait for a worker', RUNNING: 'in memory', SUSPENDED: 'hold nothing', BACKING_OFF: 'try again',
  PAUSED: 'need a person', COMPLETED: 'with a result', FAILED: 'with an error', CANCELLED: 'on request', SKIPPED: 'not needed',
};

function Counts({ states }) {
  const found = new Map(states.map(one => [one.state, one]));
  const cell = state => {
    const { runs: count = 0, more } = found.get(state) ?? {};
    return html`<a href=${link('/runs', { state })}><${State} state=${state}/><strong>${number(count)}${more ? '+' : ''}</strong><small>${
      state === 'READY' && count > 0 && found.get(state).oldest_created_at ? `oldest ${relative(found.get(state).oldest_created_at)}` : NOTES[state]}</small></a>`;
  };
  return html`<section class="panel counts" aria-label="Runs by state">${STATES.slice(0, 6).map(cell)}<i></i>${STATES.slice(6).map(cell)}</section>`;
}

const LONG = 300_000; // ms in a queue that is full

/** What a person should look at: findings of the store, paused runs, queues that are paused or have been full for long. */
function NeedsPerson({ data, queues }) {
  const paused = data.runs.find(one => one.state === 'PAUSED');
  const held = queues.filter(queue => queue.paused != null);
  const full = queues.filter(queue => queue.paused == null && isFull(queue) && queue.waiting > 0 && now() - millis(queue.oldest) > LONG);
  const items = [
    ...(data.findings ?? []).map(finding => html`<li><${Icon} name="failed" cls="failed"/><span class="w"><b>${finding.what}</b> <span class="m2">${finding.remedy}</span></span></li>`),
    ...(paused?.runs ? [html`<li><${Icon} name="paused" cls="paused"/><span class="w"><b>${plural(paused.runs, 'run')} ${paused.runs === 1 ? 'is' : 'are'} paused</b> <span class="m2">They hold still until a person resumes them.</span></span><a href=${link('/runs', { state: 'PAUSED' })}>Show ${plural(paused.runs, 'run')}</a></li>`] : []),
    ...held.map(queue => html`<li><${Icon} name="paused" cls="paused"/><span class="w"><b>Queue ${queue.name} is paused:</b> <span class="m2">${queue.paused || 'no reason given'}. ${plural(queue.waiting, 'run')} wait${queue.waiting === 1 ? 's' : ''}.</span></span><a href=${link('/queues/' + queue.name)}>Show queue</a></li>`),
    ...full.map(queue => html`<li><${Icon} name="full" cls="backing-off"/><span class="w"><b>Queue ${queue.name} is full:</b> <span class="m2">${number(queue.begun)} of ${number(queue.limits.concurrency)} places are taken, ${plural(queue.waiting, 'run')} wait${queue.waiting === 1 ? 's' : ''}, the oldest for ${length(now() - millis(queue.oldest))}.</span></span><a href=${link('/queues/' + queue.name)}>Show queue</a></li>`),
  ];
  return html`<${Panel} title="Needs a person" note=${items.length ? number(items.length) : null}>${items.length
    ? html`<ul class="att">${items}</ul>`
    : html`<p class="empty">Nothing needs a person now.</p>`}<//>`;
}

/** Failures and back-offs, newest first. */
function Trouble() {
  const answer = useData('trouble', () => readRuns({ state: ['FAILED', 'BACKING_OFF', 'PAUSED'], limit: 12 }), { every: 2000 });
  return html`<${Panel} title="In trouble" note="newest first" extra=${html`<a class="end sm" href=${link('/runs', [['state', 'BACKING_OFF'], ['state', 'PAUSED'], ['state', 'FAILED']])}>Show all</a>`}>
    <${Answer} of=${answer}>${data => data.runs.length === 0 ? html`<p class="empty">No run has failed, backs off or is paused.</p>` : html`<div class="scroll"><table class="list">
      <thead><tr><th>State</th><th>Run</th><th>Definition</th><th>Waits for, or ended because</th><th class="n">Started</th></tr></thead>
      <tbody>${data.runs.map(run => html`<tr><td><${State} state=${run.state}/></td><td><${RunLink} id=${run.id}/></td><td class="mono m2 opt">${run.definition}</td><td class="cut" title=${run.reason}>${shortened(run.reason)}</td><td class="n">${time(run.created_at)}</td></tr>`)}</tbody></table></div>`}<//><//>`;
}

function BackingUp({ queues }) {
  const busy = [...queues].filter(queue => queue.waiting > 0 || queue.paused != null).sort((a, b) => b.waiting - a.waiting).slice(0, 8);
  return html`<${Panel} title="Queues" note="most waiting first" extra=${html`<a class="end sm" href=${link('/queues')}>Show all</a>`}>${busy.length === 0
    ? html`<p class="empty">No queue backs up.</p>`
    : html`<table><thead><tr><th>Queue</th><th></th><th class="n">Waiting</th><th class="n">Oldest waits</th><th class="n">At work</th></tr></thead>
      <tbody>${busy.map(queue => html`<tr><td><a class="id" href=${link('/queues/' + queue.name)}>${queue.name}</a></td><td><${QueueState} queue=${queue}/></td><td class="n"><${Count} value=${queue.waiting}/></td><td class="n">${queue.oldest ? relative(queue.oldest).replace(' ago', '') : ''}</td><td class="n"><${Count} value=${queue.at_work}/></td></tr>`)}</tbody></table>`}<//>`;
}

export function Overview({ query }) {
  useSecond();
  const span = spanOf(query);
  const answer = useData('status', status, { every: 3000 });
  const queues = useData('queues', readQueues, { every: 2000 });
  const list = queues.data?.queues ?? [];
  return html`<main class="page">
    <div class="hd"><h1>Overview</h1><span class="m3 sm">${session.facts.name ? `as ${session.facts.name}` : ''}</span>${answer.data && html`<span class="sm m2">${plural(answer.data.workers, 'worker')} alive</span>`}<${SpanChoice} span=${span}/></div>
    <${Answer} of=${answer}>${data => html`<${NeedsPerson} data=${data} queues=${list}/><${Counts} states=${data.runs}/>`}<//>
    <${Rates} span=${span}/>
    <div class="c2"><div class="col"><${DefinitionsPanel}/><${Trouble}/></div><div class="col"><${BackingUp} queues=${list}/><${ErrorsPanel} span=${span}/><${WorkersPanel}/></div></div></main>`;
}
