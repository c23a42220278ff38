// Schedules: past and coming fire times on one line, what they started, and whether they are paused.
import { html, Answer, Choice, Icon, Panel, RunLink, State, stateClass } from './view.js';
import { go, here, link } from './router.js';
import { clock, length, millis, now, number, plural, relative, shortened, time, withLengths, zoneOffset } from './format.js';
import { useData, useSecond } from './live.js';
import { actOnSchedule, firedRuns, schedules as readSchedules } from './api.js';
import { attempt, confirm } from './confirm.js';
import { session } from './session.js';

const HOUR = 3_600_000;
const SPANS = { '1 h': HOUR / 2, '12 h': 6 * HOUR, '48 h': 24 * HOUR, '14 d': 168 * HOUR };

const SOURCES = { CODE: 'in the code', CHANGED: 'in the code, and changed at run time', RUN_TIME: 'at run time' };

const CRON = / \((cron [^)]*)\)/g;

/** When a schedule fires, in words: "every PT1M" as "every 1 min", and no cron expression that has words. */
const rule = schedule => withLengths(schedule.when.replace(CRON, '')).replace(/ in Z\b/g, ' in UTC');

/** Its cron expressions that have words. */
const expressions = schedule => [...schedule.when.matchAll(CRON)].map(found => found[1].slice('cron '.length));

/** What came of a run in one line: its result, or why it failed. */
const cameOf = run => (run?.reason ? shortened(run.reason) : run?.result == null ? '' : typeof run.result === 'string' ? run.result : JSON.stringify(run.result));

/** Fire times around now, on a line whose middle is now. */
function Line({ schedule, half }) {
  const middle = now();
  const x = at => `${(((millis(at) - middle + half) / (2 * half)) * 100).toFixed(2)}%`;
  const inside = at => Math.abs(millis(at) - middle) <= half;
  const later = schedule.next[0] && !inside(schedule.next[0]) && millis(schedule.next[0]) > middle;
  return html`<svg class="cl" aria-hidden="true"><line class="rail" x2="100%" y1="17" y2="17"/><line class="now" x1="50%" x2="50%" y2="34"/>
    ${schedule.recent.filter(one => inside(one.scheduled_for)).map(one => { const cls = stateClass(one.state ?? 'CANCELLED'); return html`<svg class=${cls} x=${x(one.scheduled_for)} y="11" width="12" height="12" overflow="visible"><use href=${'#' + cls} x="-6" width="12" height="12"/></svg>`; })}
    ${schedule.paused == null && schedule.next.filter(inside).map(at => html`<circle class="fut" cx=${x(at)} cy="17" r="3.5"/>`)}
    ${later && html`<text class="e q" x="100%" dx="-8" y="21">${time(schedule.next[0])} →</text>`}</svg>`;
}

function Axis({ half }) {
  const middle = now();
  const step = [HOUR / 12, HOUR / 6, HOUR / 2, HOUR, 3 * HOUR, 6 * HOUR, 24 * HOUR, 48 * HOUR].find(size => (2 * half) / size <= 10) ?? 96 * HOUR;
  const marks = [];
  const offset = zoneOffset(middle);
  for (let at = Math.ceil((middle - half + offset) / step) * step - offset; at <= middle + half; at += step) marks.push(at);
  const fits = at => Math.abs(at - middle) > half / 12 && Math.abs(at - middle) < half * 0.95; // beside now, and inside
  const x = at => `${(((at - middle + half) / (2 * half)) * 100).toFixed(2)}%`;
  return html`<svg class="cl" aria-hidden="true">${marks.filter(fits).map(at => html`<text class="c q" x=${x(at)} y="31">${clock(at)}</text>`)}
    <rect class="nowbox" x="50%" y="5" width="62" height="14" rx="2" transform="translate(-31)"/><text class="c nowt" x="50%" y="15.5">now ${clock(middle)}</text><line class="now" x1="50%" x2="50%" y1="19" y2="38"/></svg>`;
}

function Detail({ schedule, reload }) {
  const off = session.refusal();
  const doing = (action, body) => async () => { await actOnSchedule(schedule.name, action, body); reload(); };
  const fire = () => confirm({
    title: `Start a run of ${schedule.name} now?`,
    lines: [{ text: `A run of ${schedule.definition} starts at once, besides the fire times of the schedule.` }],
    verb: 'Start a run', keep: 'Start nothing', run: doing('trigger'),
  });
  const paused = schedule.paused != null;
  const fired = useData('fired' + schedule.name, () => firedRuns(schedule.name), { every: 2000 });
  const runs = new Map(fired.data?.runs.map(run => [run.run, run]));
  const began = one => { const run = runs.get(one.run); return run ? length(Math.max(0, millis(run.created_at) - millis(one.scheduled_for))) : ''; };
  const took = run => (run?.ended_at ? length(millis(run.ended_at) - millis(run.created_at)) : '');
  return html`<div class="c2"><${Panel} title=${html`<span class="mono">${schedule.name}</span>`} note=${html`starts runs of <a class="mono" href=${link('/runs', { definition: schedule.definition })}>${schedule.definition}</a>`}
      extra=${html`<span class="end acts"><button class="btn" disabled=${Boolean(off)} title=${off} onClick=${fire}>Start now…</button><button class="btn" disabled=${Boolean(off)} title=${off} onClick=${attempt(doing(paused ? 'resume' : 'pause', paused ? undefined : { note: 'by the dashboard' }))}>${paused ? 'Resume' : 'Pause'}</button></span>`}>
      ${schedule.recent.length === 0 ? html`<p class="empty">It has not fired yet.</p>` : html`<div class="scroll"><table><thead><tr><th>Fire time</th><th>State</th><th>Run</th><th class="n">Began after</th><th class="n">Took</th><th>Result or error</th></tr></thead>
        <tbody>${schedule.recent.map(one => html`<tr><td class="nw">${time(one.scheduled_for)}</td><td>${one.state ? html`<${State} state=${one.state}/>` : html`<span class="m3">removed</span>`}</td><td><${RunLink} id=${one.run}/></td><td class="n">${began(one)}</td><td class="n">${took(runs.get(one.run))}</td><td class="cut" title=${cameOf(runs.get(one.run))}>${cameOf(runs.get(one.run))}</td></tr>`)}</tbody></table></div>`}<//>
    <${Panel} title="Next fire times">${schedule.next.length === 0 ? html`<p class="empty">It does not fire again.</p>` : html`<table><tbody>${schedule.next.map(at => html`<tr><td>${time(at)}</td><td class="n m2">${relative(at)}</td></tr>`)}</tbody></table>`}
      <div class="pb"><dl class="kv"><dt>Rule</dt><dd>${rule(schedule)}</dd>${expressions(schedule).map(text => html`<dt>Cron</dt><dd class="mono">${text}</dd>`)}<dt>Declared</dt><dd>${SOURCES[schedule.source]}</dd><dt>Fired</dt><dd>${number(schedule.fired)}</dd><dt>Failures in a row</dt><dd>${number(schedule.failures)}</dd>
        ${schedule.last_success && html`<dt>Last success</dt><dd>${time(schedule.last_success)}</dd>`}${schedule.last_skipped && html`<dt>Last skipped</dt><dd>${time(schedule.last_skipped)} ${schedule.skip_reason}</dd>`}${paused && html`<dt>Paused</dt><dd>${schedule.paused}</dd>`}${schedule.orphaned != null && html`<dt>Orphaned</dt><dd>${schedule.orphaned}</dd>`}</dl></div><//></div>`;
}

export function Schedules({ name, query }) {
  useSecond();
  const answer = useData('schedules', readSchedules);
  const span = SPANS[query.get('span')] ? query.get('span') : '48 h';
  const half = SPANS[span];
  return html`<main class="page"><div class="hd"><h1>Schedules</h1>${answer.data && html`<span class="m3 sm">${plural(answer.data.schedules.length, 'schedule')}, ${number(answer.data.schedules.filter(one => one.paused != null).length)} paused</span>`}
      <span class="end leg"><span><${Icon} name="completed" cls="completed"/>completed</span><span><${Icon} name="failed" cls="failed"/>failed</span><span><svg class="i"><circle class="fut" cx="7" cy="7" r="4"/></svg>fires</span></span>
      <${Choice} end=${false} value=${span} options=${Object.keys(SPANS).map(key => [key, key])} href=${key => here({ span: key })}/></div>
    <${Panel} label="Fire times" cls="cal"><${Answer} of=${answer}>${data => data.schedules.length === 0 ? html`<p class="empty">There is no schedule. Declare one with <code>Perdure.on(store).schedules(Schedule.cron("nightly", "30 2 * * *", zone, Invocation.of(Shop::report)))</code>.</p>` : html`
      <div class="cr ch"><div>Schedule</div><div>Fires</div><${Axis} half=${half}/><div>Last run</div><div class="nx">Next</div></div>
      ${data.schedules.map(schedule => { const last = schedule.recent[0]; return html`<div class="cr" key=${schedule.name} aria-selected=${schedule.name === name ? 'true' : null} onClick=${event => event.target.closest('a') || go(link('/schedules/' + schedule.name))}>
        <div><a class="id" href=${link('/schedules/' + schedule.name)}>${schedule.name}</a></div><div class="sm" title=${schedule.when}>${rule(schedule)}</div><${Line} schedule=${schedule} half=${half}/>
        <div>${last?.state && html`<${State} state=${last.state}/>`}</div><div class="nx">${schedule.paused != null ? html`<${State} state="PAUSED"/>` : schedule.next[0] ? html`${time(schedule.next[0])} <span class="m3 sm">in ${length(Math.max(0, millis(schedule.next[0]) - now()))}</span>` : ''}</div></div>`; })}`}<//><//>
    ${name && answer.data?.schedules.filter(one => one.name === name).map(schedule => html`<${Detail} schedule=${schedule} reload=${answer.reload}/>`)}</main>`;
}
