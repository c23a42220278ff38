// The time axis of a waterfall: one scale everywhere, long gaps without an event cut out and marked.
import { day, parts } from './format.js';

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
