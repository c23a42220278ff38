// Dialogs. A confirmation names verb and count, says what happens, and its first focus is on the harmless button.
import { html, useEffect, useRef, useState, Problem } from './view.js';

let open = () => {};

/**
 * Asks before an action.
 *
 * title: "Cancel 3 runs?"; lines: what happens, each {count?, text}; fields: [{name, label, value?, type?, required?}];
 * typed: a text that must be typed; verb: "Cancel 3 runs"; keep: "Keep them"; bad: whether it cannot be undone;
 * run: does it with the values of the fields, and may throw; the dialog then shows the error and stays;
 * error: without a verb, why something was not done
 */
export const confirm = request => open(request);

/** Does something that asks nothing. If the server refuses it, a dialog says why. */
export const attempt = action => async () => {
  try {
    await action();
  } catch (error) {
    open({ title: 'It was not done', error, keep: 'Close' });
  }
};

/** The place of the dialog; one on each page. */
export function ConfirmHost() {
  const [request, setRequest] = useState(null);
  open = setRequest;
  return request && html`<${Dialog} key=${request.title} request=${request} close=${() => setRequest(null)}/>`;
}

function Dialog({ request, close }) {
  const dialog = useRef(null);
  const [values, setValues] = useState(() => Object.fromEntries((request.fields ?? []).map(field => [field.name, field.value ?? ''])));
  const [typed, setTyped] = useState('');
  const [error, setError] = useState(request.error);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current.showModal();
    dialog.current.querySelector('[data-first]')?.focus();
    return () => before?.focus?.();
  }, []);
  const ready = !busy && (!request.typed || typed === request.typed)
    && (request.fields ?? []).every(field => !field.required || values[field.name].trim());
  const submit = async event => {
    event.preventDefault();
    if (!ready) return;
    setBusy(true);
    try {
      await request.run(values);
      close();
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  const entry = field => {
    const props = { class: 'inp', value: values[field.name], onInput: event => setValues({ ...values, [field.name]: event.target.value }) };
    return html`<label>${field.label}${field.type === 'json'
      ? html`<textarea rows="4" spellcheck="false" ...${props} class="inp mono"></textarea>`
      : html`<input ...${props} type="text" maxlength="500"/>`}</label>`;
  };
  return html`
    <dialog ref=${dialog} class="dlg" aria-label=${request.title} onClose=${close} onCancel=${close}>
      <form onSubmit=${submit}>
        <h2>${request.title}</h2>
        <ul>${(request.lines ?? []).map(line => html`<li>${line.count != null && html`<b>${line.count}</b>`}<span>${line.text}</span></li>`)}</ul>
        ${(request.fields ?? []).map(entry)}
        ${request.typed && html`<label>Type ${request.typed} to go on<input class="inp" value=${typed} onInput=${event => setTyped(event.target.value)}/></label>`}
        ${error && html`<${Problem} error=${error}/>`}
        <div class="acts">
          ${request.verb && html`<button type="submit" class=${'btn main' + (request.bad ? ' bad' : '')} disabled=${!ready}>${request.verb}</button>`}
          <button type="button" class="btn" data-first onClick=${close}>${request.keep ?? 'Keep it'}</button>
        </div>
      </form>
    </dialog>`;
}
