// Figures of the overview: how many runs start, end and fail over a span, how long they are ready until a worker takes them,
// definitions with most failures first, and errors by type and step.
import { html, Answer, Choice, Count, Panel } from './view.js';
import { here, link } from './router.js';
import { length, millis, now, number, plural, relative, shortened, simpleName, time } from './format.js';
import { useData } from './live.js';
import { definitionFigures, errors as readErrors, overTime, rates as readRates, waits as readWaits } from './api.js';
import { Key, Plot, Spark } from './plot.js';
import { whole } from './definitions.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Each span with the number of its points, and of those of a chart that reads each point for itself. */
const SPANS = {
  '5 min': { length: 5 * MINUTE, bars: 30, few: 30 },
  '1 h': { length: HOUR, bars: 60, few: 30 },
  '6 h': { length: 6 * HOUR, bars: 72, few: 36 },
  '24 h': { length: 24 * HOUR, bars: 48, few: 24 },
  '7 d': { length: 168 * HOUR, bars: 84, few: 28 },
};
const FIRST = '5 min';

const iso = at => new Date(at).toISOString();

/**
 * The span that the address names: {name, from, to, bars, few, step}. Its last part is not over; whole: {from, to} ends
 * before it, for what is counted, because half a part would look like a fall.
 */
export function spanOf(query) {
  const name = Object.hasOwn(SPANS, query.get('span')) ? query.get('span') : FIRST;
  const { length, bars, few } = SPANS[name];
  const step = length / bars;
  const over = Math.floor(now() / step) * step;
  const whole = { from: iso(over - length), to: iso(over) };
  return { name, live: name === FIRST, from: iso(over + step - length), to: iso(over + step), whole, bars, few, step };
}

export const SpanChoice = ({ span }) => html`<${Choice} value=${span.name} options=${Object.keys(SPANS).map(name => [name, name])} href=${name => here({ span: name === FIRST ? null : name })}/>`;

const SECONDS = 300;
const STEP = 3; // seconds in one point of a line
const SECOND = 1000;

/** The mean of each few seconds that are known: single seconds of a quiet store would be a row of spikes. */
function series({ from, to, seconds }, name) {
  const start = millis(from);
  const parts = Array.from({ length: Math.max(1, Math.floor((millis(to) - start) / (STEP * SECOND))) }, () => []);
  seconds.forEach(second => parts[Math.floor((millis(second.at) - start) / (STEP * SECOND))]?.push(second[name]));
  return parts.map(part => (part.length ? mean(part) : null));
}

const mean = values => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
const short = value => (value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString('en'));

/** Starts, ends and failures of a span: of each second, or of longer parts: {from, to, started, ended, failed}. */
async function read(span) {
  if (!span.live) return overTime({ ...span.whole, bars: span.bars });
  const data = await readRates(SECONDS);
  return { from: data.from, to: data.to, started: series(data, 'started'), ended: series(data, 'ended'), failed: series(data, 'failed') };
}

const Lines = ({ answer, label, lines }) => html`<${Answer} of=${answer}>${data =>
  html`<div class="chart"><${Plot} lines=${lines(data)} from=${millis(data.from)} to=${millis(data.to)} label=${label(data)}/></div>`}<//>`;

const UNITS = [['min', 60_000], ['s', SECOND], ['ms', 1]];

/** The unit in which a chart of lengths has the fewest digits: [name, milliseconds]. */
const unitFor = most => UNITS.find(([, size]) => most >= 2 * size) ?? UNITS.at(-1);

function Waits({ span }) {
  const answer = useData('waits' + span.name, () => readWaits({ from: span.from, to: span.to, bars: span.few }), { every: 5000 });
  const bars = answer.data?.bars ?? [];
  const longest = Math.max(0, ...bars.map(bar => bar.max_ms ?? 0));
  const [unit, size] = unitFor(longest);
  const values = name => bars.map(bar => (bar[name] == null ? null : bar[name] / size));
  const count = bars.reduce((sum, bar) => sum + bar.count, 0);
  return html`<${Panel} title="Ready to running" note=${unit} extra=${html`<span class="end keys2"><${Key} cls="a" text="median"/><${Key} cls="m" text="longest"/></span>`}><${Answer} of=${answer}>${() => count === 0
    ? html`<p class="empty">No run of this span was ready and waited. A run that its own worker starts begins at once.</p>`
    : html`<div class="chart"><${Plot} lines=${[{ cls: 'a', values: values('p50_ms') }, { cls: 'm', values: values('max_ms') }]} from=${millis(span.from)} to=${millis(span.to)} label=${`A sample of ${count} runs was ready for at most ${length(longest)} until a worker took them`}/></div>`}<//><//>`;
}

export function Rates({ span }) {
  const answer = useData('rates' + span.name, () => read(span), { every: span.live ? 2000 : 5000 });
  const unit = span.live ? 'a second' : `per ${length(span.step)}`;
  const about = (data, name) => short(mean(data[name].filter(value => value != null)));
  return html`<div class="c3">
    <${Panel} title="Runs" note=${unit} extra=${html`<span class="end keys2"><${Key} cls="a" text="started"/><${Key} cls="d" text="ended"/></span>`}>
      <${Lines} answer=${answer} lines=${data => [{ cls: 'a', values: data.started }, { cls: 'd', values: data.ended }]} label=${data => `On average ${about(data, 'started')} runs ${unit} are started, and ${about(data, 'ended')} end`}/><//>
    <${Panel} title="Failures" note=${unit} extra=${html`<span class="end"><${Key} cls="f" text="runs that ended FAILED"/></span>`}>
      <${Lines} answer=${answer} lines=${data => [{ cls: 'f', values: data.failed }]} label=${data => `On average ${about(data, 'failed')} runs ${unit} fail`}/><//>
    <${Waits} span=${span}/></div>`;
}

const ROWS = 8;
const PARTS = 12;
const EVERY = 5000;

const spread = failures => failures.reduce((parts, { part, runs }) => parts.with(part, runs), Array(PARTS).fill(0));

export function DefinitionsPanel() {
  const answer = useData('definition figures', definitionFigures, { every: EVERY });
  const used = whole(answer.data?.definitions ?? []).filter(one => one.runs > 0);
  const shown = used.sort((a, b) => b.failed - a.failed || b.runs - a.runs).slice(0, ROWS);
  const top = Math.max(1, ...shown.flatMap(one => one.failures.map(part => part.runs)));
  const cell = (name, state, count) => html`<td class="n"><${Count} value=${count} href=${link('/runs', { definition: name, state })}/></td>`;
  return html`<${Panel} title="Definitions" note=${answer.data?.since ? `most failures first, of the newest ${plural(answer.data.looked, 'run')}, since ${time(answer.data.since)}` : 'most failures first'} extra=${html`<a class="end sm nw" href=${link('/definitions')}>Show all</a>`}>
    <${Answer} of=${answer}>${() => shown.length === 0 ? html`<p class="empty">No run was started in the last 24 h.</p>` : html`<div class="scroll"><table>
      <thead><tr><th>Name</th><th class="n">Running</th><th class="n">Waiting</th><th class="n">Paused</th><th class="n">Failed</th><th>Failures</th><th class="n">Median</th><th class="n">99 %</th></tr></thead>
      <tbody>${shown.map(one => html`<tr><td><a class="id" href=${link('/definitions/' + one.name)}>${one.name}</a></td>${cell(one.name, 'RUNNING', one.running)}<td class="n"><${Count} value=${one.live - one.running - one.paused}/></td>${cell(one.name, 'PAUSED', one.paused)}${cell(one.name, 'FAILED', one.failed)}<td><${Spark} values=${spread(one.failures)} top=${top} cls="f"/></td><td class="n">${length(one.durations?.p50_ms)}</td><td class="n">${length(one.durations?.p99_ms)}</td></tr>`)}</tbody></table></div>`}<//><//>`;
}

/** What was wrong, without the sentence around it that names the step. */
const cause = group => shortened(group.message).replace(/^Step '.*?' failed after \S+ attempts?: (\w[\w$.]*: )?/, '');

/** Groups of messages as groups of types and steps, each with its most frequent message: most runs first. */
function byTypeAndStep(failures) {
  const same = new Map();
  failures.forEach(group => {
    const key = group.type + '\n' + group.step;
    const one = same.get(key) ?? { ...group, runs: 0 };
    const newer = millis(group.last_at) > millis(one.last_at) ? { last_at: group.last_at, latest: group.latest } : {};
    same.set(key, { ...one, ...newer, runs: one.runs + group.runs });
  });
  return [...same.values()].sort((a, b) => b.runs - a.runs);
}

export function ErrorsPanel({ span }) {
  const answer = useData('errors' + span.name, () => readErrors(span.from), { every: EVERY });
  return html`<${Panel} title="Errors" note=${`by type and step, of runs started in the last ${span.name}`}>
    <${Answer} of=${answer}>${data => data.failures.length === 0 ? html`<p class="empty">No run of this span has failed.</p>` : html`<table class="errors">
      <thead><tr><th>Error</th><th>Step</th><th class="n">Runs</th><th class="n">Last</th></tr></thead>
      <tbody>${byTypeAndStep(data.failures).slice(0, ROWS).map(group => html`<tr title=${group.example}><td class="cut"><span class="mono">${simpleName(group.type)}</span> <span class="m2">${cause(group)}</span></td><td>${group.step ?? html`<span class="m3">none</span>`}</td><td class="n">${number(group.runs)}</td><td class="n"><a href=${link('/runs/' + group.latest)}>${relative(group.last_at)}</a></td></tr>`)}</tbody></table>`}<//><//>`;
}
