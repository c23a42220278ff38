// The filters of the list of runs: in the URL, and as chips that show and change them.
import { html, useEffect, useRef, useState } from './view.js';
import { go, here } from './router.js';
import { time } from './format.js';

export const STATES = ['PENDING', 'READY', 'RUNNING', 'SUSPENDED', 'BACKING_OFF', 'PAUSED', 'COMPLETED', 'FAILED', 'CANCELLED', 'SKIPPED'];
const TROUBLE = ['BACKING_OFF', 'PAUSED', 'FAILED'];
const ENDED = ['COMPLETED', 'FAILED', 'CANCELLED', 'SKIPPED'];
const ACTIVE = STATES.filter(state => !ENDED.includes(state));

export const VIEWS = [['all', 'All', []], ['active', 'Active', ACTIVE], ['trouble', 'In trouble', TROUBLE], ['ended', 'Ended', ENDED]];

const ALWAYS = ['definition', 'queue', 'reason'];
const MORE = ['id_prefix', 'key', 'version', 'parent', 'root', 'schedule', 'attribute'];
const NAMES = {
  definition: 'definition', queue: 'queue', reason: 'reason begins with', id_prefix: 'id begins with', key: 'key', version: 'version',
  parent: 'parent', root: 'root', schedule: 'schedule', attribute: 'attribute',
};
const HINTS = { attribute: 'customer=C-1094', reason: 'java.io.IOException' };

/** What the API is asked for: everything of the URL that is a filter. */
export function filterOf(query) {
  const filter = {};
  const states = query.getAll('state').filter(state => STATES.includes(state));
  if (states.length) filter.state = states;
  for (const name of [...ALWAYS, ...MORE]) {
    const values = query.getAll(name).filter(Boolean);
    if (values.length) filter[name] = name === 'attribute' ? values : values[0];
  }
  for (const name of ['created_from', 'created_to']) if (query.get(name)) filter[name] = query.get(name);
  return filter;
}

/** The view whose states are chosen, if they are those of one. */
export function viewOf(query) {
  const states = query.getAll('state').sort().join();
  return VIEWS.find(([, , wanted]) => [...wanted].sort().join() === states)?.[0];
}

const clear = name => go(here({ [name]: null, ...(name === 'created' ? { created_from: null, created_to: null } : {}) }));

function Chip({ name, value, edit, remove }) {
  return html`<span class=${'chip' + (value ? ' on' : '')}>${edit ? html`<button class="text m2" onClick=${edit}>${name} <b>${value || 'any'}</b></button>` : html`<span>${name} <b>${value}</b></span>`}${
    value && html`<button class="text x" aria-label=${'Remove the filter ' + name} onClick=${remove}>×</button>`}</span>`;
}

/** A field in the place of a chip: Enter applies it, Esc leaves it. */
function Field({ name, value, done }) {
  const field = useRef(null);
  useEffect(() => field.current.select(), []);
  const submit = event => {
    event.preventDefault();
    go(here({ [name]: field.current.value.trim() }));
    done();
  };
  return html`<form class="fl" onSubmit=${submit}><label class="sm m2">${NAMES[name]} <input ref=${field} class="inp small" value=${value}
    placeholder=${HINTS[name] ?? ''} onBlur=${done} onKeyDown=${event => event.key === 'Escape' && done()}/></label></form>`;
}

function StateChoice({ chosen, done }) {
  const toggle = state => go(here({ state: chosen.includes(state) ? chosen.filter(one => one !== state) : [...chosen, state] }), { replace: true });
  return html`<span class="fl" role="group" aria-label="States">${STATES.map(state => html`
    <button class=${'chip' + (chosen.includes(state) ? ' on' : '')} aria-pressed=${chosen.includes(state)} onClick=${() => toggle(state)}><b>${state}</b></button>`)}
    <button class="text sm" onClick=${done}>Done</button></span>`;
}

/** All chips. Filters that are rarely used come into view behind "+ Filter", or when the URL has them. */
export function Chips({ query }) {
  const [editing, setEditing] = useState(null);
  const [more, setMore] = useState(false);
  const done = () => setEditing(null);
  const states = query.getAll('state').filter(state => STATES.includes(state));
  const from = query.get('created_from');
  const to = query.get('created_to');
  const names = [...ALWAYS, ...MORE.filter(name => more || query.get(name))];
  return html`
    ${editing === 'state' ? html`<${StateChoice} chosen=${states} done=${done}/>`
      : html`<${Chip} name="state" value=${states.join(', ')} edit=${() => setEditing('state')} remove=${() => clear('state')}/>`}
    ${(from || to) && html`<${Chip} name="started" value=${`${from ? time(from) : 'ever'} to ${to ? time(to) : 'now'}`} remove=${() => clear('created')}/>`}
    ${names.map(name => editing === name
      ? html`<${Field} name=${name} value=${query.get(name) ?? ''} done=${done}/>`
      : html`<${Chip} name=${NAMES[name]} value=${query.getAll(name).join(', ')} edit=${() => setEditing(name)} remove=${() => clear(name)}/>`)}
    ${!more && html`<button class="chip" onClick=${() => setMore(true)}>+ Filter</button>`}`;
}
