// A drawn question or explanation: lines in SVG, nodes and labels as ordinary buttons above it.
import { useMemo } from "preact/hooks";
import { arrange, NODE_HEIGHT } from "./layout.js";
import { called, percent, relationWords } from "./words.js";
import { html, useWidth } from "./ui.js";

// What is read out begins with what is seen.
const describeNode = (n) => (n.kind === "entity" ? `${n.text} ${n.note}`.trim() : `${n.text}, ${n.asked ? "what is asked for" : "anything"}`);

function withTexts(drawing) {
    const nodes = drawing.nodes.filter((n) => n.kind !== "relation").map((n) => {
        const { main, note } = n.kind === "entity" || n.entityName ? called(n.entityName || n) : { main: n.asked ? `${n.name} ?` : n.name, note: "" };
        return { ...n, text: main, note };
    });
    const variables = Object.fromEntries(drawing.nodes.filter((n) => n.kind === "relation").map((n) => [n.id, n.name]));
    const edges = drawing.edges.map((e) => ({
        ...e,
        text: (e.negated ? "not " : "") + (e.equal ? "is the same as" : e.variable ? `any relation ${variables[e.variable]}` : relationWords(e.label || e.name)) +
            (e.showProbability ? `  ${percent(e.probability)}` : ""),
    }));
    return { nodes, edges, groups: drawing.groups || [] };
}

const edgeClass = (e) => ["edge", e.negated && "no", e.known === false && "likely", e.known && "known"].filter(Boolean).join(" ");

// `selected` is {node} or {edge}; without onSelect the drawing is a picture with a text beside it.
export function Drawing({ drawing, selected, onSelect, label }) {
    const [ref, width] = useWidth();
    const placed = useMemo(() => arrange(withTexts(drawing), Math.max(280, width)), [drawing, width]);
    const names = new Map(placed.nodes.map((n) => [n.id, n]));
    const Part = onSelect ? "button" : "span";
    const isNode = (n) => selected?.node === n.id, isEdge = (i) => selected?.edge === i;
    return html`<div class=${`drawing ${placed.style}`} ref=${ref} role="group" aria-label=${label}>
        <div class="sheet" style=${{ width: `${placed.width}px`, height: `${placed.height}px` }}>
            <svg width=${placed.width} height=${placed.height} aria-hidden="true" focusable="false">
                <defs>${["plain", "known", "likely", "no"].map((k) => html`<marker id=${`arrow-${k}`} key=${k} class=${`arrow ${k}`} viewBox="0 0 10 10" refX="9.5" refY="5"
                    markerUnits="userSpaceOnUse" markerWidth="10" markerHeight="10" orient="auto-start-reverse"><path d="M0,0.5 L10,5 L0,9.5 z" /></marker>`)}</defs>
                ${placed.boxes.map((b) => html`<g class=${`box ${b.kind}`} key=${b.id}>
                    <rect x=${b.x} y=${b.y} width=${b.width} height=${b.height} rx="14" />
                    <text x=${b.x + 12} y=${b.y + 16}>${b.kind === "or" ? "one of these" : "not this"}</text></g>`)}
                ${placed.edges.map((e, i) => html`<path key=${i} class=${edgeClass(e)} d=${e.path}
                    marker-end=${e.equal ? undefined : `url(#arrow-${e.negated ? "no" : e.known ? "known" : e.known === false ? "likely" : "plain"})`} />`)}
            </svg>
            ${placed.nodes.map((n) => html`<${Part} key=${n.id} class=${`node ${n.entityName ? "found" : n.kind} ${n.asked ? "asked" : ""}`} title=${onSelect ? undefined : n.name}
                style=${{ left: `${n.x - n.width / 2}px`, top: `${n.y - NODE_HEIGHT / 2}px`, width: `${n.width}px`, height: `${NODE_HEIGHT}px` }}
                aria-pressed=${onSelect ? isNode(n) : undefined} aria-label=${onSelect && n.kind !== "entity" ? describeNode(n) : undefined}
                onClick=${onSelect && (() => onSelect(isNode(n) ? null : { node: n.id }))}>
                <span>${n.text}</span>${n.note && html`${" "}<small>${n.note}</small>`}</${Part}>`)}
            ${placed.edges.map((e, i) => html`<${Part} key=${i} class=${`label ${edgeClass(e)}`}
                style=${{ left: `${e.label.x - e.width / 2}px`, top: `${e.label.y - 13}px`, width: `${e.width}px` }}
                aria-pressed=${onSelect ? isEdge(i) : undefined}
                aria-label=${onSelect ? `${describeNode(names.get(e.from))} – ${e.text} – ${describeNode(names.get(e.to))}` : undefined}
                onClick=${onSelect && (() => onSelect(isEdge(i) ? null : { edge: i }))}>${e.text}</${Part}>`)}
        </div>
    </div>`;
}
