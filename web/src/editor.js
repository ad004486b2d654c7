// What can be done with the selected part of the drawing. Only choices that lead somewhere are shown.
import { useEffect, useState } from "preact/hooks";
import { call } from "./api.js";
import { addEdge, askFor, changeEdge, changeNode, flipEdge, removeEdge, removeNode, setEntity, setVariable } from "./question.js";
import { nameOf, relationWords } from "./words.js";
import { html } from "./ui.js";
import { Picker } from "./picker.js";
import { Drawing } from "./drawing.js";

// A question for what the node can be, so that only relations it can have are offered.
function useSetOf(drawing, id) {
    const node = drawing.nodes.find((n) => n.id === id);
    const [after, setAfter] = useState(node?.kind === "entity" ? `?x : ?x = #${node.entity}` : "");
    useEffect(() => {
        let live = true;
        if (!node) return undefined;
        if (node.kind === "entity") setAfter(`?x : ?x = #${node.entity}`);
        else if (!drawing.edges.some((e) => e.from === id || e.to === id)) setAfter("");
        else call("/api/convert", { drawing: { ...drawing, nodes: drawing.nodes.map((n) => (n.kind === "entity" ? n : { ...n, asked: n.id === id })) } })
            .then((forms) => live && setAfter(forms.logic), () => live && setAfter(""));
        return () => { live = false; };
    }, [drawing, id]);
    return after;
}

// Two steps: which relation, then to what.
function AddCondition({ drawing, from, beside, onDone, onCancel }) {
    const [relation, setRelation] = useState(null);
    const after = useSetOf(drawing, from);
    const node = drawing.nodes.find((n) => n.id === from);
    const subject = node.kind === "entity" ? nameOf(node) : node.name;
    if (!relation)
        return html`<${Picker} key="relation" autoFocus label=${beside !== undefined ? `Or else: what may hold of ${subject}?` : `What do you know of ${subject}?`} kind="relation" after=${after}
            placeholder="Type to search, or choose" onPick=${setRelation} onCancel=${onCancel} />`;
    const others = drawing.nodes.filter((n) => n.kind === "variable" && n.id !== from);
    const words = relationWords(relation.label || relation.name);
    const said = relation.id % 2 ? `… – ${words} → ${subject}` : `${subject} – ${words} → …`;
    const extra = [{ text: "something not known", target: { new: true } }, ...others.map((n) => ({ text: `the same as ${n.name}`, target: { node: n.id } }))];
    return html`<${Picker} key="target" autoFocus label=${said} kind="entity" extra=${extra} placeholder="Type a name, or choose"
        having=${relation.id ^ 1}
        onPick=${(item) => onDone(addEdge(drawing, from, relation, item.extra ? item.target : { entity: item }, beside ?? null))}
        onCancel=${() => setRelation(null)} />`;
}

function NodeTools({ drawing, node, onChange, mode, setMode, onSelect }) {
    if (mode === "add") return html`<${AddCondition} key=${node.id} drawing=${drawing} from=${node.id} onDone=${(d) => onChange(d, null)} onCancel=${() => setMode(null)} />`;
    if (mode === "entity") return html`<${Picker} autoFocus label=${`Instead of ${nameOf(node)}`} kind="entity" onPick=${(e) => onChange(setEntity(drawing, node.id, e), null)} onCancel=${() => setMode(null)} />`;
    return html`<div class="tools" role="toolbar" aria-label=${`Change ${node.kind === "entity" ? nameOf(node) : node.name}`}>
        <button onClick=${() => setMode("add")}>Add a condition</button>
        ${!node.asked && html`<button onClick=${() => setMode("entity")}>${node.kind === "entity" ? "Choose another" : "Make it one thing"}</button>`}
        ${node.kind === "entity" && html`<button onClick=${() => onChange(setVariable(drawing, node.id), { node: node.id })}>Leave it open</button>
            <a class="button" href=${`#/entity/${node.entity}`}>Open its page</a>`}
        ${node.kind === "variable" && !node.asked && html`<button onClick=${() => onChange(askFor(drawing, node.id), { node: node.id })}>Ask for this</button>`}
        ${!node.asked && html`<button class="danger" onClick=${() => onChange(removeNode(drawing, node.id), null)}>Remove</button>`}
    </div>`;
}

function EdgeTools({ drawing, index, onChange, mode, setMode }) {
    const edge = drawing.edges[index];
    const anchor = drawing.nodes.find((n) => n.id === edge.from)?.kind === "entity" ? edge.to : edge.from;
    const after = useSetOf(drawing, anchor);
    if (mode === "or") return html`<${AddCondition} drawing=${drawing} from=${anchor} beside=${index} onDone=${(d) => onChange(d, null)} onCancel=${() => setMode(null)} />`;
    if (mode === "relation")
        return html`<${Picker} autoFocus label="Another relation" kind="relation" onCancel=${() => setMode(null)}
            onPick=${(r) => {
                const inverse = r.id % 2 === 1, turned = inverse ? { from: edge.to, to: edge.from } : {};
                onChange(changeEdge(drawing, index, { ...turned, relation: r.id - (inverse ? 1 : 0), name: r.name, label: r.label, variable: undefined, equal: undefined }), { edge: index });
            }} />`;
    return html`<div class="tools" role="toolbar" aria-label="Change this condition" data-after=${after ? "set" : "any"}>
        <button aria-pressed=${edge.negated} onClick=${() => onChange(changeEdge(drawing, index, { negated: !edge.negated }), { edge: index })}>Not</button>
        <button onClick=${() => setMode("or")}>Or …</button>
        <button onClick=${() => onChange(flipEdge(drawing, index), { edge: index })}>Turn around</button>
        <button onClick=${() => setMode("relation")}>Another relation</button>
        <button class="danger" onClick=${() => onChange(removeEdge(drawing, index), null)}>Remove</button>
    </div>`;
}

// The drawing that can be changed, with its tools below.
export function Editor({ question }) {
    const { drawing } = question;
    const first = drawing.edges.length === 0;
    const [selected, select] = useState(first ? { node: drawing.nodes[0].id } : null);
    const [mode, setMode] = useState(first ? "add" : null);
    useEffect(() => {
        if (drawing.edges.length === 0) {
            select({ node: drawing.nodes[0].id });
            setMode("add");
        }
    }, [drawing.edges.length === 0]);
    const choose = (what) => {
        select(what);
        setMode(null);
    };
    const change = (made, next) => {
        choose(next);
        question.setDrawing(made);
    };
    const node = selected?.node !== undefined && drawing.nodes.find((n) => n.id === selected.node);
    const hasEdge = selected?.edge !== undefined && selected.edge < drawing.edges.length;
    const escape = (event) => {
        if (event.key === "Escape" && selected && !mode && !first) choose(null);
        if (event.key === "Delete" && hasEdge && !mode) change(removeEdge(drawing, selected.edge), null);
    };
    return html`<div class="editor" onKeyDown=${escape}>
        <${Drawing} drawing=${drawing} selected=${selected} onSelect=${choose} label=${question.sentence || "A new question"} />
        <div class="inspector">
            ${node ? html`<${NodeTools} drawing=${drawing} node=${node} onChange=${change} mode=${mode} setMode=${setMode} />`
                : hasEdge ? html`<${EdgeTools} drawing=${drawing} index=${selected.edge} onChange=${change} mode=${mode} setMode=${setMode} />`
                    : html`<p class="quiet">Choose a node or a line to change it.${" "}<button class="link" onClick=${() => { const asked = drawing.nodes.find((n) => n.asked) || drawing.nodes[0]; select({ node: asked.id }); setMode("add"); }}>Add a condition</button></p>`}
        </div>
    </div>`;
}
