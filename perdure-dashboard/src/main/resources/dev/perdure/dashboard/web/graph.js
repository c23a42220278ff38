// A DAG as a graph, with the table of its tasks as its equal. A change of state repaints a box and moves none.
import { html, useMemo, useState, Icon, Panel, RunLink, State, stateClass } from './view.js';
import { go, here } from './router.js';
import { length, millis, now, number, plural, time } from './format.js';
import { criticalPath, fold, HEIGHT, stateOf, WIDTH } from './graphmodel.js';
import { arrange } from './layers.js';
import { hasEnded } from './timeline.js';
import { rerun } from './actions.js';
import { session } from './session.js';

const NAME = 14; // characters of a name in a box

const cut = (text, most) => (text.length > most ? text.slice(0, most - 1) + '…' : text);

function took(task) {
  const from = millis(task.started_at);
  if (from == null) return null;
  return (millis(task.ended_at) ?? (hasEnded(task.state) ? from : now())) - from;
}

/** The one line of facts in a box. */
function facts(box) {
  const [task] = box.tasks;
  if (box.tasks.length > 1) {
    const done = box.tasks.filter(one => one.state === 'COMPLETED').length;
    return `${number(done)} of ${number(box.tasks.length)}`;
  }
  if (task.state === 'PENDING') return task.after.length ? 'after ' + cut(task.after.join(', '), NAME) : '';
  if (task.state === 'SKIPPED' || task.state === 'CANCELLED') return cut(task.reason ?? '', 18);
  const time = length(took(task));
  return task.attempts > 1 ? `${time}, ${task.attempts} attempts` : time;
}

function Box({ box, at, selected }) {
  const state = stateOf(box.tasks);
  const cls = stateClass(state);
  const folded = box.tasks.length > 1;
  const name = folded ? `${cut(box.name, 8)} +${number(box.tasks.length - 1)}` : cut(box.name, NAME);
  const text = facts(box);
  const pale = state === 'PENDING' || state === 'SKIPPED' || state === 'CANCELLED';
  const address = folded ? here({ unfold: [...new URLSearchParams(location.search).getAll('unfold'), box.name] }) : here({ at: box.name });
  return html`<a href=${address} data-replace aria-label=${`${box.name}, ${state}, ${text}`}><title>${box.name}</title><g transform=${`translate(${at.x} ${at.y})`}>
    <rect class=${'box ' + cls} width=${WIDTH} height=${HEIGHT} rx="4"/>${folded && html`<rect class=${'box ' + cls} x="3" y="3" width=${WIDTH} height=${HEIGHT} rx="4"/>`}
    ${selected && html`<rect class="selbox" x="-3" y="-3" width=${WIDTH + 6} height=${HEIGHT + 6} rx="6"/>`}
    <svg class=${'i ' + cls} x="8" y="9" width="14" height="14"><use href=${'#' + cls}/></svg>
    <text class=${'tn' + (pale ? ' dim' : '')} x="27" y="20">${name}</text><text class=${state === 'FAILED' ? 'bad' : 'q'} x="27" y="36">${text}</text></g></a>`;
}

const curve = (x1, y1, x2, y2) => `C${(x1 + x2) / 2} ${y1} ${(x1 + x2) / 2} ${y2} ${x2} ${y2}`;

/** A line from one box to another, past the boxes of the columns between them, with its tip. */
function Edge({ from, to, through, kind }) {
  const end = { x: to.x - 6, y: to.y + HEIGHT / 2 };
  let x = from.x + WIDTH;
  let y = from.y + HEIGHT / 2;
  let d = `M${x} ${y}`;
  for (const point of through) {
    d += curve(x, y, point.x, point.y) + `h${WIDTH}`;
    x = point.x + WIDTH;
    y = point.y;
  }
  return html`<path class=${'edge ' + kind} d=${d + curve(x, y, end.x, end.y)}/><path class=${'tip ' + kind} d=${`M${end.x + 6} ${end.y}l-7-4v8z`}/>`;
}

function Drawing({ run, tasks, path, query }) {
  const [zoom, setZoom] = useState(null);
  const unfolded = query.getAll('unfold');
  const shape = JSON.stringify([tasks.map(task => [task.name, task.after]), unfolded]);
  const plan = useMemo(() => arrange(fold(tasks, unfolded), { width: WIDTH, height: HEIGHT }), [shape]);
  const boxes = fold(tasks, unfolded);
  const critical = new Set(path.slice(1).map((name, index) => `${path[index]}\n${name}`));
  const kindOf = (parent, box) => {
    if (parent.tasks.some(one => box.tasks.some(two => critical.has(`${one.name}\n${two.name}`)))) return 'crit';
    const state = stateOf(box.tasks);
    return state === 'SKIPPED' || state === 'CANCELLED' ? 'not' : '';
  };
  const named = new Map(boxes.map(box => [box.name, box]));
  const edges = plan.lines.map(line => ({ from: plan.at.get(line.from), to: plan.at.get(line.to), through: line.through, kind: kindOf(named.get(line.from), named.get(line.to)) }));
  edges.sort((a, b) => (a.kind === 'crit') - (b.kind === 'crit'));
  const size = zoom ? { width: plan.width * zoom + 'px' } : { maxWidth: plan.width + 'px', margin: '0 auto' };
  return html`<section class="panel" aria-label="Graph"><div class="ph"><h2>Graph</h2>
      <span class="leg wide"><span><svg><path class="edge crit" d="M0 6h22"/></svg>critical path</span><span><svg><path class="edge" d="M0 6h22"/></svg>comes after</span><span><svg><path class="edge not" d="M0 6h22"/></svg>not taken</span></span>
      ${unfolded.length > 0 && html`<a class="sm" data-replace href=${here({ unfold: null })}>Fold again</a>`}
      <span class="end seg"><button class="text" aria-label="Smaller" onClick=${() => setZoom((zoom ?? 1) / 1.3)}>−</button><button class="text" onClick=${() => setZoom(null)}>Fit</button><button class="text" aria-label="Larger" onClick=${() => setZoom((zoom ?? 1) * 1.3)}>+</button></span></div>
    <div class="pb dagbox"><svg class="dag" style=${size} viewBox=${`0 0 ${plan.width} ${plan.height}`} role="group" aria-label=${`Tasks of ${run.id}, left to right`}>
      ${edges.map(edge => html`<${Edge} ...${edge}/>`)}
      ${boxes.map(box => html`<${Box} key=${box.name} box=${box} at=${plan.at.get(box.name)} selected=${query.get('at') === box.name}/>`)}</svg></div></section>`;
}

/** The same tasks as a table, those of the critical path first. */
function Table({ tasks, path, query, run }) {
  const order = new Map(path.map((name, index) => [name, index - path.length]));
  const sorted = [...tasks].sort((a, b) => (order.get(a.name) ?? 0) - (order.get(b.name) ?? 0));
  const times = tasks.flatMap(task => [millis(task.started_at), millis(task.ended_at)]).filter(value => value != null);
  const start = Math.min(...times, millis(run.created_at));
  const end = hasEnded(run.state) ? Math.max(...times, millis(run.changed_at)) : now();
  const share = at => `${(((at - start) / Math.max(1, end - start)) * 100).toFixed(2)}%`;
  const bar = task => {
    const from = millis(task.started_at);
    if (from == null) return null;
    const cls = { FAILED: 'fail', RUNNING: 'f-running', COMPLETED: 'f-completed' }[task.state] ?? 'o-' + stateClass(task.state);
    const width = (took(task) / Math.max(1, end - start)) * 100;
    return html`<rect class=${cls} x=${share(from)} y="1" width=${width < 0.6 ? 3 : width.toFixed(2) + '%'} height="12" rx="2"/>`;
  };
  return html`<${Panel} title="Tasks" note="critical path first"><div class="scroll"><table>
    <thead><tr><th>State</th><th>Task</th><th></th><th>Comes after</th><th class="n">Took</th><th class="g">${time(start)} to ${hasEnded(run.state) ? time(end) : 'now'}</th></tr></thead>
    <tbody>${sorted.map(task => html`<tr key=${task.name} aria-selected=${query.get('at') === task.name ? 'true' : null}><td><${State} state=${task.state}/></td><td><a class="id" data-replace href=${here({ at: task.name })}>${task.name}</a></td><td>${order.has(task.name) && html`<span class="tag">critical</span>`}</td>
      <td class="sm m2" title=${task.after.join(', ')}>${cut(task.after.join(', '), 40)}</td><td class="n">${length(took(task))}</td><td class="g"><svg class="gl" aria-hidden="true">${bar(task)}</svg></td></tr>`)}</tbody></table></div><//>`;
}

/** The names of all tasks that come after a task, near or far. */
function later(task, tasks) {
  const found = new Set();
  const visit = name => tasks.filter(one => one.after.includes(name) && !found.has(one.name)).forEach(one => {
    found.add(one.name);
    visit(one.name);
  });
  visit(task.name);
  return [...found];
}

function TaskDrawer({ run, task, tasks, reload }) {
  const off = session.refusal() ?? (hasEnded(run.state) ? null : 'Tasks run again only when the run has ended. Wait, or cancel it.');
  const next = tasks.filter(one => one.after.includes(task.name)).map(one => one.name);
  const names = list => list.map((name, index) => html`${index ? ', ' : ''}<a data-replace href=${here({ at: name })}>${name}</a>`);
  return html`<aside class="dr" aria-label=${'Task ' + task.name}>
    <div class="drh"><strong class="mono">${task.name}</strong><${State} state=${task.state}/><span class="end acts"><button class="btn" onClick=${() => go(here({ at: null }), { replace: true })}>Esc</button></span></div>
    <section><dl class="kv"><dt>Run</dt><dd><${RunLink} id=${task.run ?? `${run.id}/${task.name}`}/></dd>
      ${task.started_at && html`<dt>Began</dt><dd>${time(task.started_at)}</dd><dt>Took</dt><dd>${length(took(task))}</dd>`}
      ${task.attempts > 0 && html`<dt>Attempts</dt><dd>${number(task.attempts)}</dd>`}
      ${task.after.length > 0 && html`<dt>Comes after</dt><dd>${names(task.after)}</dd>`}
      ${next.length > 0 && html`<dt>Before</dt><dd>${names(next)}</dd>`}
    </dl><div class="acts"><button class="btn" disabled=${Boolean(off)} title=${off} onClick=${() => rerun(run, task.name, later(task, tasks), reload)}>Run again…</button></div></section>
    ${task.reason && html`<section><h2>${task.state === 'FAILED' ? 'Error' : 'Why'}</h2><p class="err">${task.reason}</p></section>`}
  </aside>`;
}

const summary = tasks => {
  const counts = new Map();
  tasks.forEach(task => counts.set(task.state, (counts.get(task.state) ?? 0) + 1));
  return [...counts].map(([state, count]) => `${number(count)} ${state.toLowerCase().replace('_', ' ')}`).join(', ');
};

export function Graph({ run, tasks, query, reload }) {
  const path = criticalPath(tasks, now());
  const selected = tasks.find(task => task.name === query.get('at'));
  return html`<div class=${'body' + (selected ? ' open' : '')}><main class="left">
    <p class="m2"><${Icon} name=${stateClass(run.state)} cls=${stateClass(run.state)}/> ${plural(tasks.length, 'task')}: ${summary(tasks)}.</p>
    <${Drawing} run=${run} tasks=${tasks} path=${path} query=${query}/>
    <${Table} run=${run} tasks=${tasks} path=${path} query=${query}/></main>
    ${selected && html`<${TaskDrawer} run=${run} task=${selected} tasks=${tasks} reload=${reload}/>`}</div>`;
}
