// One queue: why runs wait in it, which keys they have, which have waited for longest, and its limits.
import { html, useState, Answer, Count, Icon, Panel, Problem, RunLink, State, Use } from './view.js';
import { link } from './router.js';
import { number, plural, relative, shortened } from './format.js';
import { useData } from './live.js';
import { actOnQueue, queueKeys, runs as readRuns } from './api.js';
import { session } from './session.js';

const READY = 8;

const isFull = queue => queue.limits.concurrency != null && queue.begun >= queue.limits.concurrency;

/** Open, full or paused. */
export function QueueState({ queue }) {
  if (queue.paused != null) return html`<${State} state="PAUSED"/>`;
  if (isFull(queue) && queue.waiting > 0) return html`<span class="st backing-off"><${Icon} name="full"/>FULL</span>`;
  return html`<span class="m3 sm">open</span>`;
}

/** How long something has waited, or none. */
export const waited = since => (since ? relative(since).replace(' ago', '') : html`<span class="m3">none</span>`);

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
      <thead><tr><th>Key</th><th>Begun</th><th class="n">At work</th><th class="n">Waiting</th><th class="n">Oldest waits</th><th></th></tr></thead>
      <tbody>${data.keys.map(key => html`<tr><td class="mono">${key.key || html`<span class="m3">without a key</span>`}</td><td><${Use} used=${key.begun} limit=${key.key ? queue.limits.per_key : undefined}/></td><td class="n"><${Count} value=${key.at_work}/></td><td class="n"><${Count} value=${key.waiting}/></td><td class="n">${waited(key.oldest)}</td><td class="n"><a href=${link('/runs', { queue: queue.name, key: key.key })}>Show runs</a></td></tr>`)}</tbody></table></div>`}<//><//>`;
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

export const Queue = ({ queue, reload }) => html`<div class="c2"><div class="col">
    <section class="panel" aria-label=${queue.name}><p class="empty hd"><b class="mono">${queue.name}</b><${QueueState} queue=${queue}/><span>${why(queue)}</span></p></section>
    <${Keys} queue=${queue}/><${Ready} queue=${queue}/></div><${Limits} key=${queue.name} queue=${queue} reload=${reload}/></div>`;
