// The waterfall of a run: one row for each call, on one time axis that can be zoomed. Every x is a share of the lane.
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState, Choice } from './view.js';
import { go, here } from './router.js';
import { length, now as serverNow, time } from './format.js';
import { days, findGaps, scale, ticks, hasEnded, isBusy, stateMarks } from './timeline.js';
import { stateClass } from './view.js';

const ROW = 26;
const OVERSCAN = 20;
const NARROW = 720;
const CHARACTER = 6.1; // pixels, of the small type in a lane

const percent = share => (share * 100).toFixed(3) + '%';

/** The width of an element, kept current. */
function useWidth(ref, initial) {
  const [width, setWidth] = useState(initial);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.round(entry.contentRect.width)));
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  return width;
}

/** The rows of a long list that are near the window. */
function useWindow(ref, count, height) {
  const [range, setRange] = useState([0, 60]);
  useEffect(() => {
    const measure = () => {
      const top = -(ref.current?.getBoundingClientRect().top ?? 0);
      const first = Math.max(0, Math.floor(top / height) - OVERSCAN);
      setRange([first, first + Math.ceil(innerHeight / height) + 2 * OVERSCAN]);
    };
    measure();
    addEventListener('scroll', measure, { passive: true });
    addEventListener('resize', measure);
    return () => {
      removeEventListener('scroll', measure);
      removeEventListener('resize', measure);
    };
  }, [count, height]);
  return range;
}

/** One mark of a lane. */
function Mark({ mark, on }) {
  const x = on.x(mark.from);
  const end = on.x(mark.to);
  if (end < -0.001 || x > 1.001) return null;
  const at = percent(Math.max(x, -0.01));
  const share = Math.min(end, 1.01) - Math.max(x, -0.01);
  const short = share * on.lane < 3;
  const width = short ? 3 : percent(share);
  const bar = cls => html`<rect class=${cls} x=${at} y="7" width=${width} height="12" rx=${short ? 1 : 2}/>`;
  switch (mark.shape) {
    case 'bar': return bar('f-' + stateClass(mark.state));
    case 'fail': return bar('fail');
    case 'cut': return bar('lost');
    case 'plan': return html`<rect class="plan" x=${at} y="7" width="14" height="12" rx="2"/>`;
    case 'wait': return html`<rect class=${'o-' + stateClass(mark.state)} x=${at} y="10" width=${width} height="6" rx="2"/>`;
    case 'backoff': return html`<line class="off" x1=${at} x2=${percent(Math.min(end, 1.01))} y1="13" y2="13"/>`;
    case 'mail': return html`<svg x=${at} y="7" width="10" height="12" overflow="visible"><path class="mail" d="M-4 0h8L0 7Z"/></svg>`;
    case 'effect': return html`<svg x=${at} y="8" width="10" height="10" overflow="visible"><path class="mark" d="M0 5 5 0l5 5-5 5Z" transform="translate(-5)"/></svg>`;
    default: return html`<rect class="mark" x=${at} y="9" width="2" height="8"/>`;
  }
}

/** A text beside the marks: behind them, or before them where it would leave the lane; else the drawer has it. */
function Text({ row, on }) {
  if (!row.text) return null;
  const last = Math.max(...row.marks.map(mark => on.x(mark.to)));
  const first = Math.min(...row.marks.map(mark => on.x(mark.from)));
  if (last < 0 || first > 1) return null;
  const room = (1 - last) * on.lane;
  const behind = room > row.text.length * CHARACTER + 24;
  if (behind) return html`<text class="q" x=${percent(last)} dx="10" y="17">${row.text}</text>`;
  const before = first * on.lane > row.text.length * CHARACTER + 12;
  return before ? html`<text class="e q" x=${percent(first)} dx="-8" y="17">${row.text}</text>` : null;
}

const KINDS = { STATE_NAMES: 'state', EFFECT: 'effect', TRANSACTION: 'transaction' };
export const kindName = kind => KINDS[kind] ?? kind.toLowerCase();

function Row({ row, on, selected, index }) {
  const took = row.note ?? (row.took == null ? '' : length(row.took));
  const select = () => go(here({ at: row.key }), { replace: true });
  const toggle = event => {
    event.stopPropagation();
    row.toggle();
  };
  return html`
    <div class=${'wr' + (row.bad ? ' bad' : '') + (row.level > 1 ? ' in' : '')} role="row" aria-level=${row.level}
         aria-selected=${selected ? 'true' : null} aria-rowindex=${index + 2} aria-expanded=${row.toggle ? String(row.isOpen) : null}
         data-key=${row.key} tabindex=${selected ? 0 : -1} onClick=${select}>
      <div class="wl" role="gridcell"><span class="pos">${row.position}</span><span class="tw">${
        row.toggle && html`<button class="text" aria-label=${(row.isOpen ? 'Close ' : 'Open ') + row.name} onClick=${toggle}>${row.isOpen ? '▾' : '▸'}</button>`}</span><span class="kind">${kindName(row.kind)}</span><span class="nm" title=${row.name}>${row.name}</span><span class="du">${took}</span></div>
      <svg class="lane" role="img" aria-label=${`${row.name}, ${took}`}>${row.marks.map(mark => html`<${Mark} mark=${mark} on=${on}/>`)}<${Text} row=${row} on=${on}/></svg>
    </div>`;
}

/** Days, ticks, the lengths of the gaps, and now. Texts that would overlap are left out, later ones first. */
function Head({ on, line, elapsed, showNow, onZoom }) {
  const taken = [];
  const free = (x, text) => {
    const half = (text.length * CHARACTER) / 2 + 4;
    const middle = x * on.lane;
    if (middle - half < 0 || middle + half > on.lane) return false;
    if (taken.some(([from, to]) => middle + half > from && middle - half < to)) return false;
    taken.push([middle - half, middle + half]);
    return true;
  };
  const gaps = on.pieces.filter(piece => piece.gap && piece.x > -piece.width && piece.x < 1)
    .map(piece => ({ x: piece.x + piece.width / 2, text: length(piece.to - piece.from).split(' ').slice(0, 2).join(' ') }))
    .filter(gap => free(gap.x, gap.text));
  const marks = ticks(on, { lane: on.lane, start: line.start, elapsed }).filter(tick => free(tick.x, tick.text));
  const nowX = on.x(showNow ?? 0);
  const label = showNow ? 'now ' + time(showNow).split(' ').pop() : '';
  const half = 41;
  const shift = showNow ? Math.max(half / on.lane, Math.min(1 - half / on.lane, nowX)) : 0;
  return html`
    <div class="wfh" aria-hidden="true">
      <div class="wl"><span class="pos">#</span><span class="tw"></span><span class="kind">Kind</span><span class="nm">Name</span><span>Took</span></div>
      <svg class="lane" onPointerDown=${onZoom}>
        ${!elapsed && days(on).map(one => html`<text class="s" x=${percent(one.x + 0.004)} y="11">${one.text}</text>`)}
        ${marks.map(tick => html`<line class="axis" x1=${percent(tick.x)} x2=${percent(tick.x)} y1="30" y2="36"/><text class="c q" x=${percent(tick.x)} y="26">${tick.text}</text>`)}
        ${gaps.map(gap => html`<text class="c s" x=${percent(gap.x)} y="26">${gap.text}</text>`)}
        ${showNow && nowX >= 0 && nowX <= 1.001 && html`<rect class="nowbox" x=${percent(shift)} y="2" width="82" height="14" rx="2" transform="translate(-41)"/><text class="c nowt" x=${percent(shift)} y="12.5">${label}</text>`}
      </svg>
    </div>`;
}

function Back({ on, line, elapsed, showNow }) {
  const nowX = showNow ? on.x(showNow) : -1;
  return html`<svg class="back" aria-hidden="true">
    ${ticks(on, { lane: on.lane, start: line.start, elapsed }).map(tick => html`<line class="grid" x1=${percent(tick.x)} x2=${percent(tick.x)} y2="100%"/>`)}
    ${on.pieces.filter(piece => piece.gap).map(piece => html`
      <rect class="gap" x=${percent(piece.x)} width=${percent(piece.width)} height="100%"/>
      ${[piece.x, piece.x + piece.width].map(x => html`<svg x=${percent(x)} width="6" height="100%" overflow="visible"><rect x="-3" width="6" height="100%" fill="url(#zig)"/></svg>`)}`)}
    ${nowX >= 0 && nowX <= 1.001 && html`<line class="now" x1=${percent(nowX)} x2=${percent(nowX)} y2="100%"/>`}
  </svg>`;
}

const LEGEND = [
  ['recorded', html`<rect class="f-completed" y="1" width="22" height="10" rx="2"/>`],
  ['failed attempt', html`<rect class="fail" x=".5" y="1" width="21" height="10" rx="2"/>`],
  ['back-off', html`<line class="off" x2="22" y1="6" y2="6"/>`],
  ['waits, holds nothing', html`<rect class="o-suspended" x=".5" y="3" width="21" height="6" rx="2"/>`],
  ['planned', html`<rect class="plan" x=".5" y="1" width="21" height="10" rx="2"/>`],
  ['message', html`<path class="mail" d="M7 2h8l-4 7Z"/>`],
  ['effect', html`<path class="mark" d="M6 6l5-5 5 5-5 5Z"/>`],
  ['gap cut out', html`<path class="gap" d="M5 0h12v12H5z"/><path class="zig" d="M5 0l3 3-3 3 3 3-3 3M17 0l3 3-3 3 3 3-3 3"/>`],
];

/** "1200-5300": milliseconds after the start. */
function readZoom(text, start) {
  const found = /^(\d+)-(\d+)$/.exec(text ?? '');
  if (!found || Number(found[2]) <= Number(found[1])) return null;
  return { from: start + Number(found[1]), to: start + Number(found[2]) };
}

const writeZoom = (from, to, start) => `${Math.max(0, Math.round(from - start))}-${Math.round(to - start)}`;

/**
 * The waterfall of a timeline.
 *
 * line: what timeline(…) made of the history; rows: its rows with key, level and toggle; query: of the page
 */
export function Waterfall({ line, rows, query, state }) {
  const body = useRef(null);
  const board = useRef(null);
  const width = useWidth(board, 1000);
  const narrow = width < NARROW - 32;
  const lane = Math.max(120, narrow ? width - 32 : width - 284);
  const [first, last] = useWindow(body, rows.length, narrow ? 46 : ROW);
  const cut = query.get('gaps') !== 'full';
  const elapsed = query.get('axis') === 'elapsed';
  const zoomed = readZoom(query.get('zoom'), line.start);
  const showNow = hasEnded(state) ? null : Math.min(Math.max(serverNow(), line.start), line.end);

  const on = useMemo(() => {
    const marks = [...stateMarks(line.spans), ...rows.flatMap(row => row.marks)];
    const gaps = cut ? findGaps({ start: line.start, end: line.end, marks, busy: isBusy }) : [];
    return { ...scale({ start: line.start, end: line.end, gaps, zoom: zoomed, planned: marks.some(mark => mark.shape === 'plan') }), lane };
  }, [line, rows, cut, lane, query.get('zoom')]);

  const setZoom = (from, to) => {
    const all = from <= line.start && to >= line.end;
    go(here({ zoom: all || to - from < 1 ? null : writeZoom(Math.max(from, line.start), Math.min(to, line.end), line.start) }), { replace: true });
  };
  const zoomAbout = (share, factor) => setZoom(on.at(share - share * factor), on.at(share + (1 - share) * factor));

  useEffect(() => {
    const wheel = event => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      const box = body.current.getBoundingClientRect();
      const share = (event.clientX - box.right + lane) / lane;
      if (share >= 0 && share <= 1) zoomAbout(share, event.deltaY > 0 ? 1.3 : 1 / 1.3);
    };
    const keys = event => {
      if (event.target.closest('input, textarea, dialog') || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === '+') zoomAbout(0.5, 1 / 1.5);
      else if (event.key === '-') zoomAbout(0.5, 1.5);
      else if (event.key === '0') go(here({ zoom: null }), { replace: true });
    };
    const element = body.current;
    element.addEventListener('wheel', wheel, { passive: false });
    addEventListener('keydown', keys);
    return () => {
      element.removeEventListener('wheel', wheel);
      removeEventListener('keydown', keys);
    };
  }, [on]);

  /** Dragging on the axis chooses the span; a double click takes it back. */
  const drag = event => {
    if (event.detail === 2) {
      go(here({ zoom: null }), { replace: true });
      return;
    }
    const axis = event.currentTarget;
    const box = axis.getBoundingClientRect();
    const share = one => Math.max(0, Math.min(1, (one.clientX - box.left) / box.width));
    const begin = share(event);
    axis.setPointerCapture(event.pointerId);
    axis.onpointerup = up => {
      axis.onpointerup = null;
      const end = share(up);
      if (Math.abs(end - begin) * lane > 8) setZoom(on.at(Math.min(begin, end)), on.at(Math.max(begin, end)));
    };
  };

  const height = narrow ? 46 : ROW;
  const shown = rows.slice(first, last);
  const total = line.spans.length ? line.spans[line.spans.length - 1].to - line.spans[0].from : 0;
  return html`
    <section class="panel" id="timeline" aria-label="Timeline">
      <div class="ph"><h2>Timeline</h2><span class="sm m3 wide">${zoomed ? html`<a data-replace href=${here({ zoom: null })}>Show the whole run</a>` : 'One scale; drag on the axis to zoom'}</span>
        <${Choice} value=${cut ? 'cut' : 'full'} options=${[['cut', 'Cut gaps'], ['full', 'Full length']]} href=${key => here({ gaps: key === 'cut' ? null : key })}/>
        <${Choice} end=${false} value=${elapsed ? 'elapsed' : 'clock'} options=${[['clock', 'Clock'], ['elapsed', 'Elapsed']]} href=${key => here({ axis: key === 'clock' ? null : key })}/>
      </div>
      <div class="wf" ref=${board} role="treegrid" aria-label="Calls in the order of their positions" aria-rowcount=${rows.length + 1}>
        <${Head} on=${on} line=${line} elapsed=${elapsed} showNow=${showNow} onZoom=${drag}/>
        <div class="wfb" ref=${body}>
          <${Back} on=${on} line=${line} elapsed=${elapsed} showNow=${showNow}/>
          <div class="wr sr" role="row" aria-level="1" aria-rowindex="1"><div class="wl" role="gridcell"><span class="pos"></span><span class="tw"></span><span class="kind"></span><span class="nm">State</span><span class="du">${length(total)}</span></div>
            <svg class="lane" role="img" aria-label=${'State: ' + line.spans.map(span => span.state).join(', ')}>${stateMarks(line.spans).map(mark => html`<${StateMark} mark=${mark} on=${on}/>`)}</svg></div>
          <div style=${{ height: Math.min(first, rows.length) * height + 'px' }}></div>
          ${shown.map((row, index) => html`<${Row} key=${row.key} row=${row} on=${on} index=${first + index} selected=${query.get('at')?.split('.')[0] === row.key || query.get('at') === row.key}/>`)}
          <div style=${{ height: Math.max(0, rows.length - last) * height + 'px' }}></div>
        </div>
        <div class="leg">${LEGEND.map(([text, shape]) => html`<span><svg aria-hidden="true">${shape}</svg>${text}</span>`)}</div>
      </div>
    </section>`;
}

/** The lane of states has lower bars than those of calls. */
function StateMark({ mark, on }) {
  const x = on.x(mark.from);
  const share = Math.min(on.x(mark.to), 1.01) - Math.max(x, -0.01);
  if (share < 0 || x > 1) return null;
  const cls = (mark.shape === 'bar' ? 'f-' : 'o-') + stateClass(mark.state);
  const short = share * on.lane < 3;
  return html`<rect class=${cls} x=${percent(Math.max(x, -0.01))} y="9" width=${short ? 3 : percent(share)} height="8" rx=${short ? 1 : 2}/>`;
}
