// Small parts that every page uses.
import { h } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import htm from "htm";
import { called, percent } from "./words.js";

export const html = htm.bind(h);

export const Name = ({ entity }) => {
    const { main, note } = called(entity);
    return html`<span class="name" title=${entity?.name}>${main}${note && html` <small>${note}</small>`}</span>`;
};

export const EntityLink = ({ entity }) => html`<a class="entity" href=${`#/entity/${entity.id}`}><${Name} entity=${entity} /></a>`;

// A probability is a bar and a number; both say the same.
export const Bar = ({ p }) => html`<span class="bar" aria-hidden="true"><span style=${{ width: `${Math.max(1, Math.min(100, (p ?? 0) * 100))}%` }}></span></span>
    <span class="percent">${percent(p)}</span>`;

export const Waiting = ({ what = "Loading", slow, rows = 3 }) => html`<div class="waiting" role="status" aria-live="polite">
    <span class="sr">${what} …</span>
    ${Array.from({ length: rows }, (_, i) => html`<span class="ghost" key=${i} style=${{ width: `${90 - ((i * 23) % 40)}%` }}></span>`)}
    ${slow && html`<p class="quiet">${what} takes longer than usual. It is still being worked on.</p>`}
</div>`;

export const Failure = ({ error, again }) => html`<div class="failure" role="alert">
    <p>${error.message}</p>
    ${again && html`<button class="plain" onClick=${again}>Try again</button>`}
</div>`;

export const Empty = ({ children }) => html`<p class="empty">${children}</p>`;

export function Copy({ text, children }) {
    const [done, setDone] = useState(false);
    const copy = async () => {
        try {
            await navigator.clipboard.writeText(typeof text === "function" ? text() : text);
            setDone(true);
            setTimeout(() => setDone(false), 1500);
        } catch {
            /* without permission there is nothing to say: the text can be selected */
        }
    };
    return html`<button class="plain" onClick=${copy}><span aria-live="polite">${done ? "Copied" : children}</span></button>`;
}

// Tabs as the ARIA practices have them: arrows move, one is in the tab order.
export function Tabs({ label, tabs, current, onChange }) {
    const refs = useRef({});
    const move = (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        event.preventDefault();
        const at = tabs.findIndex((t) => t.id === current);
        const next = tabs[(at + step + tabs.length) % tabs.length].id;
        onChange(next);
        refs.current[next]?.focus();
    };
    return html`<div class="tabs" role="tablist" aria-label=${label} onKeyDown=${move}>
        ${tabs.map((t) => html`<button role="tab" key=${t.id} id=${`tab-${t.id}`} aria-selected=${t.id === current}
            aria-controls="face" tabindex=${t.id === current ? 0 : -1} ref=${(e) => (refs.current[t.id] = e)}
            onClick=${() => onChange(t.id)}>${t.name}</button>`)}
    </div>`;
}

// The width of an element, kept up to date.
export function useWidth(start = 600) {
    const ref = useRef(null);
    const [width, setWidth] = useState(start);
    useEffect(() => {
        const watch = new ResizeObserver((entries) => setWidth(Math.round(entries[0].contentRect.width)));
        if (ref.current) {
            setWidth(Math.round(ref.current.clientWidth));
            watch.observe(ref.current);
        }
        return () => watch.disconnect();
    }, []);
    return [ref, width];
}
