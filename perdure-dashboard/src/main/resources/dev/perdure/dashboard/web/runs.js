// The list of runs: filtered, paged by key, selected, and changed in place while it is looked at.
import { html, useEffect, useRef, useState, Answer, Attribute, Choice, Problem, RunLink, State, Titles } from './view.js';
import { length, millis, now, number, plural, relative, shortened, time } from './format.js';
import { hasEnded } from './timeline.js';
import { go, here, link } from './router.js';
import { useData, useSecond } from './live.js';
import { countRuns, runs as readRuns } from './api.js';
import { filterOf, viewOf, Chips, VIEWS } from './filters.js';
import { Histogram } from './histogram.js';
import { BulkBar } from './actions.js';
import { isTyping } from './keys.js';
import { setTrail } from './trail.js';

const KEY = 'perdure-columns';
const STANDARD = ['definition', 'reason', 'started', 'took'];
const ATTRIBUTE = 'attribute:';

const took = run => (hasEnded(run.state) ? millis(run.changed_at) : now()) - millis(run.created_at);

/** In the order in which they are shown. Numbers and times stand right; one column takes the room that is left. */
const COLUMNS = [
  { key: 'definition', head: 'Definition', cls: 'mono m2 opt', cell: run => run.definition },
  { key: 'memo', head: 'Memo', cls: 'm2 opt brief', cell: run => run.memo, title: run => run.memo },
  { key: 'reason', head: 'Waits for, or ended because', cls: 'cut', title: run => run.reason,
    cell: run => html`${run.status && html`<span class="m2">${run.status}. </span>`}${shortened(run.reason)}` },
  { key: 'recoveries', head: 'Recoveries', cls: 'n opt', cell: run => (run.recoveries ? number(run.recoveries) : html`<span class="m3">0</span>`) },
  { key: 'wakes', head: 'Wakes', cls: 'n opt', cell: run => (hasEnded(run.state) ? '' : relative(run.wake_at)), title: run => run.wake_at },
  { key: 'changed', head: 'State since', cls: 'n opt', cell: run => time(run.changed_at), title: run => run.changed_at },
  { key: 'started', head: 'Started', cls: 'n', sorted: true, cell: run => time(run.created_at), title: run => run.created_at },
  { key: 'took', head: 'Took so far', cls: 'n opt', cell: run => length(took(run)) },
];

/** The column of an attribute, whose values lead to the runs that have them too. */
const ofAttribute = name => ({
  key: ATTRIBUTE + name, head: name, cls: 'opt brief',
  cell: run => run.attributes?.[name] != null && html`<${Attribute} run=${run} name=${name} />`,
});

function stored() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY));
    return Array.isArray(found) ? found.filter(key => typeof key === 'string') : STANDARD;
  } catch {
    return STANDARD;
  }
}

/** Which columns to show, all that there are for these runs, and how to choose one. */
function useColumns(runs) {
  const [chosen, setChosen] = useState(stored);
  const names = new Set(chosen.filter(key => key.startsWith(ATTRIBUTE)).map(key => key.slice(ATTRIBUTE.length)));
  (runs ?? []).forEach(run => Object.keys(run.attributes ?? {}).forEach(name => names.add(name)));
  const [first, ...rest] = COLUMNS;
  const all = [first, ...[...names].sort().map(ofAttribute), ...rest];
  const toggle = key => {
    const next = chosen.includes(key) ? chosen.filter(one => one !== key) : [...chosen, key];
    localStorage.setItem(KEY, JSON.stringify(next));
    setChosen(next);
  };
  return { all, shown: all.filter(column => chosen.includes(column.key)), toggle };
}

/** The menu in the head of the list. */
function ColumnMenu({ columns }) {
  const leave = event => event.currentTarget.contains(event.relatedTarget) || (event.currentTarget.open = false);
  const press = event => event.key === 'Escape' && (event.currentTarget.open = false);
  return html`<details class="menu" onFocusOut=${leave} onKeyDown=${press}><summary class="chip">Columns</summary><div class="drop" tabindex="-1" role="group" aria-label="Columns">
    ${columns.all.map(column => html`<label><input type="checkbox" class="cb" checked=${columns.shown.includes(column)} onChange=${() => columns.toggle(column.key)}/>${column.head}</label>`)}</div></details>`;
}

const PAGE = 50;
const CHANGED = 2000;

/**
 * The rows that are shown. They keep their order while they are looked at: newer runs wait until somebody asks for
 * them, and a run that no longer matches stays, pale.
 */
function useRows(filter, order) {
  const key = JSON.stringify([filter, order]);
  const first = useData(key, () => readRuns({ ...filter, order, limit: PAGE }));
  const [shown, setShown] = useState({});
  const [extra, setExtra] = useState({ busy: false });
  useEffect(() => {
    if (!first.data) return;
    setShown(before => (before.key === key ? merged(before, first.data) : { key, rows: first.data.runs, next: first.data.next, newer: 0 }));
  }, [first.data]);

  const showNewer = () => setShown({ key, rows: first.data.runs, next: first.data.next, newer: 0 });
  const showMore = async () => {
    setExtra({ busy: true });
    try {
      const page = await readRuns({ ...filter, order, limit: PAGE, after: shown.next });
      setShown(before => ({ ...before, rows: [...before.rows, ...page.runs], next: page.next }));
      setExtra({ busy: false });
    } catch (error) {
      setExtra({ busy: false, error });
    }
  };
  const current = shown.key === key ? shown : { rows: null, newer: 0 };
  return { ...current, data: current.rows, error: first.error, reload: first.reload, showNewer, showMore, extra };
}

function merged(before, page) {
  const fresh = new Map(page.runs.map(run => [run.id, run]));
  const known = new Set(before.rows.map(run => run.id));
  const oldest = page.runs.length ? millis(page.runs[page.runs.length - 1].created_at) : 0;
  const rows = before.rows.map(run => {
    const found = fresh.get(run.id);
    if (found) return { ...found, changed: found.state !== run.state ? Date.now() : run.changed };
    const inside = !page.next || millis(run.created_at) > oldest;
    return inside ? { ...run, gone: true } : run;
  });
  return { ...before, rows, newer: page.runs.filter(run => !known.has(run.id)).length };
}

function Row({ run, columns, selected, current, toggle }) {
  const fresh = run.changed && Date.now() - run.changed < CHANGED;
  return html`<tr class=${[run.gone && 'gone', fresh && 'chg', current && 'cur'].filter(Boolean).join(' ')} aria-selected=${selected ? 'true' : null}>
    <td class="cbx opt"><input type="checkbox" class="cb" aria-label=${'Select ' + run.id} checked=${selected} onChange=${toggle}/></td>
    <td><${State} state=${run.state}/></td>
    <td><${RunLink} id=${run.id}/></td>
    ${columns.map(column => html`<td class=${column.cls} title=${column.title?.(run)}>${column.cell(run)}</td>`)}</tr>`;
}

const sum = counts => Object.values(counts?.states ?? {}).reduce((all, one) => ({ runs: all.runs + one.runs, more: all.more || one.more }), { runs: 0, more: false });

function useListKeys(rows, toggle) {
  const [at, setAt] = useState(-1);
  useEffect(() => {
    const press = event => {
      if (isTyping(event) || !rows) return;
      if (event.key === 'j') setAt(Math.min(at + 1, rows.length - 1));
      else if (event.key === 'k') setAt(Math.max(at - 1, 0));
      else if (event.key === 'x' && rows[at]) toggle(rows[at].id);
      else if (event.key === 'Enter' && rows[at] && event.target === document.body) go(link('/runs/' + rows[at].id));
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [rows, at]);
  useEffect(() => document.querySelector('tr.cur')?.scrollIntoView({ block: 'nearest' }), [at]);
  return at;
}

export function Runs({ query }) {
  useSecond();
  const filter = filterOf(query);
  const order = query.get('order') === 'oldest' ? 'oldest' : 'newest';
  const list = useRows(filter, order);
  const counts = useData('count' + JSON.stringify(filter), () => countRuns(filter), { every: 3000 });
  const [selected, setSelected] = useState(new Set());
  const master = useRef(null);
  const toggle = id => setSelected(before => {
    const after = new Set(before);
    if (!after.delete(id)) after.add(id);
    return after;
  });
  const rows = list.rows;
  const at = useListKeys(rows, toggle);
  const all = rows?.length > 0 && rows.every(run => selected.has(run.id));
  const total = sum(counts.data);
  const active = Object.keys(filter);
  const columns = useColumns(rows);
  useEffect(() => setSelected(new Set()), [JSON.stringify(filter)]);
  useEffect(() => setTrail((rows ?? []).map(run => run.id)), [rows]);
  return html`<main class="page">
    <div class="fl"><${Titles} of="runs"/><${Chips} query=${query}/>
      <${Choice} value=${viewOf(query)} options=${VIEWS} href=${key => here({ state: VIEWS.find(([name]) => name === key)[2] })}/></div>
    <${Histogram} filter=${filter}/>
    <section class="panel tbl" aria-label="Runs">
      <div class="ph"><h2>${counts.data ? (total.more ? 'More than ' : '') + plural(total.runs, 'run') : 'Runs'}</h2>
        <span class="sm m3"><a data-replace href=${here({ order: order === 'newest' ? 'oldest' : null })}>${order} first</a></span>
        <span class="end sm m3 wide"><kbd>j</kbd> <kbd>k</kbd> move  <kbd>x</kbd> select  <kbd>Enter</kbd> open</span><${ColumnMenu} columns=${columns}/></div>
      ${list.newer > 0 && html`<div class="fresh"><button class="text" onClick=${list.showNewer}>${order === 'newest' ? plural(list.newer, 'newer run') : plural(list.newer, 'more run')}. Show them</button></div>`}
      <${Answer} of=${list} rows=${8}>${() => rows.length === 0 ? html`<${Nothing} active=${active}/>` : html`
        <div class="scroll"><table class="list"><thead><tr><th class="cbx"><input ref=${master} type="checkbox" class="cb" aria-label="Select all on this page" checked=${all} onChange=${() => setSelected(all ? new Set() : new Set(rows.map(run => run.id)))}/></th>
          <th>State</th><th>Run</th>${columns.shown.map(column => html`<${Head} column=${column} order=${order}/>`)}</tr></thead>
          <tbody>${rows.map((run, index) => html`<${Row} key=${run.id} run=${run} columns=${columns.shown} selected=${selected.has(run.id)} current=${index === at} toggle=${() => toggle(run.id)}/>`)}</tbody></table></div>
        ${list.extra.error && html`<${Problem} error=${list.extra.error} again=${list.showMore}/>`}
        ${list.next && html`<div class="more sm"><button class="text" disabled=${list.extra.busy} onClick=${list.showMore}>Show ${PAGE} more</button><span class="m3">${number(rows.length)} of ${total.more ? 'more than ' : ''}${number(total.runs)}</span></div>`}`}<//>
      ${selected.size > 0 && html`<${BulkBar} ids=${[...selected]} rows=${rows ?? []} filter=${filter} total=${total} done=${() => { setSelected(new Set()); list.reload(); counts.reload(); }}/>`}
    </section></main>`;
}

function Head({ column, order }) {
  if (!column.sorted) return html`<th class=${column.cls.split(' ').includes('n') ? 'n' : null}>${column.head}</th>`;
  return html`<th class="n" aria-sort=${order === 'newest' ? 'descending' : 'ascending'}>${column.head} ${order === 'newest' ? '↓' : '↑'}</th>`;
}

function Nothing({ active }) {
  if (!active.length) return html`<p class="empty">There is no run yet. Start one with <code>perdure.start(…)</code>, or look at what can run in <a href=${link('/definitions')}>definitions</a>.</p>`;
  return html`<p class="empty">No run matches. ${active.map(name => html`<a href=${here({ [name]: null })}>Remove ${name.replace(/_/g, ' ')}</a>, `)}or <a href=${link('/runs')}>look at all</a>.</p>`;
}
