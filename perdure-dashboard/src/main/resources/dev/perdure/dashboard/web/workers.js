// Workers and versions, and the database that they share.
import { html, Answer, Count, Icon, Panel, Titles } from './view.js';
import { go, link } from './router.js';
import { bounded, bytes, isPart, millis, now, number, plural, relative, time } from './format.js';
import { useData, useSecond } from './live.js';
import { actOnVersion, status, versions as readVersions, workers as readWorkers } from './api.js';
import { attempt, confirm } from './confirm.js';
import { session } from './session.js';

const STATES = {
  ACTIVE: { means: 'takes runs' },
  DRAINING: { icon: 'backing-off', means: 'takes no more runs, and ends those that are pinned to it' },
  DRAINED: { icon: 'completed', means: 'takes no more runs and has none left: it may be switched off' },
  NO_WORKER: { icon: 'failed', means: 'runs are pinned to it, and no live worker has it: start one, or move the runs' },
};

const VersionState = ({ state }) => {
  const { icon } = STATES[state] ?? {};
  return icon ? html`<span class=${'st ' + icon}><${Icon} name=${icon}/>${state}</span>` : html`<span class="m3 sm">${state.toLowerCase()}</span>`;
};

const drains = version => version.state === 'DRAINING' || version.state === 'DRAINED';

/** Drain asks first, because workers of the version take nothing more from then on. */
function Toggle({ version, definition, draining, reload }) {
  const off = session.refusal();
  const what = definition ? `${definition} in ${version.name}` : version.name;
  const act = action => async () => { await actOnVersion(version.name, action, definition); reload(); };
  const drain = () => confirm({
    title: `Drain ${what}?`,
    lines: [{ count: number(version.workers), text: `${version.workers === 1 ? 'worker takes' : 'workers take'} no more runs${definition ? ` of ${definition}` : ''} but those that are pinned to ${version.name}. Others must have another version, or new runs wait.` },
      { text: 'Workers notice it within a quarter of their lease. Resume takes it back.' }],
    verb: 'Drain it', keep: 'Leave it active', run: act('drain'),
  });
  return html`<button class="text" disabled=${Boolean(off)} title=${off} onClick=${draining ? attempt(act('resume')) : drain}>${draining ? 'Resume' : 'Drain…'}</button>`;
}

function Definitions({ version, reload }) {
  return html`<${Panel} title=${html`<span class="mono">${version.name}</span>: definitions`} note=${STATES[version.state]?.means}>
    <div class="scroll"><table><thead><tr><th>Definition</th><th class="n">Workers</th><th class="n">Pinned runs</th><th></th><th></th></tr></thead>
      <tbody>${version.definitions.filter(one => !isPart(one.name, version.definitions.map(other => other.name))).map(one => html`<tr><td><a class="id" href=${link('/runs', { definition: one.name, version: version.name })}>${one.name}</a></td><td class="n"><${Count} value=${one.workers}/></td><td class="n"><${Count} value=${one.runs}/></td>
        <td class="sm m2">${one.draining ? 'takes no more' : ''}</td><td class="n"><${Toggle} version=${version} definition=${one.name} draining=${one.draining} reload=${reload}/></td></tr>`)}</tbody></table></div><//>`;
}

function Versions({ name }) {
  const answer = useData('versions', readVersions);
  const chosen = name && answer.data?.versions.find(one => one.name === name);
  return html`<div class=${chosen ? 'c2' : 'col'}><${Panel} title="Versions" note="of live workers and of live pinned runs">
    <${Answer} of=${answer}>${data => data.versions.length === 0 ? html`<p class="empty">No worker has a version. Give one with <code>Perdure.on(store).version("2026.11.4")</code> to drain old code before you switch it off.</p>` : html`<div class="scroll"><table>
      <thead><tr><th>Version</th><th>State</th><th>Means</th><th class="n">Workers</th><th class="n">Pinned runs</th><th></th></tr></thead>
      <tbody>${data.versions.map(version => html`<tr aria-selected=${version.name === name ? 'true' : null} onClick=${event => event.target.closest('a, button') || go(link('/workers/' + version.name))}>
        <td><a class="id" href=${link('/workers/' + version.name)}>${version.name}</a></td><td><${VersionState} state=${version.state}/></td><td class="cut m2" title=${STATES[version.state]?.means}>${STATES[version.state]?.means}</td><td class="n"><${Count} value=${version.workers}/></td><td class="n"><${Count} value=${version.runs} href=${link('/runs', { version: version.name })}/></td>
        <td class="n"><${Toggle} version=${version} draining=${drains(version)} reload=${answer.reload}/></td></tr>`)}</tbody></table></div>`}<//><//>
    ${chosen && html`<${Definitions} version=${chosen} reload=${answer.reload}/>`}</div>`;
}

/** A worker whose lease has ended is about to be swept: others take its runs. */
const Lease = ({ until }) => (millis(until) > now() ? html`<span class="m2">${relative(until)}</span>`
  : html`<span class="st failed"><${Icon} name="failed"/>ended ${relative(until)}</span>`);

/** How much of the heap of its process a worker uses, as of the last renewal of its lease. */
function Heap({ worker, brief }) {
  if (worker.heap_max == null) return html`<span class="m3 sm">not known yet</span>`;
  const text = `${bytes(worker.heap_used)} of ${bytes(worker.heap_max)}`;
  return html`<svg class="use heap" role="img" aria-label=${text}><rect class="t" x=".5" y="1.5" width="59" height="7" rx="2"/><rect class="v" x="1" y="2" width=${Math.max(1, Math.round((58 * worker.heap_used) / worker.heap_max))} height="6" rx="1.5"/></svg><span class="sm m2 nw" title=${text}> ${brief ? bytes(worker.heap_used) : text}</span>`;
}

const NAMES = 3;
const some = names => (names.length > NAMES ? `${names.slice(0, NAMES).join(', ')} and ${number(names.length - NAMES)} more` : names.join(', '));

/** Without what belongs to the engine itself, and without tasks of DAGs. */
const own = names => names.filter(name => !name.startsWith('perdure.') && !isPart(name, names));

const labels = worker => Object.entries(worker.labels ?? {}).filter(([, value]) => value !== worker.id).map(([name, value]) => `${name}=${value}`);

export function Workers({ name }) {
  useSecond();
  const answer = useData('workers', readWorkers);
  const held = answer.data?.workers.reduce((sum, one) => sum + one.held, 0);
  return html`<main class="page"><div class="hd"><${Titles} of="workers"/>${answer.data && html`<span class="m3 sm">${plural(answer.data.workers.length, 'worker')} alive, holding ${plural(held, 'run')}</span>`}</div>
    <${Panel} label="Workers"><${Answer} of=${answer}>${data => data.workers.length === 0
      ? html`<p class="empty">No worker is alive, so no run moves. Start a process with <code>Perdure.on(store).register(…).start()</code>.</p>` : html`<div class="scroll"><table>
      <thead><tr><th>Worker</th><th>Version</th><th class="n">Runs held</th><th>Heap</th><th class="n">Lease ends</th><th>Queues</th><th>Definitions</th><th>Labels</th><th></th></tr></thead>
      <tbody>${data.workers.map(worker => html`<tr><td class="id">${worker.id}</td><td>${worker.version ? html`<a href=${link('/workers/' + worker.version)}>${worker.version}</a>` : html`<span class="m3">none</span>`}</td><td class="n"><${Count} value=${worker.held}/></td><td class="nw"><${Heap} worker=${worker}/></td><td class="n"><${Lease} until=${worker.lease_until}/></td>
        <td class="sm m2" title=${worker.queues.join(', ')}>${some(own(worker.queues))}</td><td class="cut sm m2" title=${worker.definitions.join(', ')}>${some(own(worker.definitions))}</td><td class="sm m2">${labels(worker).join(', ')}</td>
        <td class="n">${worker.draining ? html`<span class="tag">draining</span>` : worker.drains.length > 0 && html`<span class="tag" title=${worker.drains.join(', ')}>drains ${number(worker.drains.length)}</span>`}</td></tr>`)}</tbody></table></div>`}<//><//>
    <${Versions} name=${name}/></main>`;
}

/** Who holds how many runs, and with how much heap, for the overview. */
export function WorkersPanel() {
  const answer = useData('workers', readWorkers, { every: 3000 });
  return html`<${Panel} title="Workers" note=${answer.data ? `${number(answer.data.workers.length)} alive` : null} extra=${html`<a class="end sm" href=${link('/workers')}>Show all</a>`}>
    <${Answer} of=${answer}>${data => data.workers.length === 0 ? html`<p class="empty">No worker is alive, so no run moves.</p>` : html`<table>
      <thead><tr><th>Worker</th><th>Version</th><th class="n">Runs held</th><th>Heap</th></tr></thead>
      <tbody>${[...data.workers].sort((a, b) => b.held - a.held).slice(0, 8).map(worker => html`<tr><td class="cut id" title=${worker.id}>${worker.id}</td><td class="sm m2">${worker.version}</td><td class="n"><${Count} value=${worker.held}/></td>
        <td class="nw"><${Heap} worker=${worker} brief/></td></tr>`)}</tbody></table>`}<//><//>`;
}

export function Database() {
  const answer = useData('status', status, { every: 3000 });
  return html`<main class="page"><div class="hd"><${Titles} of="database"/>${answer.data && html`<span class="m3 sm">${plural(answer.data.workers, 'worker')} alive, ${bounded({ runs: answer.data.removal_due, more: answer.data.removal_more })} runs due for removal</span>`}</div>
    <${Answer} of=${answer}>${data => html`
      <${Panel} title="Findings">${data.findings.length === 0 ? html`<p class="empty">Nothing is wrong.</p>` : html`<ul class="att">${data.findings.map(finding => html`<li><${Icon} name="failed" cls="failed"/><span class="w"><b>${finding.what}</b> <span class="m2">${finding.remedy}</span></span></li>`)}</ul>`}<//>
      <${Panel} title="Tables" note="largest first"><div class="scroll"><table><thead><tr><th>Table</th><th class="n">Rows</th><th class="n">Dead rows</th><th class="n">Size</th><th class="n">Indexes</th><th class="n">Last vacuum</th></tr></thead>
        <tbody>${[...data.tables].sort((a, b) => b.bytes + b.index_bytes - a.bytes - a.index_bytes).map(table => html`<tr><td class="mono">${table.name}</td><td class="n">${number(table.rows)}</td><td class="n">${number(table.dead_rows)}</td><td class="n">${bytes(table.bytes)}</td><td class="n">${bytes(table.index_bytes)}</td><td class="n m2">${table.vacuumed_at ? relative(table.vacuumed_at) : 'never'}</td></tr>`)}</tbody></table></div><//>
      <p class="sm m3">As of ${time(data.at)}.${data.oldest_transaction ? ` The oldest open transaction began ${relative(data.oldest_transaction.since)}: ${data.oldest_transaction.session}.` : ''}</p>`}<//></main>`;
}
