// The question as text: logic notation or SPARQL, with completion and the place of an error.
import { useEffect, useRef, useState } from "preact/hooks";
import { call, query } from "./api.js";
import { html, Name } from "./ui.js";
import { relationWords } from "./words.js";

const WAIT = 500;
const NAME = /[^\s(),&|!?:=<>"'{}.;^*+/]+(?:\.[^\s(),&|!?:=<>"'{};^*+/]+)*$/;

// The name that ends at the caret, and whether a relation or an entity belongs there.
function wordAt(text, caret) {
    const before = text.slice(0, caret), found = NAME.exec(before);
    if (!found || found[0].startsWith("#")) return null;
    const ahead = before.slice(0, found.index);
    if (ahead.endsWith("?")) return null;
    return { word: found[0], start: found.index, end: caret, kind: /[(,]\s*$/.test(ahead) ? "entity" : "relation" };
}

const quoted = (name) => (/^[^\s(),&|!?:=<>"'#^]+$/.test(name) && !/^(and|or|not|exists|forall)$/i.test(name) ? name : `"${name.replace(/\\/g, "\\\\").replace(/"/g, '\\"')}"`);

// The error's byte offset as a place in the text.
function placeOf(text, bytes) {
    const encoder = new TextEncoder();
    let at = 0;
    for (let i = 0; i < text.length; i++) {
        if (at >= bytes) return i;
        at += encoder.encode(text[i]).length;
    }
    return text.length;
}

const Marked = ({ text, offset }) => {
    const at = placeOf(text, offset), end = Math.min(text.length, at + (/^[\w.]+/.exec(text.slice(at))?.[0].length || 1));
    return html`<code class="marked">${text.slice(Math.max(0, at - 40), at)}<mark>${text.slice(at, end) || "⏎"}</mark>${text.slice(end, end + 40)}</code>`;
};

export function TextFace({ question, face, value, hint }) {
    const [draft, setDraft] = useState(value);
    const [items, setItems] = useState([]);
    const [at, setAt] = useState(-1);
    const box = useRef(null), timer = useRef(null), look = useRef(null);
    const mine = question.source === face;
    useEffect(() => {
        if (!mine) setDraft(value);
    }, [value, mine]);
    const send = (text) => {
        clearTimeout(timer.current);
        question.setText(text, face);
    };
    // Names for a word that is still there, not for what was typed before it.
    const fits = (item) => wordAt(draft, box.current.selectionStart)?.word === item.word.word;
    const complete = (text, caret) => {
        look.current?.abort();
        const word = face === "logic" ? wordAt(text, caret) : null;
        if (!word || word.word.length < 2) return setItems([]);
        look.current = new AbortController();
        call(query("/api/complete", { text: word.word, kind: word.kind, limit: 8 }), undefined, look.current.signal)
            .then((data) => {
                const seen = new Set();
                setItems(data.items.filter((i) => i.name !== word.word && !seen.has(i.name) && seen.add(i.name)).map((i) => ({ ...i, word })));
                setAt(-1);
            }, () => null);
        return undefined;
    };
    const type = (event) => {
        const text = event.target.value;
        setDraft(text);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => send(text), WAIT);
        complete(text, event.target.selectionStart);
    };
    const insert = (item) => {
        const name = quoted(item.name), text = draft.slice(0, item.word.start) + name + draft.slice(item.word.end);
        setDraft(text);
        setItems([]);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => send(text), WAIT);
        const caret = item.word.start + name.length;
        requestAnimationFrame(() => {
            box.current.focus();
            box.current.setSelectionRange(caret, caret);
        });
    };
    const keys = (event) => {
        if (items.length > 0 && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
            event.preventDefault();
            setAt((n) => Math.max(-1, Math.min(items.length - 1, n + (event.key === "ArrowDown" ? 1 : -1))));
        } else if (event.key === "Tab" && items.length > 0 && !event.shiftKey) {
            event.preventDefault();
            const item = items[Math.max(0, at)];
            if (fits(item)) insert(item);
        } else if (event.key === "Escape") setItems([]);
        else if (event.key === "Enter" && at >= 0 && items[at] && fits(items[at])) {
            event.preventDefault();
            insert(items[at]);
        } else if (event.key === "Enter" && (face === "logic" || event.ctrlKey || event.metaKey) && !event.shiftKey) {
            event.preventDefault();
            setItems([]);
            send(draft);
        }
    };
    const error = mine ? question.error : null;
    return html`<div class="textface">
        <label class="sr" for=${`text-${face}`}>The question in ${face === "logic" ? "logic notation" : "SPARQL"}</label>
        <textarea id=${`text-${face}`} ref=${box} rows=${face === "sparql" ? 9 : 4} spellcheck="false" autocapitalize="off" autocomplete="off"
            aria-invalid=${Boolean(error)} aria-describedby=${`help-${face}`} value=${draft} onInput=${type} onKeyDown=${keys} onBlur=${() => setItems([])}
            aria-autocomplete="list" aria-controls=${items.length ? `list-${face}` : undefined}></textarea>
        ${items.length > 0 && html`<ul class="suggest" id=${`list-${face}`} role="listbox" aria-label="Names that fit">
            ${items.map((item, i) => html`<li key=${item.kind + item.id} role="option" aria-selected=${i === at} onMouseDown=${(e) => { e.preventDefault(); insert(item); }}>
                ${item.kind === "relation" ? relationWords(item.label || item.name) : html`<${Name} entity=${item} />`} <small>${item.description || item.name}</small></li>`)}</ul>`}
        ${error && html`<div class="failure" role="alert"><p>${error.message}</p>
            ${error.offset !== undefined && error.offset !== null && html`<${Marked} text=${draft} offset=${error.offset} />`}
            ${error.suggestions?.length > 0 && html`<p class="quiet">Did you mean ${error.suggestions.slice(0, 5).map((s, i) => html`${i > 0 && ", "}<button class="link" key=${s}
                onClick=${() => { const p = placeOf(draft, error.offset ?? 0), w = /^("[^"]*"|[^\s(),&|!?:]+)/.exec(draft.slice(p))?.[0] || ""; const text = draft.slice(0, p) + quoted(s) + draft.slice(p + w.length); setDraft(text); send(text); }}>${s}</button>`)}?</p>`}
        </div>`}
        <p class="quiet" id=${`help-${face}`}>${hint}</p>
    </div>`;
}
