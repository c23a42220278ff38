// Queues: what waits, what is at work, and which limit holds the rest.
import { html, Answer, Count, Icon, Panel, State, Use } from './view.js';
import { go, link } from './router.js';
import { number, plural, relative } from './format.js';
import { useData, useSecond } from './live.js';
import { actOnQueue, queueKeys, queues as readQueues } from './api.js';
import { confirm } from './confirm.js';
import { session } from './session.js';

const isFull = queue => queue.limits.concurrency != null && queue.begun >= queue.limits.concurrency;

/** Open, full or paused. */
export function QueueState({ queue }) {
  if (queue.paused != null) return html`<${State} state="PAUSED"/>`;
  if (isFull(queue) && queue.waiting > 0) return html`<span class="st backing-off"><${Icon} name="full"/>FULL</span>`;
  return html`<span class="m3 sm">open</span>`;
}

const waits = oldest => (oldest ? relative(oldest).replace(' ago', '') : html`<span class="m3">none</span>`);

/** "100/PT1S" as "100 per 1 s". */
function rate(text) {
  const [count, period] = (text ?? '').split('/');
  return period ? `${number(count)} per ${period.replace(/^PT?/, '').toLowerCase().replace(/(\d+)/, '$1 ')}` : '';
}

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
  const resume = async () => { await actOnQueue(queue.name, 'resume'); reload(); };
  return html`<button class="text" disabled=${Boolean(off)} title=${off} onClick=${queue.paused != null ? resume : pause}>${queue.paused != null ? 'Resume' : 'Pause…'}</button>`;
}

function Keys({ name }) {
  const answer = useData('keys' + name, () => queueKeys(name));
  return html`<${Panel} title=${html`<span class="mono">${name}</span>: keys`} note="most waiting first" extra=${html`<a class="end sm" href=${link('/runs', { queue: name })}>Show runs</a>`}>
    <${Answer} of=${answer}>${data => data.keys.length === 0 ? html`<p class="empty">No run of this queue has a key. Give one with <code>StartOptions.key(…)</code>.</p>` : html`<div class="scroll"><table>
      <thead><tr><th>Key</th><th class="n">At work</th><th class="n">Waiting</th><th class="n">Oldest waits</th><th></th></tr></thead>
      <tbody>${data.keys.map(key => html`<tr><td class="mono">${key.key || html`<span class="m3">without a key</span>`}</td><td class="n"><${Count} value=${key.at_work}/></td><td class="n"><${Count} value=${key.waiting}/></td><td class="n">${waits(key.oldest)}</td><td class="n"><a href=${link('/runs', { queue: name, key: key.key })}>Show runs</a></td></tr>`)}</tbody></table></div>`}<//><//>`;
}

export function Queues({ name }) {
  useSecond();
  const answer = useData('queues', readQueues);
  return html`<main class="page"><div class="hd"><h1>Queues</h1>${answer.data && html`<span class="m3 sm">${plural(answer.data.queues.length, 'queue')}, ${plural(answer.data.queues.reduce((sum, one) => sum + one.waiting, 0), 'run')} waiting</span>`}</div>
    <${Panel} label="Queues"><${Answer} of=${answer}>${data => data.queues.length === 0 ? html`<p class="empty">No queue is declared. Declare one with <code>perdure.queues().declare(Queue.named("import").limit(20))</code>.</p>` : html`<div class="scroll"><table>
      <thead><tr><th>Queue</th><th></th><th class="n">Waiting</th><th class="n">Oldest waits</th><th>Begun</th><th>Limit per key</th><th>Rate</th><th class="n">Taken last minute</th><th></th></tr></thead>
      <tbody>${data.queues.map(queue => html`<tr aria-selected=${queue.name === name ? 'true' : null} onClick=${event => event.target.closest('a, button') || go(link('/queues/' + queue.name))}>
        <td><a class="id" href=${link('/queues/' + queue.name)}>${queue.name}</a></td><td><${QueueState} queue=${queue}/></td><td class="n"><${Count} value=${queue.waiting}/></td><td class="n">${waits(queue.oldest)}</td>
        <td><${Use} used=${queue.begun} limit=${queue.limits.concurrency}/></td><td class="sm m2">${queue.limits.per_key ?? ''}</td><td class="sm m2">${rate(queue.limits.rate)}</td><td class="n"><${Count} value=${queue.last_minute}/></td><td class="n"><${Toggle} queue=${queue} reload=${answer.reload}/></td></tr>
        ${queue.paused != null && html`<tr class="note"><td></td><td colspan="8" class="m2">Paused: <q>${queue.paused}</q>. No run begins; those at work continue.</td></tr>`}`)}</tbody></table></div>`}<//><//>
    ${name && html`<${Keys} name=${name}/>`}</main>`;
}
