// The database: its size, what holds it up, and what is wrong with it.
import { html, Answer, Icon, Panel, Titles } from './view.js';
import { bounded, bytes, number, plural, relative, time } from './format.js';
import { useData } from './live.js';
import { status } from './api.js';

export function Database() {
  const answer = useData('status', status, { every: 3000 });
  return html`<main class="page"><div class="hd"><${Titles} of="database"/>${answer.data && html`<span class="m3 sm">${plural(answer.data.workers, 'worker')} alive, ${bounded({ runs: answer.data.removal_due, more: answer.data.removal_more })} runs due for removal</span>`}</div>
    <${Answer} of=${answer}>${data => html`
      <${Panel} title="Findings">${data.findings.length === 0 ? html`<p class="empty">Nothing is wrong.</p>` : html`<ul class="att">${data.findings.map(finding => html`<li><${Icon} name="failed" cls="failed"/><span class="w"><b>${finding.what}</b> <span class="m2">${finding.remedy}</span></span></li>`)}</ul>`}<//>
      <${Panel} title="Tables" note="largest first"><div class="scroll"><table><thead><tr><th>Table</th><th class="n">Rows</th><th class="n">Dead rows</th><th class="n">Size</th><th class="n">Indexes</th><th class="n">Last vacuum</th></tr></thead>
        <tbody>${[...data.tables].sort((a, b) => b.bytes + b.index_bytes - a.bytes - a.index_bytes).map(table => html`<tr><td class="mono">${table.name}</td><td class="n">${number(table.rows)}</td><td class="n">${number(table.dead_rows)}</td><td class="n">${bytes(table.bytes)}</td><td class="n">${bytes(table.index_bytes)}</td><td class="n m2">${table.vacuumed_at ? relative(table.vacuumed_at) : 'never'}</td></tr>`)}</tbody></table></div><//>
      <p class="sm m3">As of ${time(data.at)}.${data.oldest_transaction ? ` The oldest open transaction began ${relative(data.oldest_transaction.since)}: ${data.oldest_transaction.session}.` : ''}</p>`}<//></main>`;
}
