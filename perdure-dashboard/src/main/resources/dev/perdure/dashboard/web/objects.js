// Virtual objects: types, the keys of one type with who holds each, and one object with its state and its calls.
import { html, useState, Answer, Choice, Panel, Problem, RunLink, State } from './view.js';
import { go, here, link } from './router.js';
import { length, millis, now, number, shortened, time } from './format.js';
import { useData, useSecond } from './live.js';
import { object as readObject, objectKeys as readKeys, objectTypes as readTypes } from './api.js';
import { Json } from './json.js';

function Filter({ query }) {
  const submit = event => {
    event.preventDefault();
    go(here({ prefix: new FormData(event.target).get('prefix').trim() }));
  };
  return html`<form class="fl" onSubmit=${submit}><label class="sm m2">key begins with <input class="inp small" name="prefix" value=${query.get('prefix') ?? ''}/></label></form>`;
}

/** The keys of a type, page by page. Those of the first page stay current. */
function Keys({ type, chosen, query }) {
  const prefix = query.get('prefix');
  const name = JSON.stringify([type, prefix]);
  const [more, setMore] = useState({});
  const answer = useData('keys' + name, () => readKeys(type, prefix));
  const extra = more.name === name ? more : { keys: [], next: answer.data?.next };
  const showMore = async () => {
    try {
      const page = await readKeys(type, prefix, extra.next);
      setMore({ name, keys: [...extra.keys, ...page.keys], next: page.next });
    } catch (error) {
      setMore({ ...extra, name, error });
    }
  };
  const to = one => link(`/objects/${type}/${one.key}`, prefix ? { prefix } : {});
  return html`<${Panel} title=${html`<span class="mono">${type}</span>`} note="by key" extra=${html`<span class="end"><${Filter} query=${query}/></span>`}><${Answer} of=${answer}>${data => data.keys.length === 0
    ? html`<p class="empty">No object of this type ${prefix ? html`has a key that begins so. <a href=${here({ prefix: null })}>Show all</a>.` : 'has been called.'}</p>`
    : html`<div class="scroll"><table><thead><tr><th>Key</th><th>Held by</th><th class="n">Waiting calls</th></tr></thead>
      <tbody>${[...data.keys, ...extra.keys].map(one => html`<tr key=${one.key} aria-selected=${chosen === one.key ? 'true' : null} onClick=${event => event.target.closest('a') || go(to(one))}>
        <td><a class="id" href=${to(one)}>${one.key}</a></td><td>${one.holder ? html`<${RunLink} id=${one.holder}/>` : html`<span class="m3">free</span>`}</td><td class="n">${one.waiting ? number(one.waiting) + (one.more ? '+' : '') : html`<span class="m3">0</span>`}</td></tr>`)}</tbody></table></div>
      ${extra.error && html`<${Problem} error=${extra.error} again=${showMore}/>`}
      ${extra.next && html`<div class="more sm"><button class="text" onClick=${showMore}>Show more</button></div>`}`}<//><//>`;
}

/** One object: its state as the last committed call left it, and its calls in the order of their turns. */
function One({ type, id }) {
  const answer = useData(`object${type}\n${id}`, () => readObject(type, id));
  return html`<${Answer} of=${answer}>${data => html`
    <${Panel} title=${html`<span class="mono">${id}</span>: state`} note="as the last committed call left it">${Object.keys(data.state).length === 0
      ? html`<p class="empty">It has no state.</p>` : html`<${Json} value=${data.state}/>`}${data.next && html`<p class="empty">It has more values.</p>`}<//>
    <${Panel} title="Calls" note="in the order of their turns">${data.calls.length === 0
      ? html`<p class="empty">No call holds it, and none waits.</p>` : html`<div class="scroll"><table class="list"><thead><tr><th>State</th><th>Run</th><th></th><th class="n">Started</th></tr></thead>
      <tbody>${data.calls.map(call => html`<tr><td><${State} state=${call.state}/></td><td><${RunLink} id=${call.id}/></td><td class="cut sm m2" title=${call.reason}>${call.holds ? 'holds it' : 'waits'}${call.holds && call.reason ? html`. ${shortened(call.reason)}` : ''}</td><td class="n" title=${time(call.created_at)}>${length(Math.max(0, now() - millis(call.created_at)))} ago</td></tr>`)}</tbody></table></div>`}
      ${data.more && html`<p class="empty">More calls wait.</p>`}<//>`}<//>`;
}

export function Objects({ name, query }) {
  useSecond();
  const types = useData('types', readTypes);
  const [first, ...rest] = name.split('/');
  const type = first || types.data?.types[0];
  const id = rest.join('/');
  return html`<main class="page"><div class="hd"><h1>Objects</h1><span class="m3 sm">virtual objects that were called exclusively</span>
      ${types.data?.types.length > 0 && html`<${Choice} value=${type} options=${types.data.types.map(one => [one, one])} href=${one => link('/objects/' + one)}/>`}</div>
    <${Answer} of=${types}>${data => !type ? html`<${Panel} label="Objects"><p class="empty">No virtual object has been called. Call one with <code>perdure.object(Cart.class, "ada").call(Cart::add, item)</code>.</p><//>`
      : html`<div class=${id ? 'c2' : 'col'}><${Keys} type=${type} chosen=${id} query=${query}/>${id && html`<div class="col"><${One} key=${name} type=${type} id=${id}/></div>`}</div>`}<//></main>`;
}
