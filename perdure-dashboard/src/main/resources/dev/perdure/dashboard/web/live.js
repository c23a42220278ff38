// Live data: one stream for all tabs, which says at most once a second that something has changed.
// A page that is hidden, or in which a text is selected or a dialog is open, waits until it is looked at again.
import { useEffect, useRef, useState } from 'preact/hooks';
import { base } from './router.js';
import { currentToken, onToken } from './token.js';

/** Milliseconds between two readings: a second, unless a test is in a hurry. */
export const PERIOD = Number(document.documentElement.dataset.period);
const SILENCE = 10_000;
const RETRY = 3_000;

const NAME = 'perdure-live:' + base;
const channel = new BroadcastChannel(NAME);
const listeners = new Set();
let heard = Date.now();
let pending = false;

/** Milliseconds since the last news of the server. */
export const silence = () => Date.now() - heard;

/** Whether the page may change under the person who reads it. */
function calm() {
  return document.visibilityState === 'visible'
    && !document.querySelector('dialog[open], details.menu[open]')
    && (getSelection()?.isCollapsed ?? true);
}

function tell() {
  if (!pending || !calm()) return;
  pending = false;
  listeners.forEach(listener => listener());
}

/**
 * Follows the changes for as long as the page is open. A browser opens six connections to a server at most, so all its
 * tabs share one stream: the tab that holds the lock reads it and tells the others. When it closes, another one takes over.
 */
export function follow() {
  setInterval(tell, PERIOD);
  channel.onmessage = ({ data }) => news(data);
  if (navigator.locks) navigator.locks.request(NAME, lead);
  else lead(); // without TLS, and not on this machine
}

function news(changed) {
  heard = Date.now();
  if (changed) pending = true;
}

async function lead() {
  for (;;) {
    try {
      await read();
    } catch {
      // The mark at the top says how long there has been no news; the next turn connects again.
    }
    await new Promise(resolve => setTimeout(resolve, RETRY));
    pending = true;
  }
}

async function read() {
  const end = new AbortController();
  const stop = () => end.abort();
  const forget = onToken(stop);
  addEventListener('pagehide', stop); // a page that the browser keeps for "back" would keep its connection
  try {
    const headers = { Accept: 'text/event-stream' };
    if (currentToken()) headers.Authorization = 'Bearer ' + currentToken();
    const response = await fetch(base + 'live', { headers, signal: end.signal });
    if (!response.ok) return;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const changed = value.includes('event: changed');
      news(changed);
      channel.postMessage(changed);
    }
  } finally {
    forget();
    removeEventListener('pagehide', stop);
  }
}

/** The text of the mark in the bar: live, or for how long there has been no news. */
export function useLive() {
  const [quiet, setQuiet] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setQuiet(silence() > SILENCE ? Math.round(silence() / 1000) : 0), 1000);
    return () => clearInterval(timer);
  }, []);
  return quiet;
}

/**
 * Asks a question and asks it again when something has changed. Data that is there stays until newer data arrives.
 * The key says what is asked: another key is another question. With live = false it is asked once, and once more when
 * that changes: for what is costly to count, and what does not change; live may also be a function of the data. It is also
 * asked once more when the value of again differs. Between two answers lie at least so many milliseconds: every.
 */
export function useData(key, question, { live = true, every = 0, again } = {}) {
  const [answer, setAnswer] = useState({ key: null });
  const asked = useRef({});
  asked.current = { key, question };
  const follows = typeof live === 'function' ? answer.key === key && answer.data != null && live(answer.data) : live;

  const load = async () => {
    const mine = asked.current;
    if (mine.key == null) return;
    if (asked.busy === mine.key) {
      asked.again = true; // what is under way may have been read before the change
      return;
    }
    asked.busy = mine.key;
    asked.again = false;
    asked.at = Date.now();
    try {
      const data = await mine.question();
      if (asked.current.key === mine.key) setAnswer({ key: mine.key, data });
    } catch (error) {
      if (asked.current.key === mine.key) {
        setAnswer(before => ({ key: mine.key, error, data: before.key === mine.key ? before.data : undefined }));
      }
    } finally {
      if (asked.busy === mine.key) asked.busy = null;
      if (asked.again) load();
    }
  };
  useEffect(() => {
    const follow = () => (Date.now() - asked.at < (every * PERIOD) / 1000 ? (pending = true) : load());
    load();
    if (follows) listeners.add(follow);
    return () => listeners.delete(follow);
  }, [key, follows, again]);
  return answer.key === key ? { ...answer, reload: load } : { reload: load };
}

/** Draws again every second, for texts such as "in 7 s". Stops while there is no news. */
export function useSecond() {
  const [, setTick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => {
      if (silence() < SILENCE && document.visibilityState === 'visible') setTick(tick => tick + 1);
    }, 1000);
    return () => clearInterval(timer);
  }, []);
}
