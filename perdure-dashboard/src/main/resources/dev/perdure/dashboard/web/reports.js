// What a run tells while it goes on: log lines of its steps, values that it publishes, and how far its steps are.
import { html, useState, Answer, Choice, Panel } from './view.js';
import { here } from './router.js';
import { number, plural, relative, simpleName, time } from './format.js';
import { useData } from './live.js';
import { log as readLog, published as readPublished, topics as readTopics } from './api.js';
import { Json } from './json.js';

const LEVELS = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR'];
const LOUD = { WARN: 'backing-off', ERROR: 'failed' };

/** The log lines of the steps, with a level from which on they are shown. */
export function Log({ id, live, query }) {
  const answer = useData('log' + id, () => readLog(id), { live });
  const from = LEVELS.includes(query.get('level')) ? query.get('level') : 'TRACE';
  const fits = line => LEVELS.indexOf(line.level) >= LEVELS.indexOf(from);
  return html`<main class="left"><${Panel} title="Log" note="what the steps have logged, oldest first" extra=${html`<${Choice} value=${from} options=${[['TRACE', 'All'], ['INFO', 'Info'], ['WARN', 'Warnings'], ['ERROR', 'Errors']]} href=${level => here({ level: level === 'TRACE' ? null : level })}/>`}>
    <${Answer} of=${answer}>${data => data.lines.length === 0
      ? html`<p class="empty">No step has logged a line. Add <code>RunLogAppender</code> of <code>perdure-logback</code> to the logging configuration of the workers to see them here.</p>`
      : html`${data.dropped > 0 && html`<p class="empty">${plural(data.dropped, 'older line')} ${data.dropped === 1 ? 'is' : 'are'} not kept.</p>`}
        <ol class="log" tabindex="0">${data.lines.filter(fits).map(line => html`<li key=${line.number} class=${LOUD[line.level] ?? ''}>
          <time datetime=${line.at}>${time(line.at, 3)}</time><b>${line.level}</b><span class="ls"><a data-replace href=${here({ tab: 'timeline', level: null, at: line.position })}>${line.step}</a>${line.attempt > 1 && html` <span class="m3">attempt ${number(line.attempt)}</span>`}</span><span class="lt">${line.text}</span><span class="ll m3" title=${line.logger}>${simpleName(line.logger)}</span></li>`)}</ol>
        ${!data.lines.some(fits) && html`<p class="empty">No line of this level. <a href=${here({ level: null })}>Show all ${number(data.lines.length)}</a>.</p>`}`}<//><//></main>`;
}

function Topic({ id, topic, live }) {
  const [open, setOpen] = useState(null);
  const answer = useData('published' + id + '\n' + topic.topic, () => readPublished(id, topic.topic), { live });
  return html`<${Panel} title=${html`<span class="mono">${topic.topic}</span>`} note=${`${plural(topic.values, 'value')}${topic.more ? ' and more' : ''}, the latest ${relative(topic.latest_at)}`}>
    <${Answer} of=${answer}>${data => html`<div class="scroll"><table><thead><tr><th>Published</th><th class="n">Offset</th><th>Value</th></tr></thead>
      <tbody>${data.values.map(value => html`<tr onClick=${() => setOpen(open === value.offset ? null : value.offset)}><td class="nw">${time(value.at, 3)}</td><td class="n mono"><button class="text m2" aria-expanded=${String(open === value.offset)} aria-label=${`Value ${value.offset}`}>${value.offset}</button></td><td class="cut mono sm">${JSON.stringify(value.value)}</td></tr>
        ${open === value.offset && html`<tr class="note"><td colspan="3"><${Json} value=${value.value}/></td></tr>`}`)}</tbody></table></div>
      ${data.more && html`<p class="empty">There are more. Follow them with <code>Run.published(…)</code>.</p>`}`}<//><//>`;
}

/** What the run has published, by topic. */
export function Published({ id, live }) {
  const answer = useData('topics' + id, () => readTopics(id), { live });
  return html`<main class="left"><${Answer} of=${answer}>${data => data.topics.length === 0
    ? html`<${Panel} title="Published"><p class="empty">The run has published nothing. Publish with <code>ctx.publish(topic, value)</code>.</p><//>`
    : data.topics.map(topic => html`<${Topic} key=${topic.topic} id=${id} topic=${topic} live=${live}/>`)}<//></main>`;
}

const percent = fraction => (fraction < 1 ? Math.min(99, Math.round(fraction * 100)) : 100);

/** How far the steps are that have not ended: a bar where they say a fraction, and what they say about it. */
export function Progress({ steps }) {
  const told = (steps ?? []).filter(step => step.fraction != null || step.message);
  if (!told.length) return null;
  return html`<ul class="progress" aria-label="Progress">${told.map(step => html`<li key=${step.position}><span class="mono">${step.step}</span>
    ${step.fraction != null && html`<svg role="img" aria-label=${percent(step.fraction) + ' %'}><rect class="t" x=".5" y=".5" width="159" height="7" rx="2"/><rect class="v" x="1" y="1" width=${(158 * Math.max(0, Math.min(1, step.fraction))).toFixed(1)} height="6" rx="1.5"/></svg><b>${percent(step.fraction)} %</b>`}
    <span class="m2">${step.message}</span>${step.attempt > 1 && html`<span class="m3">attempt ${number(step.attempt)}</span>`}<span class="m3">${relative(step.at)}</span></li>`)}</ul>`;
}
