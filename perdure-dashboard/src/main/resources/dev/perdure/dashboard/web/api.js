// Every route that the pages use, by what it is for, and the shape in which the pages read its answer.
import { get, getRecent, post, segment } from './http.js';
import { millis } from './format.js';

const path = id => '/runs/' + segment(id);

/** Seconds that an answer may be old which other pages share, if it is costly: counts of all runs, and what moves on. */
const COUNTED = 30;
const MOVING = 5;

/** Who the caller is, and what the caller may do. */
export const me = () => get('/me');

// ---- lists

/** The filter of a page as the query of the API. */
function query({ created_to, attribute, ...filter }) {
  return { ...filter, created_before: created_to, where: attribute };
}

/** A page of runs: {runs, next}. */
export const runs = ({ order, ...filter }) => getRecent(MOVING, '/runs', { ...query(filter), oldest_first: order === 'oldest' ? 'true' : null });

/** How many runs a filter selects, by state: {FAILED: {runs, more}}. */
export async function countRuns(filter) {
  const { counts } = await getRecent(COUNTED, '/runs/count', query(filter));
  return { states: Object.fromEntries(counts.map(one => [one.state, one])) };
}

/** When the runs of a filter were started: {from, step_ms, buckets: [{FAILED: 3}]}. */
export async function histogram({ from, to, bars, ...filter }) {
  const answer = await get('/runs/histogram', { ...query(filter), from, to, bars });
  const first = answer.bars[0];
  return {
    from: first.from,
    step_ms: millis(first.to) - millis(first.from),
    buckets: answer.bars.map(bar => Object.fromEntries(bar.counts.map(one => [one.state, one.runs]))),
  };
}

// ---- one run

/** A run with its payloads, as one object; its failure is the text of a stack trace. */
export async function oneRun(id) {
  const { run, failure, ...rest } = await get(path(id));
  return { ...run, ...rest, failure: failure && (failure.stack ?? failure.message) };
}

const MOST_PAGES = 20;

/** A list, page by page up to a bound: {items, more}. */
async function all(route, list, query = { limit: 1000 }) {
  const items = [];
  let next;
  for (let page = 0; page === 0 || (page < MOST_PAGES && next != null); page++) {
    const answer = await get(route, { ...query, after: next });
    answer[list].forEach(item => items.push(item));
    next = answer.next;
  }
  return { items, more: next != null };
}

export async function history(id) {
  const { items, more } = await all(path(id) + '/history', 'history');
  return { events: items, more };
}

const FAILED = new Set(['ATTEMPT', 'FAILURE']);

/** The journal: {entries, more}. What failed has its error as a text. */
export async function journal(id) {
  const { items, more } = await all(path(id) + '/journal', 'entries', {});
  return { entries: items.map(entry => ({ ...entry, error: FAILED.has(entry.status) ? trace(entry.payload) : undefined })), more };
}

/** A recorded failure as the text of a stack trace. */
function trace(payload) {
  const failure = payload?.failure ?? payload;
  if (!failure?.type) return undefined;
  const lines = [];
  for (let one = failure, depth = 0; one && depth < 20; one = one.cause, depth++) {
    lines.push((depth ? 'Caused by: ' : '') + one.type + (one.message ? ': ' + one.message : ''));
    (one.stack ?? []).forEach(frame => lines.push(`\tat ${frame.type}.${frame.method}(${frame.file ?? 'Unknown'}${frame.line > 0 ? ':' + frame.line : ''})`));
  }
  return lines.join('\n');
}

export async function children(id) {
  const { items, more } = await all(path(id) + '/children', 'children');
  return { children: items.map(child => child.run), more };
}

const AT_WORK = new Set(['RUNNING', 'SUSPENDED', 'BACKING_OFF', 'PAUSED']);

/** The tasks of a DAG: {name, run, state, after, started_at, ended_at, attempts, reason}. */
export async function tasks(id) {
  const { items, more } = await all(path(id) + '/tasks', 'tasks');
  const name = task => task.slice(id.length + 1); // the run of a task has the id of its DAG, a slash and the task's name
  return {
    more,
    tasks: items.map(({ run, after, history: states }) => {
      const ended = ['COMPLETED', 'FAILED', 'CANCELLED', 'SKIPPED'].includes(run.state);
      const started = states.find(one => AT_WORK.has(one.state));
      return {
        name: name(run.id), run: run.id, state: run.state, after: after.map(name), reason: run.reason,
        started_at: started?.at, ended_at: ended && started ? run.changed_at : undefined,
        attempts: states.filter(one => one.state === 'BACKING_OFF').length + (started ? 1 : 0),
      };
    }),
  };
}

export async function messages(id) {
  const answer = await get(path(id) + '/mail');
  return { messages: answer.mail.map(mail => ({ ...mail, topic: mail.name, value: mail.payload })) };
}

/** The newest log lines of the steps, oldest first: {lines, dropped}. */
export const log = id => get(path(id) + '/log', { newest: 'true', limit: 1000 });

/** The topics under which the run has published: {topics, more}. */
export async function topics(id) {
  const { items, more } = await all(path(id) + '/published', 'topics');
  return { topics: items, more };
}

/** What the run has published under a topic, page by page up to a bound: {values, more}. */
export async function published(id, topic) {
  const values = [];
  let after;
  for (let page = 0; page < MOST_PAGES; page++) {
    const answer = await get(`${path(id)}/published/${segment(topic)}`, { after });
    answer.values.forEach(value => values.push(value));
    if (answer.next == null) return { values, more: false };
    after = answer.next;
  }
  return { values, more: true };
}

export const audit = id => get(path(id) + '/audit');

// ---- actions

/** cancel, kill, pause, resume, retry, fork … of one run. */
export const act = (id, action, body) => post(`${path(id)}/${action}`, body);

/** Runs the tasks of a DAG again that failed or were cancelled, and all that come after them. */
export const retryFailedTasks = id => post(path(id) + '/tasks/retry-failed');

/** Runs a task of a DAG again, and all that come after it. */
export const rerunTask = (id, task) => post(`${path(id)}/tasks/${segment(task)}/rerun`);

/** Sends a message to a run. */
export const send = (id, topic, value) => post(`${path(id)}/messages/${segment(topic)}`, value);

/** How many runs of a filter a bulk action would change, by state. */
export async function previewBulk(action, text, filter) {
  const { counts } = await get('/bulk/preview', { ...query(filter), action, text });
  return counts;
}

/** Starts an action on all runs that a filter selects: the run that carries it out. */
export async function bulk(action, text, filter) {
  const conditions = query(filter);
  const none = Object.values(conditions).every(value => value == null || value === '' || value.length === 0);
  const { run } = await post('/bulk', { action, text }, none ? { all: 'true' } : conditions);
  return run;
}

/** How far a bulk action is: {run, report}. */
export const bulkProgress = id => get('/bulk/' + segment(id));

/** Starts a workflow or a DAG: the run. An input that is undefined is left out. */
export const start = (definition, id, input) => post(`/definitions/${segment(definition)}/start`, input, { id });

// ---- the rest

/** How the store is, with all runs by state; the counts of those that have ended stop at a bound. */
export async function status() {
  const [store, counted] = await Promise.all([getRecent(COUNTED, '/status'), countRuns({})]);
  const live = new Map(store.runs.map(one => [one.state, one]));
  const runs = Object.values(counted.states).map(one => ({ ...one, ...live.get(one.state), more: one.more && !live.has(one.state) }));
  return { ...store, runs };
}

/** All definitions, with how their newest runs are; those that this process registers also with kind and types. */
export async function definitions() {
  const [known, figures] = await Promise.all([get('/definitions'), get('/statistics/definitions')]);
  const registered = new Map(known.definitions.map(one => [one.name, one]));
  return { ...figures, definitions: figures.definitions.map(one => ({ ...registered.get(one.name), ...one })) };
}

/** Whether a run is there that has this key in its queue. */
export const isKey = key => get('/runs', { key, limit: 1 }).then(found => found.runs.length > 0, () => false);

/** Whether this process registers a definition of this name. What cannot be asked is answered by the page that follows. */
export const isDefinition = name => get('/definitions').then(known => known.definitions.some(one => one.name === name), () => false);

/** How the newest runs of a definition have ended, and how long they and their steps took. */
export async function statistics(name) {
  const { counts, ...rest } = await get('/statistics/runs', { definition: name });
  return { ...rest, states: Object.fromEntries(counts.map(one => [one.state, one])) };
}

/** What the newest failed runs of a definition failed with, in groups. */
export const failures = name => get('/statistics/failures', { definition: name });

/** How many runs started, ended and failed in each of the last seconds. */
export const rates = seconds => getRecent(MOVING, '/statistics/rates', { seconds });

/** How many runs started, ended and failed in the parts of a span: {from, to, started, ended, failed}. */
export async function overTime({ from, to, bars }) {
  const [created, ended] = await Promise.all(['created', 'ended'].map(by => getRecent(COUNTED, '/runs/histogram', { from, to, bars, by })));
  const sums = ({ bars: all }, counts) => all.map(bar => bar.counts.filter(counts).reduce((sum, one) => sum + one.runs, 0));
  return { from, to, started: sums(created, () => true), ended: sums(ended, () => true), failed: sums(ended, one => one.state === 'FAILED') };
}

/** How long runs were ready until a worker took them, in the parts of a span. */
export const waits = span => getRecent(COUNTED, '/statistics/waits', span);

/** How the newest runs are, by definition. */
export const definitionFigures = () => getRecent(COUNTED, '/statistics/definitions');

/** What runs failed with that were started since then, in groups. */
export const errors = from => getRecent(COUNTED, '/statistics/failures', { created_from: from });

/** What waited and had begun in each queue over the last hour, as far as the server has seen it: {imports: [{at, waiting, begun}]}. For one queue, if it is named, with all points. */
export async function queueLines(queue) {
  const { queues: lines } = await getRecent(MOVING, '/statistics/queues', { queue });
  return Object.fromEntries(lines.map(line => [line.queue, line.points]));
}

/** Queues, with what limits them now: operators' changes lie over what the code declares. */
export async function queues() {
  const answer = await getRecent(MOVING, '/queues');
  return { queues: answer.queues.map(({ load, ...queue }) => ({ ...queue, ...load, limits: limits({ ...queue.declared, ...queue.changed }) })) };
}

/** Settings are texts; 'none' lifts a limit. */
function limits(settings) {
  const set = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== 'none'));
  const count = value => (value == null ? undefined : Number(value));
  return { concurrency: count(set.concurrency), per_key: count(set.per_key), rate: set.rate };
}

export async function queueKeys(name) {
  const answer = await get(`/queues/${segment(name)}/keys`);
  return { keys: answer.keys.map(({ key, load }) => ({ key, ...load })) };
}
export const actOnQueue = (name, action, body) => post(`/queues/${segment(name)}/${action}`, body);
/** The types of virtual objects that were called: {types}. */
export async function objectTypes() {
  const { items } = await all('/objects', 'types');
  return { types: items };
}

/** A page of the objects of a type: {keys: [{key, holder, waiting, more}], next}. */
export const objectKeys = (type, prefix, after) => get('/objects/' + segment(type), { prefix, after });

/** An object with its state and its calls, the one that holds it first: {state, calls, more}. */
export async function object(type, key) {
  const route = `/objects/${segment(type)}/${segment(key)}`;
  const [one, calls] = await Promise.all([get(route), get(route + '/calls')]);
  return {
    state: one.state, next: one.next, more: calls.next != null,
    calls: [...(calls.holder ? [{ ...calls.holder, holds: true }] : []), ...calls.waiting],
  };
}
export const workers = () => getRecent(MOVING, '/workers');
export const versions = () => get('/versions');

/** drain or resume, of a version as a whole or of one definition in it. */
export const actOnVersion = (version, action, definition) => post(`/versions/${segment(version)}/${action}`, definition ? { definition } : undefined);
export const schedules = () => get('/schedules');

/** The last runs of a schedule, with what came of them: {runs}. */
export const firedRuns = name => get(`/schedules/${segment(name)}/runs`);
export const actOnSchedule = (name, action, body) => post(`/schedules/${segment(name)}/${action}`, body);
