// Lines over time. Axes grow in steps, so that a line does not jump when a number grows a little.
import { html } from './view.js';
import { clock, number, zoneOffset } from './format.js';

const HEIGHT = 88;
const TOP = 6;
const MINUTE = 60_000;
const STEPS = [1, 2, 5, 15, 30, 60, 180, 360, 720, 1440].map(minutes => minutes * MINUTE);
const MOST_TICKS = 8;

/** Round times between two others, as shares of the way: {share, at}. Those at the ends are left out. */
export function ticks(from, to) {
  const step = STEPS.find(one => (to - from) / one <= MOST_TICKS) ?? STEPS.at(-1);
  const offset = zoneOffset(from);
  const found = [];
  for (let at = Math.ceil((from + offset) / step) * step - offset; at <= to; at += step) found.push({ at, share: (at - from) / (to - from) });
  return found.filter(({ share }) => share > 0.04 && share < 0.96);
}

/** The next round value at which an axis ends: 2, 4, 10, 20, 40, 100 … */
export function roundUp(value) {
  let size = 1;
  while (true) {
    for (const factor of [2, 4, 10]) if (value <= factor * size) return factor * size;
    size *= 10;
  }
}

/** A line through the values. Where one is not known, it is broken; a value between two such is a dash. */
const path = (values, top) => values.map((value, index) => {
  if (value == null) return '';
  const begins = values[index - 1] == null;
  const alone = begins && values[index + 1] == null;
  return `${begins ? 'M' : ''}${((100 * index) / Math.max(1, values.length - 1)).toFixed(2)} ${(100 - (100 * value) / top).toFixed(1)}${alone ? (index ? 'h-1' : 'h1') : ''}`;
}).filter(Boolean).join(' ');

/**
 * Lines on one scale.
 *
 * lines: [{cls, values}], all of the same length, a value that is not known is null; from, to: the times of the first and
 * the last value; label: the chart as a sentence
 */
export function Plot({ lines, from, to, label }) {
  const top = roundUp(Math.max(1, ...lines.flatMap(line => line.values)));
  const y = share => TOP + HEIGHT * (1 - share);
  return html`<svg class="plot" height="112" role="img" aria-label=${label}>
    ${[0, 0.5, 1].map(share => html`<line class="grid" x2="100%" y1=${y(share)} y2=${y(share)}/><text class="e q" x="-6" y=${y(share) + 4}>${number(top * share)}</text>`)}
    <svg y=${TOP} width="100%" height=${HEIGHT} viewBox="0 0 100 100" preserveAspectRatio="none" overflow="visible">${lines.map(line => html`<path class=${'ln ' + line.cls} d=${path(line.values, top)} vector-effect="non-scaling-stroke"/>`)}</svg>
    ${ticks(from, to).map(({ share, at }) => html`<text class="c q" x=${share * 100 + '%'} y="109">${clock(at)}</text>`)}</svg>`;
}

const SPARK = { width: 72, height: 18 };

/** Bars in a cell of a table. All of a column share one scale, which ends at top. */
export function Spark({ values, top, cls }) {
  const width = SPARK.width / values.length;
  const d = values.map((value, index) => (value ? `M${(index * width).toFixed(1)} ${SPARK.height}v${-Math.max(1.5, (SPARK.height * value) / top).toFixed(1)}h${(width - 1).toFixed(1)}V${SPARK.height}z` : '')).join('');
  return html`<svg class="spark" width=${SPARK.width} height=${SPARK.height} aria-hidden="true"><path class=${cls} d=${d}/></svg>`;
}

/** What a line means, for the head of a panel. */
export const Key = ({ cls, text }) => html`<span class="key"><svg aria-hidden="true"><path class=${'ln ' + cls} d="M0 4h16"/></svg>${text}</span>`;
