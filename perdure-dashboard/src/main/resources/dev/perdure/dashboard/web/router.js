// The URL is the state: the path says which page, the query holds filters, zoom and what is open.
import { useEffect, useState } from 'preact/hooks';

/** The path under which the dashboard is mounted; it begins and ends with a slash. */
export const base = document.documentElement.dataset.base;

const changed = new EventTarget();

/** The place now: {path, query}. The path is decoded and begins with a slash. */
export function place() {
  const path = '/' + decode(location.pathname.slice(base.length));
  return { path, query: new URLSearchParams(location.search) };
}

/** A path that somebody typed may hold a lone percent sign. */
function decode(text) {
  try {
    return text.split('/').map(decodeURIComponent).join('/');
  } catch {
    return text;
  }
}

/** The address of a page. Ids keep their slashes; every other special character is encoded. */
export function link(path, query) {
  const encoded = path.slice(1).split('/').map(encodeURIComponent).join('/');
  return base + encoded + search(query);
}

/** The address of the page that is shown, with some of its query changed; null takes a name out. */
export function here(changes) {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    query.delete(name);
    for (const one of [value].flat()) if (one != null && one !== '') query.append(name, one);
  }
  return location.pathname + search(query);
}

function search(query) {
  const text = new URLSearchParams(query ?? {}).toString();
  return text ? '?' + text : '';
}

/** Goes to an address of this dashboard. With replace, "back" leads past it: for zoom and selections. */
export function go(address, { replace = false } = {}) {
  if (address === location.pathname + location.search) return;
  history[replace ? 'replaceState' : 'pushState'](null, '', address);
  if (!replace) scrollTo(0, 0);
  changed.dispatchEvent(new Event('place'));
}

/** The place, kept current. */
export function usePlace() {
  const [now, setNow] = useState(place);
  useEffect(() => {
    const update = () => setNow(place());
    changed.addEventListener('place', update);
    addEventListener('popstate', update);
    return () => {
      changed.removeEventListener('place', update);
      removeEventListener('popstate', update);
    };
  }, []);
  return now;
}

/** Lets plain clicks on links of the dashboard change the place without a new document. */
export function followLinks() {
  document.addEventListener('click', event => {
    const anchor = event.target.closest?.('a[href]');
    if (!anchor || event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const address = new URL(anchor.getAttribute('href'), location.href); // in SVG, href is an object
    if (address.origin !== location.origin || !address.pathname.startsWith(base) || address.hash) return;
    event.preventDefault();
    go(address.pathname + address.search, { replace: anchor.hasAttribute('data-replace') });
  });
}
