// The drawer beside a timeline: one entry with its attempts, its error and what was recorded.
import { html, Copy, Problem, RunLink, State } from './view.js';
import { go, here } from './router.js';
import { length, time } from './format.js';
import { useData } from './live.js';
import { journal } from './api.js';
import { kindName } from './waterfall.js';
import { Json, Stack } from './json.js';
import { resolveAwakeable } from './actions.js';
import { session } from './session.js';
import { hasEnded } from './timeline.js';

const select = row => row && go(here({ at: row.key }), { replace: true });

function Attempts({ attempts }) {
  const failed = attempts.filter(attempt => attempt.failed).length;
  return html`<section><h2>Attempts <small>${failed} failed</small></h2><table class="at">
    <thead><tr><th class="n">#</th><th>Ended</th><th class="n">Took</th><th>Error</th><th class="n">Then waited</th></tr></thead>
    <tbody>${attempts.map(attempt => html`<tr><td class="n">${attempt.number}</td><td>${time(attempt.to, 1)}</td><td class="n">${length(attempt.to - attempt.from)}</td><td class="cut" title=${attempt.error}>${attempt.error}</td><td class="n">${attempt.next ? length(attempt.next - attempt.to) : ''}</td></tr>`)}</tbody></table></section>`;
}

/** What the journal holds at a position of this run. Entries of a child are read from the child. */
function Stored({ id, position }) {
  const answer = useData('journal' + id, () => journal(id));
  const entries = (answer.data?.entries ?? []).filter(entry => entry.position === position);
  const failed = entries.findLast(entry => entry.error);
  const stored = entries.map(({ error, ...entry }) => entry);
  return html`
    ${answer.error && html`<${Problem} error=${answer.error} again=${answer.reload}/>`}
    ${failed && html`<section id="error"><h2>Error <small>${failed.status.toLowerCase()}</small><${Copy} text=${failed.error}/></h2><${Stack} text=${failed.error}/></section>`}
    ${entries.length > 0 && html`<section><h2>Entry as stored <small>position ${position}</small><${Copy} text=${JSON.stringify(stored, null, 2)}/></h2><${Json} value=${stored.length === 1 ? stored[0] : stored}/></section>`}`;
}

export function Drawer({ id, row, rows, run }) {
  const index = rows.indexOf(row);
  const owner = row.level > 1 ? rows.findLast((one, at) => at < index && one.level === 1)?.child?.id : id;
  const last = row.events[row.events.length - 1];
  const off = session.refusal();
  const awaited = row.kind === 'AWAKEABLE' && row.open && row.level === 1 && !hasEnded(run.state);
  return html`<aside class="dr" aria-label=${'Entry ' + row.position}>
    <div class="drh"><span class="mono m3">${row.position}</span><strong title=${row.name}>${row.name || kindName(row.kind)}</strong><span class="tag">${kindName(row.kind)}</span>
      <span class="end acts"><button class="btn" aria-label="Previous entry" onClick=${() => select(rows[index - 1])}>↑</button><button class="btn" aria-label="Next entry" onClick=${() => select(rows[index + 1])}>↓</button><button class="btn" onClick=${() => go(here({ at: null }), { replace: true })}>Esc</button></span></div>
    <section><dl class="kv">
      <dt>Last event</dt><dd>${time(last.at, 3)} ${last.text ?? last.status}</dd>
      ${row.took != null && html`<dt>Took</dt><dd>${length(row.took)}</dd>`}
      ${row.child && html`<dt>Child</dt><dd><${RunLink} id=${row.child.id}/> <${State} state=${row.child.state}/></dd>`}
    </dl>${awaited && html`<div class="acts"><button class="btn" disabled=${Boolean(off)} title=${off} onClick=${() => resolveAwakeable(run, row.position)}>Resolve this awakeable…</button></div>`}</section>
    ${row.attempts?.length > 0 && html`<${Attempts} attempts=${row.attempts}/>`}
    ${owner && html`<${Stored} id=${owner} position=${row.position}/>`}
  </aside>`;
}
