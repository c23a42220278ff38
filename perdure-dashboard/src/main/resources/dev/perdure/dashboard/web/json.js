// Payloads and errors, as text. Preact escapes every value, so that nothing in them becomes markup.
import { html, useState, Copy } from './view.js';
import { bytes } from './format.js';

const INDENT = '  ';
const SHOWN = 20_000; // characters, until one asks for all
const WIDTH = 60; // up to which an array or object stays on one line

/** A value as pieces of text with a class each: names pale, numbers and words in the accent, texts in teal. */
function pieces(value, indent, out) {
  if (typeof value === 'string') out.push(['u', JSON.stringify(value)]);
  else if (value === null || typeof value !== 'object') out.push(['b', String(value)]);
  else {
    const list = Array.isArray(value);
    const entries = list ? value.map(item => [null, item]) : Object.entries(value);
    const [left, right] = list ? ['[', ']'] : ['{', '}'];
    if (!entries.length) {
      out.push([null, left + right]);
      return;
    }
    const one = JSON.stringify(value).length <= WIDTH;
    const gap = one ? ' ' : '\n' + indent + INDENT;
    out.push([null, left]);
    entries.forEach(([name, item], index) => {
      out.push([null, (index ? ',' : '') + gap]);
      if (!list) out.push(['i', JSON.stringify(name) + ':'], [null, ' ']);
      pieces(item, indent + INDENT, out);
    });
    out.push([null, (one ? ' ' : '\n' + indent) + right]);
  }
}

/** A JSON value, or a text that is no JSON. */
export function Json({ value }) {
  const [all, setAll] = useState(false);
  if (value === undefined) return null;
  const text = JSON.stringify(value, null, 2) ?? '';
  if (text.length > SHOWN && !all) {
    return html`<pre class="json" tabindex="0">${text.slice(0, SHOWN)}…</pre><p class="sm pb"><button class="text" onClick=${() => setAll(true)}>Show all ${bytes(text.length)}</button></p>`;
  }
  const out = [];
  pieces(value, '', out);
  return html`<pre class="json" tabindex="0">${out.map(([tag, piece]) => (tag ? html`<${tag}>${piece}<//>` : piece))}</pre>`;
}

/** A panel with a payload, its size, and a way to copy it. */
export function Payload({ title, value, id }) {
  if (value === undefined) return null;
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return html`<section class="panel" id=${id} aria-label=${title}><div class="ph"><h2>${title}</h2><span class="m3 sm">${bytes(new Blob([text]).size)}</span><${Copy} text=${text}/></div><${Json} value=${value}/></section>`;
}

const LIBRARIES = /^\s*at (java\.|jdk\.|sun\.|dev\.perdure\.(internal\.|[A-Z])|java\.base\/)/;

/** A stack trace: class and message first, own frames before those of libraries, which are folded with a count. */
export function Stack({ text }) {
  const [all, setAll] = useState(false);
  const lines = text.split('\n').filter(line => line.trim());
  const out = [];
  let folded = 0;
  const flush = () => {
    if (folded) out.push(html`<em>  … ${folded} ${folded === 1 ? 'frame' : 'frames'} of libraries</em>`, '\n');
    folded = 0;
  };
  for (const line of lines) {
    if (!all && LIBRARIES.test(line)) {
      folded++;
      continue;
    }
    flush();
    const head = !/^\s*(at |\.\.\. )/.test(line);
    out.push(head ? html`<strong>${line}</strong>` : line.replace(/^\s+/, '  '), '\n');
  }
  flush();
  const hides = !all && lines.some(line => LIBRARIES.test(line));
  return html`<pre class="err" tabindex="0">${out}</pre>${hides && html`<p class="sm"><button class="text" onClick=${() => setAll(true)}>Show all frames</button></p>`}`;
}
