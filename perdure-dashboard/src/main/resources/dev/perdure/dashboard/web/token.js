// The token that allows actions. It arrives in the fragment of the address, which browsers send to no server,
// stays in this tab, and is handed to further tabs of this dashboard that ask for it.
import { base } from './router.js';

const KEY = 'perdure-token:' + base;
const channel = new BroadcastChannel(KEY);
const listeners = new Set();

let token = fromAddress() ?? sessionStorage.getItem(KEY);

function fromAddress() {
  const found = new URLSearchParams(location.hash.slice(1)).get('token');
  if (found) {
    sessionStorage.setItem(KEY, found);
    history.replaceState(null, '', location.pathname + location.search);
  }
  return found;
}

channel.onmessage = ({ data }) => {
  if (data.ask && token) channel.postMessage({ token });
  if (data.token && !token) {
    setToken(data.token);
  }
};
if (!token) channel.postMessage({ ask: true });

export const currentToken = () => token;

/** Keeps a token that a person has given. */
export function setToken(given) {
  token = given;
  sessionStorage.setItem(KEY, given);
  listeners.forEach(listener => listener());
}

/** Forgets a token that the server refuses. */
export function dropToken() {
  token = null;
  sessionStorage.removeItem(KEY);
  listeners.forEach(listener => listener());
}

/** Calls back when the token changes; returns what ends that. */
export function onToken(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
