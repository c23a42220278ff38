// From the history of a run to the rows of its waterfall. Nothing here touches the page, so it can be read alone.
import { length, millis } from './format.js';

const BODIES = new Set(['STEP', 'TRANSACTION']);
const WAITS = new Set(['SLEEP', 'TIMER', 'RECEIVE', 'CHILD', 'PROMISE', 'AWAKEABLE', 'EVENT', 'AWAIT']);
const MAILED = new Set(['RECEIVE', 'EVENT', 'PROMISE', 'AWAKEABLE']);
const ENDED = new Set(['COMPLETED', 'FAILED', 'CANCELLED', 'SKIPPED']);
const SOLID = new Set(['RUNNING', 'PAUSED']);

export const hasEnded = state => ENDED.has(state);

/**
 * Adds to each event since when that took which ends with it: a call that records its beginning takes from there to
 * its answer. The attempt of a step records only its end, so it takes from the event before it, or from when it was due.
 */
function timed(events) {
  const begun = new Map();
  const after = followers(events);
  let before = null;
  return events.map((event, index) => {
    const at = millis(event.at);
    let from = event.kind === 'ANSWER' ? null : begun.get(event.position) ?? null;
    if (BODIES.has(event.kind) && before != null && (from == null || from < before)) from = before;
    if (event.status === 'BEGUN') begun.set(event.position, at);
    else if (event.status === 'ATTEMPT') begun.set(event.position, millis(event.next_attempt_at) ?? at);
    const previous = before;
    before = at;
    return { ...event, at, from: from == null ? null : Math.min(from, at), previous, following: after[index], next: millis(event.next_attempt_at) };
  });
}

/** For each event, when the run did something next: recorded a call, or ended. */
function followers(events) {
  const found = [];
  let next;
  for (let index = events.length - 1; index >= 0; index--) {
    found[index] = next;
    if (events[index].kind !== 'RUN' || ENDED.has(events[index].name)) next = millis(events[index].at);
  }
  return found;
}

/** The states of a run over time: {state, from, to, reason}. The last one lasts until now, or is an instant. */
export function stateSpans(events, now) {
  const entered = events.filter(event => event.kind === 'RUN');
  return entered.map((event, index) => {
    const from = millis(event.at);
    const next = entered[index + 1];
    return { state: event.name, from, to: next ? millis(next.at) : ENDED.has(event.name) ? from : Math.max(from, now), reason: event.reason };
  });
}

/** The marks of the lane of states. */
export function stateMarks(spans) {
  return spans.filter(span => span.to > span.from || !ENDED.has(span.state)).map(span => ({
    shape: SOLID.has(span.state) ? 'bar' : 'wait',
    state: span.state,
    from: span.from,
    to: span.to,
  }));
}

/** One row for each position of the journal, in their order. */
export function rows(events, { state, now }) {
  const groups = new Map();
  const last = events.length ? millis(events[events.length - 1].at) : now;
  const until = ENDED.has(state) ? last : now; // what has no answer lasted until the run ended
  for (const event of timed(events)) {
    if (!event.position || event.status === 'HEADERS') continue;
    if (!groups.has(event.position)) groups.set(event.position, []);
    groups.get(event.position).push(event);
  }
  return [...groups.entries()].sort(([a], [b]) => a - b).map(([position, group]) => row(position, group, state, until));
}

/** The milliseconds of a sleep or timer, whose name is its duration: PT24H; null for other calls. */
function duration({ kind, name }) {
  const found = kind === 'SLEEP' || kind === 'TIMER' ? /^PT(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?$/.exec(name) : null;
  return found ? ((Number(found[1] ?? 0) * 60 + Number(found[2] ?? 0)) * 60 + Number(found[3] ?? 0)) * 1000 : null;
}

/** A sleep of PT24H is called 24 h. */
function shownName(event) {
  const ms = duration(event);
  return ms == null ? event.name : length(ms);
}

function row(position, group, state, now) {
  const first = group.find(event => event.kind !== 'ANSWER') ?? group[0];
  const base = { position, kind: first.kind, name: shownName(first), events: group };
  if (BODIES.has(first.kind)) return { ...base, ...body(group, state, now) };
  if (WAITS.has(first.kind)) return { ...base, ...wait(first, group, state, now) };
  return { ...base, marks: [{ shape: first.kind === 'EFFECT' ? 'effect' : 'tick', from: first.at, to: first.at }] };
}

/** A step or transaction: its attempts, the pauses between them, and what is planned. */
function body(events, state, now) {
  const marks = [];
  const attempts = [];
  const group = events.filter(event => event.status !== 'PROGRESS');
  const said = events[events.length - 1].status === 'PROGRESS' && !ENDED.has(state) ? events[events.length - 1] : null;
  let text = null;
  for (const event of group) {
    if (event.status === 'BEGUN' || event.kind === 'ANSWER') continue;
    const from = event.from ?? event.at;
    const failed = event.status === 'ATTEMPT' || event.status === 'FAILURE';
    const cut = event.status === 'CANCELLED' || event.status === 'DEADLINE';
    marks.push({ shape: failed ? 'fail' : cut ? 'cut' : 'bar', state: 'COMPLETED', from, to: event.at });
    attempts.push({ number: event.attempt, from, to: event.at, failed, status: event.status, error: event.reason, next: event.next });
    if (event.next) marks.push({ shape: 'backoff', from: event.at, to: event.next });
    if (cut) text = event.status === 'CANCELLED' ? 'cancel delivered' : 'deadline passed';
  }
  if (said && !group.length) marks.push({ shape: 'bar', state: 'RUNNING', from: said.from ?? said.at, to: Math.max(now, said.at) });
  if (said) text = said.reason;
  const last = group[group.length - 1] ?? said ?? events[0];
  const open = last.status === 'ATTEMPT' && !ENDED.has(state);
  if (open && last.next && last.next > now) marks.push({ shape: 'plan', from: last.next, to: last.next });
  if (open && state === 'RUNNING' && (last.next ?? last.at) <= now) marks.push({ shape: 'bar', state: 'RUNNING', from: last.next ?? last.at, to: now });
  if (last.status === 'BEGUN' && state === 'RUNNING') marks.push({ shape: 'bar', state: 'RUNNING', from: last.at, to: now });
  const failures = attempts.filter(attempt => attempt.failed).length;
  const bad = open || last.status === 'FAILURE';
  if (attempts.length > 1 && !text) text = `${attempts.length} attempts`;
  return { marks, attempts, text, bad, took: span(marks), note: bad ? `${failures} failed` : null };
}

/** A sleep or timer is recorded when it begins, with its duration. What the run does next ends a sleep. */
function sleep(first, slept, state, now) {
  const due = Math.min(first.at + slept, first.kind === 'SLEEP' ? first.following ?? Infinity : Infinity);
  const to = Math.min(due, Math.max(first.at, now));
  const marks = [{ shape: 'wait', state: 'SUSPENDED', from: first.at, to }];
  if (due > now && !ENDED.has(state)) marks.push({ shape: 'plan', from: due, to: due });
  return { marks, took: to - first.at, open: due > now, bad: first.status === 'FAILURE', note: null };
}

/** A wait: a thin bar from its beginning to its answer, or to now. */
function wait(first, group, state, now) {
  const answer = group.findLast(event => event.status !== 'BEGUN' && event.kind !== 'ANSWER');
  const slept = duration(first);
  if (slept != null && (!answer || answer === first)) return sleep(first, slept, state, now);
  const from = first.status === 'BEGUN' ? first.at : answer?.previous ?? first.at;
  const open = !answer;
  const to = answer?.at ?? Math.max(from, now);
  const marks = [{ shape: 'wait', state: 'SUSPENDED', from, to }];
  if (answer?.status === 'VALUE' && MAILED.has(first.kind)) marks.push({ shape: 'mail', from: to, to });
  const operator = group.find(event => event.kind === 'ANSWER');
  const text = operator ? `${operator.status.toLowerCase()} by ${operator.name}`
    : answer?.status === 'CANCELLED' ? 'cancel delivered'
    : answer?.status === 'DEADLINE' ? 'deadline passed'
    : answer?.status === 'ABSENT' ? 'timed out' : null;
  const bad = answer?.status === 'FAILURE';
  return { marks, text, bad, open, took: to - from, note: null };
}

const span = marks => {
  const done = marks.filter(mark => mark.shape !== 'plan' && mark.shape !== 'backoff');
  return done.length ? Math.max(...done.map(mark => mark.to)) - Math.min(...done.map(mark => mark.from)) : null;
};

/** All rows and the time that they cover. */
export function timeline(events, { state, now }) {
  const spans = stateSpans(events, now);
  const all = rows(events, { state, now });
  const marks = [...stateMarks(spans), ...all.flatMap(one => one.marks)];
  const times = [...marks.flatMap(mark => [mark.from, mark.to]), ...spans.map(one => one.from)];
  const start = times.length ? Math.min(...times) : now;
  const last = times.length ? Math.max(...times) : now;
  return { spans, rows: all, start, end: Math.max(last, start + 1), ended: ENDED.has(state) };
}

/** Those marks in which code runs: no gap may cut them. */
export const isBusy = mark => mark.shape === 'bar' || mark.shape === 'fail' || mark.shape === 'cut';
