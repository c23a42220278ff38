// Keys that work on every page. Pages add their own for their lists and timelines.
import { html, useEffect, useRef, useState } from './view.js';
import { go, here, link } from './router.js';

const PAGES = { r: '/runs', q: '/queues', s: '/schedules', o: '/', d: '/definitions', v: '/objects', w: '/workers', b: '/database' };
const SECOND = 1500;

const HELP = [
  ['/', 'go to a run'], ['g then o r d v q s w b', 'overview, runs, definitions, virtual objects, queues, schedules, workers, database'],
  ['j k', 'move in a list'], ['Enter', 'open'], ['x', 'select'], ['Esc', 'close'],
  ['[ ]', 'previous and next run of the list'], ['t', 'timeline of a run'], ['+ - 0', 'zoom in a timeline'], ['?', 'this list'],
];

/** Whether a key belongs to a field or a dialog, or to the browser. */
export const isTyping = event =>
  event.target.closest?.('input, textarea, select, dialog') != null || event.ctrlKey || event.metaKey || event.altKey;

export function Keys() {
  const [help, setHelp] = useState(false);
  const dialog = useRef(null);
  useEffect(() => {
    let waiting = 0;
    const press = event => {
      if (event.key === 'Escape' && event.target.id === 'search') event.target.blur();
      if (isTyping(event)) return;
      if (Date.now() < waiting && PAGES[event.key]) go(link(PAGES[event.key]));
      else if (event.key === '/') document.getElementById('search')?.focus();
      else if (event.key === '?') setHelp(true);
      else if (event.key === 'Escape') go(here({ at: null }), { replace: true });
      else {
        waiting = event.key === 'g' ? Date.now() + SECOND : 0;
        return;
      }
      waiting = 0;
      event.preventDefault();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
  useEffect(() => {
    if (help) dialog.current.showModal();
  }, [help]);
  return help && html`<dialog ref=${dialog} class="dlg" aria-label="Keys" onClose=${() => setHelp(false)}>
    <h2>Keys</h2><dl class="kv keys">${HELP.map(([key, text]) => html`<dt>${key.split(' ').map(one => html`<kbd>${one}</kbd> `)}</dt><dd>${text}</dd>`)}</dl>
    <div class="acts"><button class="btn" onClick=${() => dialog.current.close()}>Close</button></div></dialog>`;
}
