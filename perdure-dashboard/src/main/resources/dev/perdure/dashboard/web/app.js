// The frame of all pages: the bar at the top, the search, the keys, and the page that the path names.
import { html, render, useEffect, useRef, useState } from './view.js';
import { followLinks, go, link, usePlace } from './router.js';
import { showUtc, zone } from './format.js';
import { follow, useLive } from './live.js';
import { ConfirmHost } from './confirm.js';
import { Keys } from './keys.js';
import { isDefinition, isKey, me, oneRun } from './api.js';
import { session } from './session.js';
import { onToken } from './token.js';
import { Overview } from './overview.js';
import { Runs } from './runs.js';
import { Run } from './run.js';
import { Definitions } from './definitions.js';
import { Queues } from './queues.js';
import { Schedules } from './schedules.js';
import { Database, Workers } from './workers.js';
import { Objects } from './objects.js';

const PAGES = [
  ['Overview', '/', ['/']],
  ['Runs', '/runs', ['/runs', '/definitions']],
  ['Objects', '/objects', ['/objects']],
  ['Queues', '/queues', ['/queues']],
  ['Schedules', '/schedules', ['/schedules']],
  ['Workers', '/workers', ['/workers', '/database']],
];

const under = (path, prefix) => path === prefix || (prefix !== '/' && path.startsWith(prefix + '/'));

/** The page that a path names. What follows the first segment is a name or an id, with its slashes. */
function page({ path, query }) {
  const [, first, rest] = /^\/([^/]*)\/?(.*)$/s.exec(path);
  switch (first) {
    case '': return html`<${Overview} query=${query}/>`;
    case 'runs': return rest ? html`<${Run} key=${rest} id=${rest} query=${query}/>` : html`<${Runs} query=${query}/>`;
    case 'definitions': return html`<${Definitions} name=${rest}/>`;
    case 'objects': return html`<${Objects} name=${rest} query=${query}/>`;
    case 'queues': return html`<${Queues} name=${rest} query=${query}/>`;
    case 'schedules': return html`<${Schedules} name=${rest} query=${query}/>`;
    case 'workers': return html`<${Workers} name=${rest}/>`;
    case 'database': return html`<${Database}/>`;
    default: return html`<main class="page"><h1>No such page</h1><p>There is nothing at <code>${path}</code>. <a href=${link('/')}>Show the overview</a>.</p></main>`;
  }
}

const THEMES = { auto: 'Light or dark as the system', light: 'Light', dark: 'Dark' };

function applyTheme(theme) {
  if (theme === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** Theme and time zone are the reader's, so the browser keeps them. */
function usePreference(name, initial, apply) {
  const [value, setValue] = useState(() => localStorage.getItem('perdure-' + name) ?? initial);
  apply(value);
  return [value, next => {
    localStorage.setItem('perdure-' + name, next);
    setValue(next);
  }];
}

function Bar({ path, redraw }) {
  const quiet = useLive();
  const [theme, setTheme] = usePreference('theme', 'auto', applyTheme);
  const [time, setTime] = usePreference('zone', 'utc', value => showUtc(value === 'utc'));
  const themes = Object.keys(THEMES);
  return html`
    <header class="top">
      <b>Perdure</b>
      <nav aria-label="Main">${PAGES.map(([name, to, prefixes]) => html`
        <a href=${link(to)} aria-current=${prefixes.some(prefix => under(path, prefix)) ? 'page' : null}>${name}</a>`)}</nav>
      <${Search}/>
      <span class=${'live' + (quiet ? ' stale' : '')} role="status">${quiet ? `No news for ${quiet} s` : 'Live'}</span>
      <button class="text sm m2 nw" title="Change the time zone" onClick=${() => { setTime(time === 'utc' ? 'local' : 'utc'); redraw(); }}>${zone()}</button>
      <button class="text sm m2" title=${THEMES[theme]} onClick=${() => setTheme(themes[(themes.indexOf(theme) + 1) % 3])}>${theme === 'auto' ? 'Auto' : THEMES[theme]}</button>
    </header>`;
}

/** Where a text leads: to the run with this id, to the definition of this name, to the runs of this key, or to those whose ids begin so. */
async function found(text) {
  try {
    await oneRun(text);
    return link('/runs/' + text);
  } catch {
    const [definition, key] = await Promise.all([isDefinition(text), isKey(text)]);
    return definition ? link('/definitions/' + text) : link('/runs', key ? { key: text } : { id_prefix: text });
  }
}

function Search() {
  const field = useRef(null);
  const submit = event => {
    event.preventDefault();
    const text = field.current.value.trim();
    if (!text) return;
    field.current.blur();
    found(text).then(address => go(address));
  };
  return html`<form class="find end" role="search" onSubmit=${submit}>
    <input ref=${field} id="search" type="search" placeholder="Go to a run, key or definition" aria-label="Go to a run by its id or to a definition, or list the runs of a key or those whose ids begin with a text" autocomplete="off"/>
    <kbd>/</kbd></form>`;
}

function App() {
  const where = usePlace();
  const [, redraw] = useState(0);
  useEffect(() => {
    const learn = () => me().then(session.set, () => session.set({})).then(() => redraw(count => count + 1));
    learn();
    return onToken(learn);
  }, []);
  useEffect(() => {
    document.title = title(where.path);
  }, [where.path]);
  return html`<${Bar} path=${where.path} redraw=${() => redraw(count => count + 1)}/>${page(where)}<${ConfirmHost}/><${Keys}/>`;
}

function title(path) {
  const parts = path.split('/').filter(Boolean);
  const name = parts.length > 1 ? parts.slice(1).join('/') : (parts[0] ?? 'overview').replace(/^./, letter => letter.toUpperCase());
  return name + ' · Perdure';
}

followLinks();
follow();
render(html`<${App}/>`, document.getElementById('app'));
