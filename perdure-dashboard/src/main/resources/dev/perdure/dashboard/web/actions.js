// What a person can do to one run. Pause and resume ask nothing; what cannot be taken back asks first.
// And actions on many runs: those that are selected, or all that match.
import { html, useState, Problem } from './view.js';
import { go, link } from './router.js';
import { attempt, confirm } from './confirm.js';
import { act, bulk, bulkProgress, previewBulk, rerunTask, retryFailedTasks, send } from './api.js';
import { number, plural } from './format.js';
import { session } from './session.js';
import { hasEnded } from './timeline.js';
import { useData } from './live.js';

const REASON = { name: 'reason', label: 'Reason, kept in the history of the run' };
const reasonOf = values => ({ reason: values.reason?.trim() || 'by the dashboard' });

/** A value that a person types as JSON. */
export function parsed(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`The value is no JSON: ${error.message}. Put texts between quotes.`);
  }
}

/** Runs a task of a DAG again. The names of the tasks that come after it, near or far, are told before. */
export const rerun = (run, task, later, reload) => confirm({
  title: `Run ${task} again?`,
  lines: [{ text: `${run.id} continues under the same id. What the task has recorded is removed, and it begins anew.` },
    ...(later.length ? [{ count: number(later.length), text: `${later.length === 1 ? 'task comes' : 'tasks come'} after it and ${later.length === 1 ? 'runs' : 'run'} again too: ${shortList(later)}.` }] : []),
    { text: 'The other tasks keep their outputs.' }],
  verb: 'Run it again',
  keep: 'Leave it as it is',
  run: async () => { await rerunTask(run.id, task); reload(); },
});

const LISTED = 8;
const shortList = names => names.slice(0, LISTED).join(', ') + (names.length > LISTED ? ` and ${number(names.length - LISTED)} more` : '');

/** Settles an awakeable of a run in the name of the operator. */
export const resolveAwakeable = (run, position) => confirm({
  title: `Resolve the awakeable at ${position}?`,
  lines: [{ text: `The run ${run.id} gets this value and continues. It cannot be taken back.` }],
  fields: [{ name: 'value', label: 'Value, as JSON', type: 'json', value: 'null', required: true }],
  verb: 'Resolve it',
  run: values => act(run.id, `awakeables/${position}/resolve`, { value: parsed(values.value) }),
});

const ACTIONS = {
  cancel: run => ({
    title: `Cancel ${run.id}?`,
    lines: [{ text: 'It gets the cancellation at its next call and may compensate. Its children are cancelled with it.' },
      ...(run.state === 'PAUSED' ? [{ text: 'It is paused: it hears of it when it is resumed.' }] : [])],
    fields: [REASON], verb: 'Cancel the run', bad: true, run: values => act(run.id, 'cancel', reasonOf(values)),
  }),
  kill: run => ({
    title: `Kill ${run.id}?`,
    lines: [{ text: 'It ends at once and does not compensate: nothing it did is undone. Its children end with it.' }],
    fields: [REASON], verb: 'Kill the run', bad: true, run: values => act(run.id, 'kill', reasonOf(values)),
  }),
  send: run => ({
    title: `Send a message to ${run.id}`,
    lines: [{ text: 'The store keeps it until the run receives it.' }],
    fields: [{ name: 'topic', label: 'Topic', required: true }, { name: 'value', label: 'Value, as JSON', type: 'json', required: true }],
    verb: 'Send the message', keep: 'Send nothing', run: values => send(run.id, values.topic.trim(), parsed(values.value)),
  }),
  fork: run => ({
    title: `Fork ${run.id}?`,
    lines: [{ text: 'Another run starts with what this one has recorded before a position. This run stays as it is.' }],
    fields: [{ name: 'position', label: 'Position from which it runs anew', value: '1', required: true }],
    verb: 'Start the fork', keep: 'Start nothing',
    run: async values => {
      const forked = await act(run.id, 'fork', { position: Number(values.position) });
      if (forked?.id) go(link('/runs/' + forked.id));
    },
  }),
};

/**
 * The buttons beside the title: those that the state of the run allows. Some act on the tasks of a DAG in place of the
 * run; they come when it is known whether it is one.
 */
export function RunActions({ run, dag, reload }) {
  const [error, setError] = useState(null);
  const off = session.refusal();
  const ended = hasEnded(run.state);
  const ask = name => () => {
    const request = ACTIONS[name](run);
    confirm({ ...request, run: async values => { await request.run(values); reload(); } });
  };
  const now = (action, body) => async () => {
    setError(null);
    try {
      await (action === 'retry' && dag ? retryFailedTasks(run.id) : act(run.id, action, body));
      reload();
    } catch (failure) {
      setError(failure);
    }
  };
  const button = (text, onClick, cls = '') => html`<button class=${'btn ' + cls} disabled=${Boolean(off)} title=${off} onClick=${onClick}>${text}</button>`;
  const failed = run.state === 'FAILED' || run.state === 'CANCELLED';
  return html`<div class="acts end">
      ${!ended && run.state !== 'PAUSED' && button('Pause', now('pause', { reason: 'by the dashboard' }))}
      ${run.state === 'PAUSED' && button('Resume', now('resume'))}
      ${failed && dag != null && button('Retry from failed', now('retry'))}
      ${!ended && dag === false && button('Send message…', ask('send'))}
      ${dag === false && button('Fork…', ask('fork'))}
      ${!ended && button('Cancel…', ask('cancel'))}
      ${!ended && button('Kill…', ask('kill'), 'bad')}
    </div>${error && html`<${Problem} error=${error}/>`}`;
}

const TYPED_FROM = 10;

const BULK_ACTIONS = {
  pause: { verb: 'Pause', fits: run => !hasEnded(run.state) && run.state !== 'PAUSED', says: 'stop where they are until they are resumed.', reasoned: true },
  resume: { verb: 'Resume', fits: run => run.state === 'PAUSED', says: 'continue from their journal.' },
  retry: { verb: 'Retry', fits: run => run.state === 'FAILED' || run.state === 'CANCELLED', says: 'continue from the step that failed, with all its attempts.' },
  cancel: { verb: 'Cancel', fits: run => !hasEnded(run.state), says: 'get the cancellation at their next call and may compensate. Their children are cancelled with them.', reasoned: true },
  kill: { verb: 'Kill', fits: run => !hasEnded(run.state), says: 'end at once. They do not compensate: nothing they did is undone.', reasoned: true, bad: true },
};

const BULK_REASON = 'by the dashboard';
const textOf = (action, reason) => (action.reasoned ? reason || BULK_REASON : '');

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
        await act(run.id, name, action.reasoned ? { reason: reason || BULK_REASON } : undefined);
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
    const action = BULK_ACTIONS[name];
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
    <span class="end acts">${Object.entries(BULK_ACTIONS).map(([name, action]) => {
      const count = chosen.filter(action.fits).length;
      return (wide || count > 0) && html`<button class=${'btn' + (action.bad ? ' bad' : '')} disabled=${Boolean(off)} title=${off} onClick=${start(name)}>${action.verb}${wide ? '' : ' ' + number(count)}…</button>`;
    })}</span></div>`;
}
