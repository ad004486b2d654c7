// A box to find things by name: the combobox of the ARIA practices, filled by /api/complete.
import { useEffect, useRef, useState } from "preact/hooks";
import { call, query } from "./api.js";
import { phrase, whole } from "./words.js";
import { html, Name } from "./ui.js";

let count = 0;

// Without a set that relations go out from, the server lists them forwards.
const bothWays = (items) => items.flatMap((i) => [i, { ...i, id: i.id ^ 1, inverse: true }]);

// Finds what begins with or contains the text. `extra` are options that are always there.
function useItems(text, kind, after, having, limit, open) {
    const [state, setState] = useState({ items: [], loading: true });
    useEffect(() => {
        if (!open) return undefined;
        const controller = new AbortController();
        const timer = setTimeout(() => {
            setState((s) => ({ ...s, loading: true }));
            call(`/api/complete?text=${encodeURIComponent(text)}&` + query("", { kind, after, having, limit }).slice(1), undefined, controller.signal)
                .then((data) => setState({ items: kind === "relation" && !after ? bothWays(data.items) : data.items }))
                .catch((error) => error.name !== "AbortError" && setState({ items: [], error }));
        }, text ? 60 : 0);
        return () => {
            clearTimeout(timer);
            controller.abort();
        };
    }, [text, kind, after, having, open]);
    return state;
}

const Option = ({ item }) => {
    if (item.extra) return html`<span class="extra">${item.text}</span>`;
    if (item.kind === "relation") return html`<span>${phrase(item.label || item.name, item.id % 2 === 1)}</span>
        ${item.count !== undefined && html`<small>${whole(item.count)}</small>`}`;
    return html`<span><${Name} entity=${item} /></span>${item.description && html`<small>${item.description}</small>`}`;
};

export function Picker({ label, kind = "entity", after, having, extra = [], onPick, onCancel, autoFocus, placeholder }) {
    const [text, setText] = useState("");
    const [at, setAt] = useState(0);
    const [open, setOpen] = useState(Boolean(autoFocus));
    const [id] = useState(() => `picker${++count}`);
    const input = useRef(null), list = useRef(null);
    const { items, loading, error } = useItems(text.trim(), kind, after, having, 30, open);
    const matching = extra.filter((e) => !text || e.text.toLowerCase().includes(text.toLowerCase()));
    const options = [...matching.map((e) => ({ ...e, extra: true })), ...items];
    useEffect(() => setAt(0), [text, kind]);
    useEffect(() => {
        if (autoFocus) input.current?.focus({ preventScroll: true });
    }, [kind, label]);
    useEffect(() => {
        list.current?.children[at]?.scrollIntoView({ block: "nearest" });
    }, [at]);
    const pick = (item) => {
        setText("");
        setOpen(false);
        onPick(item);
    };
    const keys = (event) => {
        if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            event.preventDefault();
            if (!open) setOpen(true);
            else setAt((n) => Math.max(0, Math.min(options.length - 1, n + (event.key === "ArrowDown" ? 1 : -1))));
        } else if (event.key === "Enter" && open && options[at]) {
            event.preventDefault();
            pick(options[at]);
        } else if (event.key === "Escape") {
            event.preventDefault();
            if (open && !autoFocus) setOpen(false);
            else onCancel?.();
        }
    };
    return html`<div class="picker">
        <label for=${id}>${label}</label>
        <input id=${id} ref=${input} type="text" role="combobox" autocomplete="off" spellcheck="false" placeholder=${placeholder}
            aria-expanded=${open} aria-controls=${`${id}-list`} aria-autocomplete="list" value=${text}
            aria-activedescendant=${open && options[at] ? `${id}-${at}` : undefined}
            onInput=${(e) => { setText(e.target.value); setOpen(true); }} onFocus=${() => setOpen(true)}
            onBlur=${() => !autoFocus && setTimeout(() => setOpen(false), 150)} onKeyDown=${keys} />
        ${open && html`<ul id=${`${id}-list`} ref=${list} role="listbox" aria-label=${label} class=${autoFocus ? "inline" : ""}>
            ${options.map((item, i) => html`<li key=${`${item.kind}${item.id}${item.text}`} id=${`${id}-${i}`} role="option" aria-selected=${i === at}
                onMouseDown=${(e) => e.preventDefault()} onClick=${() => pick(item)}><${Option} item=${item} /></li>`)}
            ${options.length === 0 && html`<li class="none" role="option" aria-selected="false" aria-disabled="true">${error ? error.message : loading ? "Searching …" : text ? `Nothing is called “${text}”.` : "There is nothing to choose here."}</li>`}
        </ul>`}
        <span class="sr" aria-live="polite">${open && !loading ? `${options.length} choices` : ""}</span>
    </div>`;
}
