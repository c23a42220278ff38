// Actions on many runs: on those that are selected one by one, or on all that the filter selects, on the server.
import { html, useState } from './view.js';
import { plural, number } from './format.js';
import { attempt, confirm } from './confirm.js';
import { act, bulk, bulkProgress, previewBulk } from './api.js';
import { useData } from './live.js';
import { link } from './router.js';
import { session } from './session.js';
import { hasEnded } from './timeline.js';

const TYPED_FROM = 10;

const ACTIONS = {
  pause: { verb: 'Pause', fits: run => !hasEnded(run.state) && run.state !== 'PAUSED', says: 'stop where they are until they are resumed.', reasoned: true },
  resume: { verb: 'Resume', fits: run => run.state === 'PAUSED', says: 'continue from their journal.' },
  retry: { verb: 'Retry', fits: run => run.state === 'FAILED' || run.state === 'CANCELLED', says: 'continue from the step that failed, with all its attempts.' },
  cancel: { verb: 'Cancel', fits: run => !hasEnded(run.state), says: 'get the cancellation at their next call and may compensate. Their children are cancelled with them.', reasoned: true },
  kill: { verb: 'Kill', fits: run => !hasEnded(run.state), says: 'end at once. They do not compensate: nothing they did is undone.', reasoned: true, bad: true },
};

const REASON = 'by the dashboard';
const textOf = (action, reason) => (action.reasoned ? reason || REASON : '');

/** How far a bulk action is that the server carries out. */
function Progress({ id }) {
  const { data } = useData('bulk' + id, () => bulkProgress(id));
  const report = data?.report;
  return html`<span class="m2" role="status">${report ? `Done: ${number(report.changed)} changed, ${number(report.skipped)} skipped, ${number(report.refused)} refused.` : data?.run.status ?? 'Under way.'} <a href=${link('/runs/' + id)}>Show</a></span>`;
}

/** The bar below the list: what is selected, and what can be done to it. */
export function BulkBar({ ids, rows, filter, total, done }) {
  const [wide, setWide] = useState(false);
  const [progress, setProgress] = useState(null);
  const [underWay, setUnderWay] = useState(null);
  const chosen = rows.filter(run => ids.includes(run.id));
  const off = session.refusal();

  const each = (name, action, runs) => async ({ reason }) => {
    const refused = [];
    for (const [index, run] of runs.entries()) {
      setProgress(`${index + 1} of ${runs.length}`);
      try {
        await act(run.id, name, action.reasoned ? { reason: reason || REASON } : undefined);
      } catch (error) {
        refused.push(`${run.id}: ${error.message}`);
      }
    }
    setProgress(null);
    if (refused.length) {
      throw new Error(`${plural(refused.length, 'run')} of ${number(runs.length)} refused it. The first: ${refused[0]}`);
    }
    done();
  };
  const onServer = (name, action) => async ({ reason }) => {
    const started = await bulk(name.toUpperCase(), textOf(action, reason), filter);
    setUnderWay(started.id);
  };
  const start = name => attempt(async () => {
    const action = ACTIONS[name];
    const runs = chosen.filter(action.fits);
    const counted = wide ? await previewBulk(name.toUpperCase(), textOf(action), filter) : [];
    const count = wide ? counted.reduce((sum, one) => sum + one.runs, 0) : runs.length;
    const more = counted.some(one => one.more);
    const what = (more ? 'more than ' : '') + plural(count, 'run');
    confirm({
      title: `${action.verb} ${what}?`,
      lines: [{ count: number(count), text: action.says }, ...(wide ? [{ text: 'Runs in whose state the action does nothing are skipped.' }] : [])],
      fields: action.reasoned ? [{ name: 'reason', label: 'Reason, kept in the history of each run' }] : [],
      typed: name === 'kill' && count > TYPED_FROM ? String(count) : null,
      verb: `${action.verb} ${what}`,
      keep: 'Keep them',
      bad: action.bad || name === 'cancel',
      run: wide ? onServer(name, action) : each(name, action, runs),
    });
  });
  return html`<div class="bulk"><b>${wide ? `All ${number(total.runs)}` : number(ids.length)} selected</b>
    ${total.runs > ids.length && html`<button class="text" onClick=${() => setWide(!wide)}>${wide ? `Only the ${number(ids.length)} chosen` : `Select all ${number(total.runs)}`}</button>`}
    ${progress && html`<span class="m2" role="status">${progress}</span>`}
    ${underWay && html`<${Progress} id=${underWay}/>`}
    <span class="end acts">${Object.entries(ACTIONS).map(([name, action]) => {
      const count = chosen.filter(action.fits).length;
      return (wide || count > 0) && html`<button class=${'btn' + (action.bad ? ' bad' : '')} disabled=${Boolean(off)} title=${off} onClick=${start(name)}>${action.verb}${wide ? '' : ' ' + number(count)}…</button>`;
    })}</span></div>`;
}
