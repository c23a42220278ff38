// From the history of a run to the rows of its waterfall and their time axis: one scale everywhere, long gaps without an event
// cut out and marked. Nothing here touches the page, so it can be read alone.
import { day, length, millis, parts } from './format.js';

const CUT_FROM = 0.15; // of what remains
const MOST = 4; // gaps
const MARGIN = 0.03; // of what remains, left on each side of a cut
const GAP_WIDTH = 0.052; // of the lane
const MOST_GAPS = 0.4; // of the lane, for all gaps together
const PAD = 0.006; // before the first and behind the last mark
const PLAN_PAD = 0.03; // behind a planned one, which has no end

/**
 * The gaps to cut: stretches between two neighbouring edges in which no body runs, longer than a share of what
 * remains after the longer ones are cut.
 */
export function findGaps({ start, end, marks, busy }) {
  const edges = [...new Set([start, end, ...marks.flatMap(mark => [mark.from, mark.to])])]
    .filter(time => time >= start && time <= end).sort((a, b) => a - b);
  const bodies = marks.filter(busy).sort((a, b) => a.from - b.from);
  const stretches = [];
  let reach = -Infinity;
  let next = 0;
  for (let index = 0; index + 1 < edges.length; index++) {
    const [from, to] = [edges[index], edges[index + 1]];
    while (next < bodies.length && bodies[next].from <= from) reach = Math.max(reach, bodies[next++].to);
    if (reach <= from) stretches.push({ from, to });
  }
  stretches.sort((a, b) => b.to - b.from - (a.to - a.from));
  let remains = end - start;
  const cut = [];
  for (const stretch of stretches) {
    const length = stretch.to - stretch.from;
    if (cut.length === MOST || length <= CUT_FROM * remains || length < 2) break;
    cut.push(stretch);
    remains -= length;
  }
  const margin = Math.max(remains * MARGIN, 1);
  return cut.map(({ from, to }) => {
    const keep = Math.min(margin, (to - from) / 4);
    return { from: from + keep, to: to - keep };
  }).sort((a, b) => a.from - b.from);
}

/** The scale from times to shares of the lane, 0 to 1, for the part of it that the zoom shows. */
export function scale({ start, end, gaps, zoom, planned }) {
  const width = gaps.length ? Math.min(GAP_WIDTH, MOST_GAPS / gaps.length) : 0;
  const worked = Math.max(1, end - start - gaps.reduce((sum, gap) => sum + gap.to - gap.from, 0));
  const perMilli = (1 - PAD - (planned ? PLAN_PAD : PAD) - width * gaps.length) / worked;
  const pieces = [];
  let x = PAD;
  let time = start;
  for (const gap of gaps) {
    pieces.push({ from: time, to: gap.from, x, width: (gap.from - time) * perMilli });
    x += (gap.from - time) * perMilli;
    pieces.push({ from: gap.from, to: gap.to, x, width, gap: true });
    x += width;
    time = gap.to;
  }
  pieces.push({ from: time, to: end, x, width: (end - time) * perMilli });
  const plain = at => {
    const piece = pieces.find(one => at <= one.to) ?? pieces[pieces.length - 1];
    const share = piece.to === piece.from ? 0 : (at - piece.from) / (piece.to - piece.from);
    return piece.x + Math.max(0, Math.min(1, share)) * piece.width;
  };
  const back = share => {
    const piece = pieces.find(one => share <= one.x + one.width) ?? pieces[pieces.length - 1];
    const inside = piece.width === 0 ? 0 : (share - piece.x) / piece.width;
    return piece.from + Math.max(0, Math.min(1, inside)) * (piece.to - piece.from);
  };
  const [low, high] = zoom ? [plain(zoom.from), plain(zoom.to)] : [0, 1];
  const spread = Math.max(high - low, 1e-9);
  return {
    x: at => (plain(at) - low) / spread,
    at: share => back(low + share * spread),
    perMilli: perMilli / spread,
    pieces: pieces.map(piece => ({ ...piece, x: (piece.x - low) / spread, width: piece.width / spread })),
  };
}

const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000,
  600_000, 1_200_000, 1_800_000, 3_600_000, 7_200_000, 14_400_000, 21_600_000, 43_200_000, 86_400_000, 172_800_000, 604_800_000];

/** The ticks of an axis: {x, text}, at least so many pixels apart. */
export function ticks(on, { lane, start, elapsed, apart = 76 }) {
  const step = STEPS.find(size => size * on.perMilli * lane >= apart) ?? STEPS[STEPS.length - 1];
  const found = [];
  for (const piece of on.pieces) {
    if (piece.gap || piece.x > 1 || piece.x + piece.width < 0) continue;
    const from = Math.max(piece.from, on.at(0));
    const to = Math.min(piece.to, on.at(1));
    const origin = elapsed ? start : 0;
    let fresh = true;
    for (let at = origin + Math.ceil((from - origin) / step) * step; at <= to; at += step) {
      found.push({ x: on.x(at), at, text: elapsed ? since(at - start, step) : clock(at, step, fresh) });
      fresh = false;
    }
  }
  return found;
}

const two = value => String(value).padStart(2, '0');

/** The time of a tick: in full at the first of a piece and at each new minute, else only what has changed. */
function clock(at, step, full) {
  const time = parts(at);
  const minute = `${two(time.hour)}:${two(time.minute)}`;
  if (step >= 86_400_000) return day(at);
  if (step >= 60_000) return minute;
  const second = `:${two(time.second)}`;
  const fraction = step >= 1000 ? '' : '.' + String(time.milli).padStart(3, '0').slice(0, step >= 100 ? 1 : step >= 10 ? 2 : 3);
  return (full || (time.second === 0 && time.milli === 0) ? minute : '') + second + fraction;
}

function since(ms, step) {
  if (step < 1000) return `${Math.round(ms)} ms`;
  if (step < 60_000) return ms < 60_000 ? `${ms / 1000} s` : `${Math.floor(ms / 60_000)}:${two(Math.round(ms / 1000) % 60)} min`;
  if (step < 3_600_000) return `${Math.round(ms / 60_000)} min`;
  return `${Math.round(ms / 3_600_000)} h`;
}

/** The days that begin in view, for the upper line of the axis. */
export function days(on) {
  const found = [];
  const from = on.at(0);
  const to = on.at(1);
  let last = day(from);
  found.push({ x: Math.max(0, on.x(from)), text: last });
  for (const piece of on.pieces) {
    const text = day(Math.min(Math.max(piece.from, from), to));
    if (piece.gap || text === last || piece.x > 1 || piece.x < 0) continue;
    last = text;
    found.push({ x: piece.x, text });
  }
  return found;
}

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
function stateSpans(events, now) {
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
