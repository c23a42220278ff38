// How many runs start, end and fail in a second, over the last minutes.
import { html, Answer, Panel } from './view.js';
import { millis } from './format.js';
import { useData } from './live.js';
import { rates as readRates } from './api.js';
import { Key, Plot } from './plot.js';

const SECONDS = 300;
const STEP = 3; // seconds in one point of a line
const SECOND = 1000;

/** The mean of each few seconds: single seconds of a quiet store would be a row of spikes. */
function series({ from, to, seconds }, name) {
  const start = millis(from);
  const values = Array.from({ length: Math.max(1, Math.floor((millis(to) - start) / (STEP * SECOND))) }, () => 0);
  seconds.forEach(second => {
    const index = Math.floor((millis(second.at) - start) / (STEP * SECOND));
    if (index < values.length) values[index] += second[name] / STEP;
  });
  return values;
}

const mean = values => values.reduce((sum, value) => sum + value, 0) / values.length;
const short = value => (value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString('en'));

export function Rates() {
  const answer = useData('rates', () => readRates(SECONDS), { every: 2000 });
  const draw = (data, lines, label) => html`<div class="chart"><${Plot} lines=${lines} from=${millis(data.from)} to=${millis(data.to)} label=${label}/></div>`;
  return html`<div class="two">
    <${Panel} title="Runs" note="a second" extra=${html`<span class="end keys2"><${Key} cls="a" text="started"/><${Key} cls="d" text="ended"/></span>`}><${Answer} of=${answer}>${data => {
      const started = series(data, 'started');
      const ended = series(data, 'ended');
      return draw(data, [{ cls: 'a', values: started }, { cls: 'd', values: ended }], `On average ${short(mean(started))} runs a second are started, and ${short(mean(ended))} end`);
    }}<//><//>
    <${Panel} title="Failures" note="a second" extra=${html`<span class="end"><${Key} cls="f" text="runs that ended FAILED"/></span>`}><${Answer} of=${answer}>${data => {
      const failed = series(data, 'failed');
      return draw(data, [{ cls: 'f', values: failed }], `On average ${short(mean(failed))} runs a second fail`);
    }}<//><//></div>`;
}
