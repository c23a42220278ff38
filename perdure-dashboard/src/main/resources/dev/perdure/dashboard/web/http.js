// How the pages ask the API: one question, one answer or one error with a remedy.
import { setServerTime } from './format.js';
import { PERIOD } from './live.js';
import { currentToken, dropToken } from './token.js';

/** Where the API is. */
const api = document.documentElement.dataset.api;

const PATIENCE = 15_000;

/** What the server said instead of an answer. */
export class ApiError extends Error {
  constructor(message, status, remedy) {
    super(message);
    this.status = status;
    this.remedy = remedy;
  }
}

const PLAIN = /^[\w:-][\w.:-]*$/;

/** One segment of a path. Servers and proxies refuse some names, such as those with an encoded slash: these travel as Base64. */
export function segment(text) {
  if (PLAIN.test(text)) return text;
  const bytes = String.fromCharCode(...new TextEncoder().encode(text));
  return '~' + btoa(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function address(path, query) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    for (const one of [value].flat()) if (one != null && one !== '') search.append(name, one);
  }
  const text = search.toString();
  return api + path + (text ? '?' + text : '');
}

async function ask(path, query, options = {}) {
  const headers = { Accept: 'application/json', ...options.headers };
  const token = currentToken();
  if (token) headers.Authorization = 'Bearer ' + token;
  let response;
  try {
    response = await fetch(address(path, query), {
      credentials: 'same-origin',
      signal: AbortSignal.timeout(PATIENCE),
      ...options,
      headers,
    });
  } catch (failure) {
    const slow = failure.name === 'TimeoutError';
    throw new ApiError(slow ? `The server did not answer within ${PATIENCE / 1000} s.` : 'The server cannot be reached.', 0,
      'Is the process that serves this page still running?');
  }
  setServerTime(response.headers.get('Date'));
  if (response.ok) return JSON.parse((await response.text()) || '{}');
  // The process has begun anew, with another token. Everybody on this machine may still look.
  if (response.status === 401 && token && token === currentToken()) dropToken();
  throw await problem(response);
}

/** An error after RFC 9457, or what a proxy in between made of it. */
async function problem(response) {
  let body = {};
  try {
    body = await response.json();
  } catch {
    // A proxy answers with a page; its status is all there is to say.
  }
  return new ApiError(body.detail ?? body.title ?? `The server answered ${response.status}.`, response.status, body.remedy);
}

/** Reads. */
export const get = (path, query) => ask(path, query);

/** Reads what is costly to count: an answer that another page got may be this many seconds old. */
export const getRecent = (seconds, path, query) =>
  ask(path, query, { headers: { 'Cache-Control': `max-age=${Math.round((seconds * PERIOD) / 1000)}` } });

/** Sends an action. The header of its own makes browsers ask before another site could send it. */
export const post = (path, body, query) => ask(path, query, {
  method: 'POST',
  headers: { 'Perdure-Action': 'dashboard', ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
  body: body === undefined ? undefined : JSON.stringify(body),
});
