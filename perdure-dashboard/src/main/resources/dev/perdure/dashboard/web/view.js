// What every page imports: the template tag, the hooks, and the small parts that all pages share.
import { h, render } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import htm from 'htm';
import { link } from './router.js';

export const html = htm.bind(h);
export { render, useEffect, useLayoutEffect, useMemo, useRef, useState };

/** The class and the symbol of a state: BACKING_OFF is drawn by "backing-off". */
export const stateClass = state => String(state).toLowerCase().replace(/_/g, '-');

export const Icon = ({ name, cls = '' }) =>
  html`<svg class=${'i ' + cls} aria-hidden="true"><use href=${'#' + name}/></svg>`;

/** A state: its icon and its word, never a colour alone. */
export const State = ({ state, badge }) => {
  const cls = stateClass(state);
  return html`<span class=${'st ' + (badge ? 'badge ' : '') + cls}><${Icon} name=${cls}/>${state}</span>`;
};

/** A link to a run, by its whole id. */
export const RunLink = ({ id, children }) => html`<a class="id" href=${link('/runs/' + id)}>${children ?? id}</a>`;

/** An attribute of a run. It leads to the runs that have the same value, unless no run is found by it. */
export const Attribute = ({ run, name }) => {
  const value = run.attributes[name];
  if (value.encrypted != null) return html`<span class="m3">encrypted with key ${value.encrypted}</span>`;
  if (value.unreadable != null) return html`<span class="m3">written by a newer version</span>`;
  const text = [value].flat().join(', ');
  if (run.unsearchable?.includes(name)) return html`<span title="No run is found by it, because it is stored encrypted.">${text}</span>`;
  return html`<a href=${link('/runs', { attribute: `${name}=${[value].flat().join(',')}` })}>${text}</a>`;
};

export const Panel = ({ title, note, extra, label, cls = '', children }) => html`
  <section class=${'panel ' + cls} aria-label=${label ?? title}>
    ${title && html`<div class="ph"><h2>${title}</h2>${note != null && html`<span class="sm m3">${note}</span>`}${extra}</div>`}
    ${children}
  </section>`;

const SIBLINGS = { runs: 'Runs', definitions: 'Definitions', workers: 'Workers', database: 'Database' };
const GROUPS = [['runs', 'definitions'], ['workers', 'database']];

/** The title of a page, with the pages that stand under the same name in the bar. */
export const Titles = ({ of }) => html`<div class="titles">${GROUPS.find(group => group.includes(of)).map(key =>
    (key === of ? html`<h1>${SIBLINGS[key]}</h1>` : html`<a href=${link('/' + key)}>${SIBLINGS[key]}</a>`))}</div>`;

/** Two or three views of the same thing, one of them chosen. */
export const Choice = ({ options, value, href, end = true }) => html`
  <span class=${'seg' + (end ? ' end' : '')}>${options.map(([key, text]) => html`
    <a href=${href(key)} aria-current=${key === value ? 'true' : null}>${text}</a>`)}</span>`;

/** One line in the panel that it concerns: what was asked, what came back, and how to ask again. */
export const Problem = ({ error, again }) => html`
  <p class="bad-line" role="alert"><${Icon} name="failed" cls="failed"/><span>${error.message}${
    error.remedy && html` <span class="m2">${error.remedy}</span>`}</span>${
    again && html`<button class="text end nw" onClick=${again}>Try again</button>`}</p>`;

/** Pale bars for data that is on its way; nothing in the first 300 ms, so that quick answers do not flicker. */
export const Loading = ({ rows = 3 }) => {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 300);
    return () => clearTimeout(timer);
  }, []);
  return html`<div class="load" aria-busy="true">${late && Array.from({ length: rows }, () => html`<span class="ske"/>`)}</div>`;
};

/** Shows what a question of the hook useData brought: bars, a line with the error, or the data. */
export const Answer = ({ of, rows, children }) => {
  if (of.error && !of.data) return html`<${Problem} error=${of.error} again=${of.reload}/>`;
  if (!of.data) return html`<${Loading} rows=${rows}/>`;
  return html`${of.error && html`<${Problem} error=${of.error} again=${of.reload}/>`}${children(of.data)}`;
};

/** A number of runs; zero is pale. */
export const Count = ({ value, href }) => {
  const text = Number(value ?? 0).toLocaleString('en');
  if (!value) return html`<span class="m3">0</span>`;
  return href ? html`<a href=${href}>${text}</a>` : text;
};

/** How much of a limit is in use; without a limit only the number. */
export const Use = ({ used, limit }) => {
  if (limit == null) return html`<span class="nl m3 sm">no limit</span><span class="un">${used}</span>`;
  const full = used >= limit;
  const width = limit === 0 ? 94 : Math.min(94, Math.round((94 * used) / limit));
  return html`<svg class="use" role="img" aria-label=${`${used} of ${limit}`}>
      <rect class="t" x=".5" y="1.5" width="95" height="7" rx="2"/>
      <rect class=${full ? 'full' : 'v'} x="1" y="2" width=${width} height="6" rx="1.5"/>
      ${full && html`<path class="cap" d="M95 0v10"/>`}</svg><span class="un">${used} of ${limit}</span>`;
};

/** Copies a text; says in its own place for two seconds whether the browser allowed it. */
export const Copy = ({ text }) => {
  const [said, setSaid] = useState(null);
  useEffect(() => {
    const timer = said && setTimeout(() => setSaid(null), 2000);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid('Copied');
    } catch {
      setSaid('The browser forbids it'); // without TLS, and not on this machine
    }
  };
  return html`<button class="text end sm" onClick=${copy}>${said ?? 'Copy'}</button>`;
};
