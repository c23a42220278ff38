// When the runs of the list were started, and in which state they are now. Dragging chooses a span.
import { html, useRef, Answer, Panel, State } from './view.js';
import { go, here } from './router.js';
import { clock, length, millis, now } from './format.js';
import { useData } from './live.js';
import { histogram } from './api.js';
import { ticks } from './plot.js';

const BUCKETS = 48;
const HEIGHT = 64;
const PARTS = [
  ['h-fail', 'FAILED'], ['h-pause', 'PAUSED'], ['h-off', 'BACKING_OFF'],
];
const DAY = 86_400_000;

/** One path for all bars of a part, stacked on what lies below. */
function paths(buckets, top) {
  const base = buckets.map(() => 0);
  const path = (cls, value) => {
    let d = '';
    buckets.forEach((bucket, index) => {
      const height = (HEIGHT * value(bucket)) / top;
      if (height <= 0) return;
      d += `M${index} ${(HEIGHT - base[index]).toFixed(1)}v${(-height).toFixed(1)}h.8v${height.toFixed(1)}z`;
      base[index] += height;
    });
    return html`<path class=${cls} d=${d}/>`;
  };
  const rest = bucket => Object.entries(bucket).reduce((sum, [state, count]) => (PARTS.some(([, part]) => part === state) ? sum : sum + count), 0);
  return [path('h-done', rest), ...PARTS.map(([cls, state]) => path(cls, bucket => bucket[state] ?? 0))];
}

const iso = at => new Date(at).toISOString();

const sum = bucket => Object.values(bucket).reduce((all, one) => all + one, 0);

/** The bars, and the span that is chosen. */
function Bars({ data, from, to }) {
  const chart = useRef(null);
  const { buckets, step_ms: step } = data;
  const start = millis(data.from);
  const end = start + step * buckets.length;
  const top = Math.max(1, ...buckets.map(sum));
  const x = at => `${(((at - start) / (end - start)) * 100).toFixed(2)}%`;
  const drag = event => {
    const box = chart.current.getBoundingClientRect();
    const at = one => start + Math.max(0, Math.min(1, (one.clientX - box.left) / box.width)) * (end - start);
    const begin = at(event);
    chart.current.setPointerCapture(event.pointerId);
    chart.current.onpointerup = up => {
      chart.current.onpointerup = null;
      const [low, high] = [begin, at(up)].sort((a, b) => a - b);
      if (high - low > step / 2) go(here({ created_from: iso(low), created_to: iso(high) }));
    };
  };
  return html`<svg ref=${chart} class="hist" height="86" role="img" aria-label=${`Runs by the time of their start; at most ${top} in ${length(step)}`} onPointerDown=${drag} onDblClick=${() => go(here({ created_from: null, created_to: null }))}>
    ${(from || to) && html`<rect class="brush" x=${x(Math.max(start, millis(from) ?? start))} y=".5" width=${`${(((Math.min(end, millis(to) ?? end) - Math.max(start, millis(from) ?? start)) / (end - start)) * 100).toFixed(2)}%`} height="63"/>`}
    <svg width="100%" height=${HEIGHT} viewBox=${`0 0 ${buckets.length} ${HEIGHT}`} preserveAspectRatio="none">${paths(buckets, top)}</svg>
    <line class="axis" x2="100%" y1="64.5" y2="64.5"/>
    ${ticks(start, end).map(({ at }) => html`<text class="c q" x=${x(at)} y="80">${clock(at)}</text>`)}</svg>`;
}

const Keys = () => html`<span class="end hkey">${PARTS.map(([, state]) => html`<${State} state=${state}/>`)}<span class="m2"><svg class="i" aria-hidden="true"><rect class="h-done" x="2" y="2" width="10" height="10"/></svg> all others</span></span>`;

export function Histogram({ filter }) {
  const { state, created_from: from, created_to: to, ...rest } = filter; // all states are drawn, and the whole day
  const answer = useData('histogram' + JSON.stringify(rest), () => histogram({ ...rest, from: iso(now() - DAY), to: iso(now()), bars: BUCKETS }), { live: false });
  return html`<${Panel} title="Started" note=${`per ${length(DAY / BUCKETS)}, last 24 h; drag to choose a span`} extra=${html`<${Keys}/>`}>
    <${Answer} of=${answer}>${data => html`<div class="pb"><${Bars} data=${data} from=${from} to=${to}/></div>`}<//><//>`;
}
