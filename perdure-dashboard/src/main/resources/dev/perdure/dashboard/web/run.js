// One run: why it does not move, its timeline, its journal, and what can be done about it.
import { html, useEffect, useMemo, useState, Answer, Attribute, Panel, Problem, RunLink, State, stateClass } from './view.js';
import { go, here, link } from './router.js';
import { length, millis, now, number, relative, shortened, time, withLengths, withTimes } from './format.js';
import { useData, useSecond } from './live.js';
import { audit, children as readChildren, history as readHistory, journal as readJournal, messages as readMessages, oneRun, tasks as readTasks } from './api.js';
import { hasEnded, rows as timelineRows, timeline } from './timeline.js';
import { kindName, Waterfall } from './waterfall.js';
import { Json, Payload, Stack } from './json.js';
import { RunActions } from './actions.js';
import { Drawer } from './drawer.js';
import { Graph } from './graph.js';
import { Log, Progress, Published } from './reports.js';
import { isTyping } from './keys.js';
import { along } from './trail.js';

/** Why a run does not move, or how it ended. A state alone is no answer. */
function Why({ run, dag }) {
  const silent = run.state === 'COMPLETED' || run.state === 'RUNNING' || (dag && run.state === 'PENDING');
  if (silent && !run.reason) return null;
  const text = run.reason ?? {
    READY: 'Waits for a worker.', PENDING: 'Comes after others, or waits for its turn.', SUSPENDED: 'Waits.',
    BACKING_OFF: 'Waits for its next attempt.', PAUSED: 'Held until a person resumes it.',
  }[run.state];
  if (!text) return null;
  return html`<p class=${'why w-' + stateClass(run.state)} role="status"><span title=${text}>${withTimes(text)}</span>${
    run.wake_at && !hasEnded(run.state) && html`<time datetime=${run.wake_at}>${time(run.wake_at)}, ${relative(run.wake_at)}</time>`}</p>`;
}

const Fact = ({ name, children }) => html`<div><dt>${name}</dt><dd>${children}</dd></div>`;

function Facts({ run }) {
  const ended = hasEnded(run.state);
  const attributes = Object.keys(run.attributes ?? {});
  return html`<dl class="facts">
    <${Fact} name="Started">${time(run.created_at)} <span class="m3">${relative(run.created_at)}</span><//>
    ${ended && html`<${Fact} name="Took">${length(millis(run.changed_at) - millis(run.created_at))}<//>`}
    ${run.deadline && html`<${Fact} name="Deadline">${time(run.deadline)} <span class="m3">${ended ? '' : relative(run.deadline)}</span><//>`}
    ${run.object && html`<${Fact} name="Object"><a href=${link(`/objects/${run.object.type}/${run.object.key}`)}>${run.object.type}/${run.object.key}</a><//>`}
    ${run.version && html`<${Fact} name="Version"><a href=${link('/workers/' + run.version)}>${run.version}</a><//>`}
    <${Fact} name="Recoveries">${number(run.recoveries)}<//>
    ${run.status && html`<${Fact} name="Status">${run.status}<//>`}
    ${attributes.map(name => html`<${Fact} name=${name}><${Attribute} run=${run} name=${name} /><//>`)}
  </dl>`;
}

/** The child that a row of the journal started: by its position, else the first of its definition that is not taken. */
function matchChildren(rows, children, id) {
  const free = [...children];
  const found = new Map();
  const take = (row, test) => {
    const index = free.findIndex(test);
    if (index >= 0) found.set(row.position, free.splice(index, 1)[0]);
  };
  const calls = rows.filter(row => row.kind === 'CHILD');
  calls.forEach(row => take(row, child => child.position === row.position || child.id.startsWith(`${id}/${row.position}-`)));
  calls.filter(row => !found.has(row.position)).forEach(row => take(row, child => child.definition === row.name));
  return found;
}

/** The rows of the timeline, with those of the children that are open below their calls. */
function useRowsWithChildren(line, children, id, open) {
  const matched = useMemo(() => matchChildren(line.rows, children, id), [line, children]);
  const opened = line.rows.filter(row => open.includes(String(row.position)) && matched.has(row.position));
  const ids = opened.map(row => matched.get(row.position).id);
  const below = useData(ids.length ? 'below' + ids.join() : null,
    () => Promise.all(ids.map(child => readHistory(child))));
  return useMemo(() => line.rows.flatMap(row => {
    const child = matched.get(row.position);
    const key = String(row.position);
    const isOpen = open.includes(key);
    const toggle = child && (() => go(here({ open: isOpen ? open.filter(one => one !== key) : [...open, key] }), { replace: true }));
    const own = { ...row, key, level: 1, toggle, isOpen, child };
    const index = opened.indexOf(row);
    if (index < 0 || !below.data) return [own];
    const inner = timelineRows(below.data[index].events, { state: child.state, now: now() });
    return [own, ...inner.map(one => ({ ...one, key: `${key}/${one.position}`, level: 2 }))];
  }), [line, matched, open.join(), below.data]);
}

function Timeline({ id, run, events, children, query }) {
  const line = useMemo(() => timeline(events, { state: run.state, now: now() }), [events, run.state, hasEnded(run.state) ? 0 : Math.floor(now() / 1000)]);
  const rows = useRowsWithChildren(line, children, id, query.getAll('open'));
  const selected = rows.find(row => row.key === query.get('at')?.split('.')[0]);
  return html`<div class=${'body' + (selected ? ' open' : '')}>
    <main class="left"><${Waterfall} line=${line} rows=${rows} query=${query} state=${run.state}/><${Around} id=${id} run=${run}/></main>
    ${selected && html`<${Drawer} id=${id} row=${selected} rows=${rows} run=${run}/>`}</div>`;
}

/** What stands below the timeline: error, result and input. */
function Around({ run }) {
  const right = [run.result !== undefined && run.result !== null && html`<${Payload} title="Result" value=${run.result}/>`,
    run.input !== undefined && html`<${Payload} title="Input" value=${run.input} id="input"/>`].filter(Boolean);
  if (!run.failure && !right.length) return null;
  return html`<div class="two"><div class="col">${run.failure && html`<${Panel} title="Failure"><div class="pb"><${Stack} text=${run.failure}/></div><//>`}${
    !run.failure && right[0]}</div><div class="col">${run.failure ? right : right.slice(1)}</div></div>`;
}

function Journal({ id }) {
  const answer = useData('journal' + id, () => readJournal(id));
  const [open, setOpen] = useState(null);
  return html`<main class="left"><${Panel} title="Journal" note="what replay reads">
    <${Answer} of=${answer}>${data => data.entries.length === 0 ? html`<p class="empty">The run has recorded nothing yet.</p>` : html`<div class="scroll"><table>
      <thead><tr><th class="n">#</th><th>Kind</th><th>Name</th><th>Status</th><th>At</th><th>Value</th></tr></thead>
      <tbody>${data.entries.map((entry, index) => html`
        <tr onClick=${() => setOpen(open === index ? null : index)}><td class="n mono"><button class="text m2" aria-expanded=${String(open === index)} aria-label=${`Entry ${entry.position}`}>${entry.position}</button></td><td class="sm m2">${kindName(entry.kind)}</td><td>${entry.kind === 'SLEEP' ? withLengths(entry.name) : entry.name}</td><td class="sm m2">${entry.status}</td><td class="nw">${time(entry.at, 3)}</td>
          <td class="cut mono sm">${entry.error?.split('\n')[0] ?? (entry.payload === undefined ? '' : JSON.stringify(entry.payload))}</td></tr>
        ${open === index && html`<tr class="note"><td colspan="6">${entry.error ? html`<${Stack} text=${entry.error}/>` : html`<${Json} value=${entry.payload ?? null}/>`}</td></tr>`}`)}</tbody></table></div>${data.more && html`<p class="empty">The journal is longer. ./perdure runs export writes all of it.</p>`}`}<//><//></main>`;
}

function History({ events }) {
  return html`<main class="left"><${Panel} title="History" note="journal and changes of state, oldest first"><div class="scroll"><table>
    <thead><tr><th>At</th><th class="n">#</th><th>Event</th></tr></thead>
    <tbody>${events.map(event => html`<tr><td class="nw">${time(event.at, 3)}</td><td class="n mono m3">${event.position || ''}</td><td class="cut" title=${event.text}>${event.text ?? `${event.kind} ${event.name} ${event.status}`}</td></tr>`)}</tbody></table></div><//></main>`;
}

function Children({ answer }) {
  return html`<main class="left"><${Panel} title="Children" note="started by this life of the run"><${Answer} of=${answer}>${data => data.children.length === 0
    ? html`<p class="empty">The run has started no children.</p>`
    : html`<div class="scroll"><table class="list"><thead><tr><th>State</th><th>Run</th><th>Definition</th><th>Waits for, or ended because</th><th class="n">Started</th></tr></thead>
      <tbody>${data.children.map(child => html`<tr><td><${State} state=${child.state}/></td><td><${RunLink} id=${child.id}/></td><td class="mono m2 opt">${child.definition}</td><td class="cut" title=${child.reason}>${shortened(child.reason)}</td><td class="n">${time(child.created_at)}</td></tr>`)}</tbody></table></div>`}<//><//></main>`;
}

function Messages({ id }) {
  const answer = useData('messages' + id, () => readMessages(id));
  return html`<main class="left"><${Panel} title="Messages" note="that wait to be received"><${Answer} of=${answer}>${data => data.messages.length === 0
    ? html`<p class="empty">No message waits. What the run has received is in its journal.</p>`
    : html`<div class="scroll"><table><thead><tr><th>Arrived</th><th>Topic</th><th>Value</th></tr></thead>
      <tbody>${data.messages.map(message => html`<tr><td>${time(message.at)}</td><td class="mono">${message.topic}</td><td class="cut mono sm">${JSON.stringify(message.value)}</td></tr>`)}</tbody></table></div>`}<//><//></main>`;
}

function Audit({ id }) {
  const answer = useData('audit' + id, () => audit(id));
  return html`<main class="left"><${Panel} title="Audit" note="who has done what to this run"><${Answer} of=${answer}>${data => data.entries.length === 0
    ? html`<p class="empty">Nobody has acted on this run.</p>`
    : html`<div class="scroll"><table><thead><tr><th>At</th><th>Operator</th><th>Action</th><th>Detail</th></tr></thead>
      <tbody>${data.entries.map(entry => html`<tr><td>${time(entry.at)}</td><td>${entry.operator}</td><td class="sm m2">${entry.action}</td><td class="cut">${entry.detail}</td></tr>`)}</tbody></table></div>`}<//><//></main>`;
}

function Tabs({ tab, counts }) {
  const tabs = [['timeline', 'Timeline'], ['graph', 'Graph', counts.tasks], ['journal', 'Journal'], ['log', 'Log'], ['published', 'Published'], ['messages', 'Messages'], ['children', 'Children', counts.children], ['history', 'History', counts.events], ['audit', 'Audit']];
  return html`<nav class="tabs" aria-label="Run">${tabs.filter(([key]) => key !== 'graph' || counts.tasks).map(([key, text, count]) => html`
    <a href=${here({ tab: key === counts.first ? null : key, at: null })} aria-current=${key === tab ? 'true' : null}>${text}${count ? html` <span>${number(count)}</span>` : ''}</a>`)}</nav>`;
}

/** t shows the timeline, [ and ] lead to the neighbours in the list of runs. */
function useRunKeys(id) {
  useEffect(() => {
    const press = event => {
      if (isTyping(event)) return;
      const next = { '[': along(id, -1), ']': along(id, 1) }[event.key];
      if (next) go(link('/runs/' + next));
      else if (event.key === 't') go(here({ tab: 'timeline', at: null }), { replace: true });
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [id]);
}

const STILL = ['PENDING', 'READY', 'BACKING_OFF', 'PAUSED'];

/** Whether nothing can be recorded before the run enters another state: it waits for nothing but the time, a worker or a person. */
const isStill = run => STILL.includes(run.state) || (run.state === 'SUSPENDED' && !run.awaited?.length);

export function Run({ id, query }) {
  useSecond();
  useRunKeys(id);
  const answer = useData('run' + id, () => oneRun(id));
  const live = !hasEnded(answer.data?.state);
  const again = answer.data?.changed_at;
  const moves = Boolean(answer.data && live && !isStill(answer.data));
  const events = useData('history' + id, () => readHistory(id), { live: moves, again });
  const children = useData('children' + id, () => readChildren(id), { live: data => moves || data.children.length > 0, again }); // children may go on after their parent
  const tasks = useData('tasks' + id, () => readTasks(id), { live: data => live && data.tasks.length > 0 }); // only a start makes tasks
  if (!answer.data) {
    return html`<main class="page"><div class="sm m3"><a href=${link('/runs')}>Runs</a></div><h1 class="mono">${id}</h1>
      ${answer.error?.status === 404 ? html`<p>There is no run with this id. Retention may have removed it. <a href=${link('/runs', { id_prefix: id })}>Show runs whose ids begin with it</a>.</p>`
        : html`<${Panel} label="Run"><${Answer} of=${answer}>${() => null}<//><//>`}</main>`;
  }
  const run = answer.data;
  const dag = (tasks.data?.tasks.length ?? 0) > 0;
  const firstTab = dag ? 'graph' : 'timeline';
  const tab = query.get('tab') ?? firstTab;
  const reload = () => [answer, events, children, tasks].forEach(one => one.reload());
  const counts = { first: firstTab, tasks: tasks.data?.tasks.length, children: children.data?.children.length, events: events.data?.events.length };
  return html`
    <div class="rh">
      <div class="sm m3"><a href=${link('/runs')}>Runs</a> / <a href=${link('/runs', { definition: run.definition })}>${run.definition}</a></div>
      <div class="rh1"><h1>${id}</h1><${State} state=${run.state} badge/><${RunActions} run=${run} dag=${tasks.data ? dag : null} reload=${reload}/></div>
      <${Why} run=${run} dag=${dag}/><${Progress} steps=${live ? run.progress : []}/><${Facts} run=${run}/><${Tabs} tab=${tab} counts=${counts}/>
    </div>
    ${answer.error && html`<${Problem} error=${answer.error} again=${answer.reload}/>`}
    ${tab === 'timeline' && html`<${Answer} of=${events}>${data => html`<${Timeline} id=${id} run=${run} events=${data.events} children=${children.data?.children ?? []} query=${query}/>`}<//>`}
    ${tab === 'graph' && dag && html`<${Graph} run=${run} tasks=${tasks.data.tasks} query=${query} reload=${reload}/>`}
    ${tab === 'journal' && html`<${Journal} id=${id}/>`}
    ${tab === 'log' && html`<${Log} id=${id} live=${live} query=${query}/>`}
    ${tab === 'published' && html`<${Published} id=${id} live=${live}/>`}
    ${tab === 'messages' && html`<${Messages} id=${id}/>`}
    ${tab === 'children' && html`<${Children} answer=${children}/>`}
    ${tab === 'history' && html`<${Answer} of=${events}>${data => html`<${History} events=${data.events}/>`}<//>`}
    ${tab === 'audit' && html`<${Audit} id=${id}/>`}`;
}
