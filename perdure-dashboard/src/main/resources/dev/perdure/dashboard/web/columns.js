// The columns of the list of runs: which there are, and which of them the reader has chosen. The browser keeps the choice.
import { html, useState } from './view.js';
import { length, millis, now, number, relative, shortened, time } from './format.js';
import { hasEnded } from './timeline.js';
import { link } from './router.js';

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

const values = value => [value].flat();

/** The column of an attribute, whose values lead to the runs that have them too. */
const ofAttribute = name => ({
  key: ATTRIBUTE + name, head: name, cls: 'opt brief',
  cell: run => run.attributes?.[name] != null && html`<a href=${link('/runs', { attribute: `${name}=${values(run.attributes[name]).join(',')}` })}>${values(run.attributes[name]).join(', ')}</a>`,
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
export function useColumns(runs) {
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
export function ColumnMenu({ columns }) {
  const leave = event => event.currentTarget.contains(event.relatedTarget) || (event.currentTarget.open = false);
  const press = event => event.key === 'Escape' && (event.currentTarget.open = false);
  return html`<details class="menu" onFocusOut=${leave} onKeyDown=${press}><summary class="chip">Columns</summary><div class="drop" tabindex="-1" role="group" aria-label="Columns">
    ${columns.all.map(column => html`<label><input type="checkbox" class="cb" checked=${columns.shown.includes(column)} onChange=${() => columns.toggle(column.key)}/>${column.head}</label>`)}</div></details>`;
}
