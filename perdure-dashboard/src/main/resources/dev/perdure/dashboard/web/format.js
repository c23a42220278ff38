// How times, lengths and numbers are written. All times are shown in one zone, which the bar at the top names.

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const UNITS = [['d', 86_400_000], ['h', 3_600_000], ['min', 60_000], ['s', 1000]];

let utc = true;
let offset = 0;

/** The zone of all times: UTC, or that of the browser. */
export function showUtc(on) {
  utc = on;
}

/** The name of the zone that is shown. */
export const zone = () => (utc ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone);

/** The server's clock decides what "ago" means, because the browser's may be wrong. */
export function setServerTime(instant) {
  const there = Date.parse(instant);
  if (Number.isFinite(there)) offset = there - Date.now();
}

/** Milliseconds of now, by the server's clock. */
export const now = () => Date.now() + offset;

/** Milliseconds of an instant, or null. */
export function millis(instant) {
  if (instant == null) return null;
  const value = typeof instant === 'number' ? instant : Date.parse(instant);
  return Number.isFinite(value) ? value : null;
}

const two = number => String(number).padStart(2, '0');

/** The parts of an instant in the zone that is shown. */
export function parts(instant) {
  const date = new Date(millis(instant));
  return utc
    ? { year: date.getUTCFullYear(), month: date.getUTCMonth(), day: date.getUTCDate(), hour: date.getUTCHours(), minute: date.getUTCMinutes(), second: date.getUTCSeconds(), milli: date.getUTCMilliseconds() }
    : { year: date.getFullYear(), month: date.getMonth(), day: date.getDate(), hour: date.getHours(), minute: date.getMinutes(), second: date.getSeconds(), milli: date.getMilliseconds() };
}

/** "16 Nov", with the year only if it is another one. */
export function day(instant) {
  const at = parts(instant);
  return `${at.day} ${MONTHS[at.month]}` + (at.year === parts(now()).year ? '' : ` ${at.year}`);
}

const sameDay = (a, b) => a.day === b.day && a.month === b.month && a.year === b.year;

/** "13:38:58", with its day only if that is not today; with digits of the second where that is asked for. */
export function time(instant, digits = 0) {
  if (millis(instant) == null) return '';
  const at = parts(instant);
  const clock = `${two(at.hour)}:${two(at.minute)}:${two(at.second)}`
    + (digits ? '.' + String(at.milli).padStart(3, '0').slice(0, digits) : '');
  return sameDay(at, parts(now())) ? clock : `${day(instant)} ${clock}`;
}

/** "13:38", or the day at midnight: for axes. */
export function clock(instant) {
  const at = parts(instant);
  return at.hour || at.minute ? `${two(at.hour)}:${two(at.minute)}` : day(instant);
}

/** Milliseconds by which the zone that is shown is ahead of UTC. */
export const zoneOffset = instant => (utc ? 0 : -new Date(instant).getTimezoneOffset() * 60_000);

/** A length in at most two units: "8 min 12 s", "310 ms". */
export function length(ms) {
  if (ms == null || !Number.isFinite(ms)) return '';
  const whole = Math.max(0, ms);
  if (whole < 1000) return `${Math.round(whole)} ms`;
  if (whole < 9_950) return `${(whole / 1000).toFixed(1)} s`;
  const rounded = Math.round(whole / 1000) * 1000;
  const first = UNITS.findIndex(([, size]) => rounded >= size);
  const [name, size] = UNITS[first];
  const next = UNITS[first + 1];
  const rest = next ? Math.floor((rounded % size) / next[1]) : 0;
  return `${Math.floor(rounded / size)} ${name}` + (rest ? ` ${rest} ${next[0]}` : '');
}

/** "in 7 s" or "3 min ago". */
export function relative(instant) {
  const at = millis(instant);
  if (at == null) return '';
  const distance = at - now();
  return distance > 0 ? `in ${coarse(distance)}` : `${coarse(-distance)} ago`;
}

/** A length of whole seconds, for texts that change while they are read. */
const coarse = ms => (ms < 1000 ? '0 s' : length(ms < 10_000 ? Math.floor(ms / 1000) * 1000 : ms).replace('.0 s', ' s'));

export const number = value => Number(value ?? 0).toLocaleString('en');

/** "1,204 runs", "1 run". */
export const plural = (count, one, many = one + 's') => `${number(count)} ${count === 1 ? one : many}`;

/** A count that the store stops at a bound: "more than 10,000". */
export const bounded = count => (count?.more ? 'more than ' : '') + number(count?.runs);

export function bytes(size) {
  if (size == null) return '';
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = size;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** A text with its instants written as all times are: in the zone of the page, without fractions. */
export const withTimes = text => (text ?? '').replace(/\d{4}-\d\d-\d\dT\d\d:\d\d(?::[\d.]+)?Z/g, instant => time(instant));

const DURATION = /\bP(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?\b/g;

/** A text with its ISO durations written as all lengths are. */
export const withLengths = text => (text ?? '').replace(DURATION, (whole, days, hours, minutes, seconds) =>
  (whole.length > 1 ? length(((Number(days ?? 0) * 24 + Number(hours ?? 0)) * 60 + Number(minutes ?? 0)) * 60_000 + Number(seconds ?? 0) * 1000).replace('.0 s', ' s') : whole));

/** A text with the names of Java classes cut to their last part: what a list has room for. */
export const shortened = text => withTimes(text).replace(/\b(?:[a-z_$][\w$]*\.)+([A-Z][\w$]*)/g, '$1');

/** Whether a definition belongs to another one of these: a task of a DAG, or the edit of an object. */
export const isPart = (name, names) => name.endsWith('/(edit)') || (name.includes('/') && names.includes(name.slice(0, name.indexOf('/'))));

/** The last part of a Java class name. */
export const simpleName = type => String(type ?? '').split('.').pop();
