// Queues: what waits, what is at work, and which limit holds the rest.
import { html, Answer, Count, Panel, Use } from './view.js';
import { go, link } from './router.js';
import { number, plural, withLengths } from './format.js';
import { useData, useSecond } from './live.js';
import { actOnQueue, queues as readQueues } from './api.js';
import { attempt, confirm } from './confirm.js';
import { Queue, QueueState, waited } from './queue.js';
import { session } from './session.js';

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
  return html`<button class="text" disabled=${Boolean(off)} title=${off} onClick=${queue.paused != null ? resume : pause}>${queue.paused != null ? 'Resume' : 'Pause…'}</button>`;
}

export function Queues({ name }) {
  useSecond();
  const answer = useData('queues', readQueues);
  return html`<main class="page"><div class="hd"><h1>Queues</h1>${answer.data && html`<span class="m3 sm">${plural(answer.data.queues.length, 'queue')}, ${plural(answer.data.queues.reduce((sum, one) => sum + one.waiting, 0), 'run')} waiting</span>`}</div>
    <${Panel} label="Queues"><${Answer} of=${answer}>${data => data.queues.length === 0 ? html`<p class="empty">No queue is declared. Declare one with <code>Perdure.on(store).declare(Queue.named("import").concurrency(20))</code>.</p>` : html`<div class="scroll"><table>
      <thead><tr><th>Queue</th><th></th><th class="n">Waiting</th><th class="n">Oldest waits</th><th>Begun</th><th>Limit per key</th><th>Rate</th><th class="n">Taken last minute</th><th></th></tr></thead>
      <tbody>${data.queues.map(queue => html`<tr aria-selected=${queue.name === name ? 'true' : null} onClick=${event => event.target.closest('a, button') || go(link('/queues/' + queue.name))}>
        <td><a class="id" href=${link('/queues/' + queue.name)}>${queue.name}</a></td><td><${QueueState} queue=${queue}/></td><td class="n"><${Count} value=${queue.waiting}/></td><td class="n">${waited(queue.oldest)}</td>
        <td><${Use} used=${queue.begun} limit=${queue.limits.concurrency}/></td><td class="sm m2">${queue.limits.per_key ?? ''}</td><td class="sm m2">${rate(queue.limits.rate)}</td><td class="n"><${Count} value=${queue.last_minute}/></td><td class="n"><${Toggle} queue=${queue} reload=${answer.reload}/></td></tr>
        ${queue.paused != null && html`<tr class="note"><td></td><td colspan="8" class="m2">Paused: <q>${queue.paused}</q>. No run begins; those at work continue.</td></tr>`}`)}</tbody></table></div>`}<//><//>
    ${name && answer.data?.queues.filter(one => one.name === name).map(queue => html`<${Queue} queue=${queue} reload=${answer.reload}/>`)}</main>`;
}
