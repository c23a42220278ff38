// Queues: what waits and why, what is at work, which limit holds the rest, and both over the last hour.
import { html, useState, Answer, Count, Icon, Panel, Problem, RunLink, State, Use } from './view.js';
import { length, millis, now, number, plural, relative, shortened, withLengths } from './format.js';
import { Key, Plot, Spark } from './plot.js';
import { go, link } from './router.js';
import { useData, useSecond } from './live.js';
import { actOnQueue, queueKeys, queueLines, queues as readQueues, runs as readRuns } from './api.js';
import { session } from './session.js';
import { attempt, confirm } from './confirm.js';

const HOUR = 3_600_000;
const SHORTEST = 300_000;
const STEP = 15_000;
/** For so long a queue is taken to stay as it was: while nothing changes, nobody asks. */
const STAYS = 60_000;

/** The last point of each bar of a span that ends now; null where none was seen for long. */
function resampled(points, bars, span = HOUR) {
  const step = span / bars;
  const start = now() - span;
  const stays = Math.max(step, STAYS);
  let next = 0;
  let last = null;
  return Array.from({ length: bars }, (_, bar) => {
    const end = start + (bar + 1) * step;
    while (next < points.length && millis(points[next].at) <= end) last = points[next++];
    return last && end - millis(last.at) <= stays ? last : null;
  });
}

/** What waited and what had begun in a queue, over the last hour or since somebody has looked. */
function QueueCharts({ queue }) {
  const lines = useData('queue line ' + queue.name, () => queueLines(queue.name), { every: 5000 });
  const points = lines.data?.[queue.name] ?? [];
  const span = Math.min(HOUR, Math.max(SHORTEST, points.length ? now() - millis(points[0].at) : 0));
  const bars = resampled(points, Math.round(span / STEP), span);
  const to = now();
  const limit = queue.limits.concurrency;
  const draw = (lines, label) => html`<div class="chart"><${Plot} lines=${lines} from=${to - span} to=${to} label=${label}/></div>`;
  const note = `last ${length(span)}, as far as somebody has looked`;
  return html`<${Panel} title="Waiting" note=${note}>${draw([{ cls: 'w', values: bars.map(point => point?.waiting ?? null) }], `${number(queue.waiting)} runs wait now`)}<//>
    <${Panel} title="Begun" extra=${html`<span class="end keys2"><${Key} cls="a" text="begun"/>${limit != null && html`<${Key} cls="lim" text="limit"/>`}</span>`}>${draw(
      [{ cls: 'a', values: bars.map(point => point?.begun ?? null) }, ...(limit == null ? [] : [{ cls: 'lim', values: bars.map(() => limit) }])], `${number(queue.begun)} runs have begun and have not ended`)}<//>`;
}

const READY = 8;

/** Whether all places are taken. */
export const isFull = queue => queue.limits.concurrency != null && queue.begun >= queue.limits.concurrency;

/** Open, full or paused. */
export function QueueState({ queue }) {
  if (queue.paused != null) return html`<${State} state="PAUSED"/>`;
  if (isFull(queue) && queue.waiting > 0) return html`<span class="st backing-off"><${Icon} name="full"/>FULL</span>`;
  return html`<span class="m3 sm">open</span>`;
}

/** How long something has waited, or none. */
const waited = since => (since ? relative(since).replace(' ago', '') : html`<span class="m3">none</span>`);

/** Why runs wait in the queue, in a sentence. */
function why(queue) {
  const runs = plural(queue.waiting, 'run');
  const wait = queue.waiting === 1 ? 'waits' : 'wait';
  if (queue.paused != null) return `It is paused: ${queue.paused || 'no reason was given'}. ${runs} ${wait}; those at work continue.`;
  if (queue.waiting === 0) return 'No run waits.';
  if (isFull(queue)) return `All ${number(queue.limits.concurrency)} places are taken, so ${runs} ${wait}.`;
  return `${runs} ${wait} for a worker, for a place of the key, or for the rate.`;
}

function Keys({ queue }) {
  const answer = useData('keys' + queue.name, () => queueKeys(queue.name));
  return html`<${Panel} title="Keys" note="most waiting first" extra=${html`<a class="end sm" href=${link('/runs', { queue: queue.name })}>Show runs</a>`}>
    <${Answer} of=${answer}>${data => data.keys.length === 0 ? html`<p class="empty">No run of this queue has a key. Give one with <code>StartOptions.queue("${queue.name}").key(…)</code>.</p>` : html`<div class="scroll"><table>
      <thead><tr><th>Key</th><th>Begun</th><th class="n">At work</th><th class="n">Waiting</th><th class="n">Oldest waits</th><th class="n">Taken last minute</th><th></th></tr></thead>
      <tbody>${data.keys.map(key => html`<tr><td class="mono">${key.key || html`<span class="m3">without a key</span>`}</td><td><${Use} used=${key.begun} limit=${key.key ? queue.limits.per_key : undefined}/></td><td class="n"><${Count} value=${key.at_work}/></td><td class="n"><${Count} value=${key.waiting}/></td><td class="n">${waited(key.oldest)}</td><td class="n"><${Count} value=${key.last_minute}/></td><td class="n"><a href=${link('/runs', { queue: queue.name, key: key.key })}>Show runs</a></td></tr>`)}</tbody></table></div>`}<//><//>`;
}

function Ready({ queue }) {
  const answer = useData('ready' + queue.name, () => readRuns({ queue: queue.name, state: ['READY'], order: 'oldest', limit: READY }));
  return html`<${Panel} title="Ready" note="started first" extra=${html`<a class="end sm" href=${link('/runs', { queue: queue.name, state: 'READY', order: 'oldest' })}>Show all</a>`}>
    <${Answer} of=${answer}>${data => data.runs.length === 0 ? html`<p class="empty">No run is ready.</p>` : html`<div class="scroll"><table class="list">
      <thead><tr><th>Run</th><th>Definition</th><th>Waits for</th><th class="n">Ready for</th></tr></thead>
      <tbody>${data.runs.map(run => html`<tr><td><${RunLink} id=${run.id}/></td><td class="mono m2 opt">${run.definition}</td><td class="cut" title=${run.reason}>${shortened(run.reason) || 'a worker'}</td><td class="n">${waited(run.changed_at)}</td></tr>`)}</tbody></table></div>`}<//><//>`;
}

const LIMITS = [['concurrency', 'Begun at once', 'runs'], ['per_key', 'Begun at once per key', 'runs'], ['rate', 'Rate, such as 100/PT1M', '']];
const NONE = 'none';

/** The limits as fields: an empty one is no limit. What differs from the code is said so, and can be taken back. */
function Limits({ queue, reload }) {
  const inForce = { ...queue.declared, ...queue.changed };
  const shown = name => (inForce[name] == null || inForce[name] === NONE ? '' : inForce[name]);
  const [typed, setTyped] = useState({});
  const [error, setError] = useState(null);
  const off = session.refusal();
  const changes = Object.entries(typed).filter(([name, value]) => value.trim() !== shown(name));
  const act = (action, body) => async event => {
    event.preventDefault();
    try {
      await actOnQueue(queue.name, action, body);
      setTyped({});
      setError(null);
      reload();
    } catch (failure) {
      setError(failure);
    }
  };
  const settings = Object.fromEntries(changes.map(([name, value]) => [name, value.trim() || NONE]));
  return html`<${Panel} title="Limits" note="for all workers together; empty: none"><form class="pb form limits" onSubmit=${act('limits', { settings })}>
    ${LIMITS.map(([name, text, unit]) => html`<label><span>${text}${name in queue.changed && html` <small class="m3">the code says ${queue.declared[name] ?? NONE}</small>`}</span><input class="inp small n" value=${typed[name] ?? shown(name)} onInput=${event => setTyped({ ...typed, [name]: event.target.value })}/><span class="m3">${unit}</span></label>`)}
    ${error && html`<${Problem} error=${error}/>`}
    <div class="acts"><button type="submit" class="btn main" disabled=${Boolean(off) || !changes.length} title=${off ?? (changes.length ? null : 'Nothing is changed.')}>Change the limits</button>
      ${Object.keys(queue.changed).length > 0 && html`<button type="button" class="btn" disabled=${Boolean(off)} title=${off} onClick=${act('reset')}>Go back to those of the code</button>`}</div></form><//>`;
}

const Queue = ({ queue, reload }) => html`<div class="c2"><div class="col">
    <section class="panel" aria-label=${queue.name}><p class="empty hd"><b class="mono">${queue.name}</b><${QueueState} queue=${queue}/><span>${why(queue)}</span></p></section>
    <${Keys} queue=${queue}/><${Ready} queue=${queue}/></div><div class="col"><${QueueCharts} queue=${queue}/>${queue.known && html`<${Limits} key=${queue.name} queue=${queue} reload=${reload}/>`}</div></div>`;

/** "100/PT1S" as "100 per 1 s". */
const rate = text => withLengths(text).replace('/', ' per ');

function Toggle({ queue, reload }) {
  const off = session.refusal();
  const pause = () => confirm({
    title: `Pause the queue ${queue.name}?`,
    lines: [{ count: number(queue.waiting), text: 'waiting runs do not begin until it is resumed. Those at work continue.' }],
    fields: [{ name: 'reason', label: 'Reason, shown to everybody', required: true }],
    verb: 'Pause the queue',
    keep: 'Leave it open',
    run: async values => { await actOnQueue(queue.name, 'pause', { reason: values.reason.trim() }); reload(); },
  });
  const resume = attempt(async () => { await actOnQueue(queue.name, 'resume'); reload(); });
  if (!queue.known) return html`<span class="m3 sm">not declared</span>`;
  return html`<button class="text" disabled=${Boolean(off)} title=${off} onClick=${queue.paused != null ? resume : pause}>${queue.paused != null ? 'Resume' : 'Pause…'}</button>`;
}

const BARS = 24;

export function Queues({ name }) {
  useSecond();
  const answer = useData('queues', readQueues);
  const lines = useData('queue lines', () => queueLines(), { every: 5000 });
  const bars = Object.fromEntries(Object.entries(lines.data ?? {}).map(([queue, points]) => [queue, resampled(points, BARS).map(point => point?.waiting ?? 0)]));
  const top = Math.max(1, ...Object.values(bars).flat());
  return html`<main class="page"><div class="hd"><h1>Queues</h1>${answer.data && html`<span class="m3 sm">${plural(answer.data.queues.length, 'queue')}, ${plural(answer.data.queues.reduce((sum, one) => sum + one.waiting, 0), 'run')} waiting</span>`}</div>
    <${Panel} label="Queues"><${Answer} of=${answer}>${data => data.queues.length === 0 ? html`<p class="empty">No queue is declared. Declare one with <code>Perdure.on(store).declare(Queue.named("import").concurrency(20))</code>.</p>` : html`<div class="scroll"><table>
      <thead><tr><th>Queue</th><th></th><th class="n">Waiting</th><th>Waiting, 1 h</th><th class="n">Oldest waits</th><th>Begun</th><th>Limit per key</th><th>Rate</th><th class="n">Taken last minute</th><th></th></tr></thead>
      <tbody>${data.queues.map(queue => html`<tr aria-selected=${queue.name === name ? 'true' : null} onClick=${event => event.target.closest('a, button') || go(link('/queues/' + queue.name))}>
        <td><a class="id" href=${link('/queues/' + queue.name)}>${queue.name}</a></td><td><${QueueState} queue=${queue}/></td><td class="n"><${Count} value=${queue.waiting}/></td><td><${Spark} values=${bars[queue.name] ?? []} top=${top}/></td><td class="n">${waited(queue.oldest)}</td>
        <td><${Use} used=${queue.begun} limit=${queue.limits.concurrency}/></td><td class="sm m2">${queue.limits.per_key ?? ''}</td><td class="sm m2">${rate(queue.limits.rate)}</td><td class="n"><${Count} value=${queue.last_minute}/></td><td class="n"><${Toggle} queue=${queue} reload=${answer.reload}/></td></tr>
        ${queue.paused != null && html`<tr class="note"><td></td><td colspan="9" class="m2">Paused: <q>${queue.paused}</q>. No run begins; those at work continue.</td></tr>`}`)}</tbody></table></div>`}<//><//>
    ${name && answer.data?.queues.filter(one => one.name === name).map(queue => html`<${Queue} queue=${queue} reload=${answer.reload}/>`)}</main>`;
}
