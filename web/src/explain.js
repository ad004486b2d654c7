// Why something is an answer: the question's drawing with the likeliest entity for each unknown.
import { call, useRequest } from "./api.js";
import { nameOf, percent, plural, record, relationWords, whole } from "./words.js";
import { EntityLink, Failure, html, Waiting } from "./ui.js";
import { Drawing } from "./drawing.js";

const relationName = (r) => (r && typeof r === "object" ? r.label || r.name : r);

// Edges between entities, as a drawing that hangs on the answer.
export function drawingOf(explanation, answer) {
    const nodes = new Map(), add = (e, asked) => nodes.has(e.id) || nodes.set(e.id, { id: `e${e.id}`, kind: "entity", entity: e.id, entityName: e, name: e.name, label: e.label, asked });
    add(answer, true);
    const edges = (explanation.edges || []).map((e) => {
        add(e.head, false);
        add(e.tail, false);
        return {
            from: `e${e.head.id}`, to: `e${e.tail.id}`, name: relationName(e.relation), label: relationName(e.relation), negated: e.negated,
            known: e.negated ? undefined : e.known, probability: e.probability, showProbability: !e.known && e.probability !== null && e.probability !== undefined && !e.negated, group: null,
        };
    });
    return { nodes: [...nodes.values()], edges, groups: [] };
}

// The facts that prove an answer: the question with the answer in its place, asked for all the rest.
async function proof(drawing, entity, signal) {
    if (!drawing || drawing.groups?.length || drawing.nodes.filter((n) => n.asked).length !== 1) return [];
    const held = new Set(drawing.edges.filter((e) => !e.negated).flatMap((e) => [e.from, e.to]));
    const nodes = drawing.nodes.map((n) => (n.asked ? { id: n.id, kind: "entity", entity: entity.id } : n.kind === "variable" && held.has(n.id) ? { ...n, asked: true } : n));
    const open = nodes.filter((n) => n.asked), found = new Map([[drawing.nodes.find((n) => n.asked).id, entity]]);
    if (open.length > 0) {
        const rows = (await call("/api/ask", { drawing: { ...drawing, nodes }, only: "known", known: 1 }, signal)).known?.rows;
        if (!rows?.length) return [];
        open.forEach((n, i) => found.set(n.id, rows[0][i]));
    }
    drawing.nodes.forEach((n) => n.kind === "entity" && found.set(n.id, { id: n.entity, name: n.name, label: n.label }));
    return drawing.edges.filter((e) => found.has(e.from) && found.has(e.to) && !e.equal)
        .map((e) => ({ head: found.get(e.from), tail: found.get(e.to), relation: { name: e.name, label: e.label }, known: !e.negated, negated: e.negated, probability: 1 }));
}

async function explain(question, entity, proven, drawing, signal) {
    const data = await call("/api/explain", { ...question, entity: entity.id }, signal);
    if (!proven || data.edges?.length) return data;
    return { ...data, known: true, edges: await proof(drawing, entity, signal), rule: null, text: null };
}

const Fact = ({ fact }) => html`<li><${EntityLink} entity=${fact.head} /> <em>${relationWords(relationName(fact.relation))}</em> <${EntityLink} entity=${fact.tail} />
    ${fact.cases > 0 && html`<small> Of ${plural(fact.cases, "other")} like that, ${whole(fact.hits)} ${fact.hits === 1 ? "has" : "have"} it, too.</small>`}</li>`;

function Step({ edge }) {
    const text = html`<${EntityLink} entity=${edge.head} /> <em>${relationWords(relationName(edge.relation))}</em> <${EntityLink} entity=${edge.tail} />`;
    const status = edge.negated ? (edge.known ? "the graph says so, against the question" : "not in the graph, as asked") : edge.known ? "in the graph" : edge.probability === null || edge.probability === undefined ? "predicted" : `predicted, ${percent(edge.probability)}`;
    return html`<li class=${edge.negated ? "no" : edge.known ? "known" : "likely"}>${edge.negated && "not: "}${text} <span class="status">${status}</span>
        ${edge.evidence?.length > 0 && html`<details><summary>What speaks for it</summary><ul>${edge.evidence.map((f, i) => html`<${Fact} key=${i} fact=${f} />`)}</ul></details>`}</li>`;
}

export function Explanation({ question, entity, probability, info, known, drawing }) {
    const key = JSON.stringify([question, entity.id]);
    const { data, error, loading, slow, again } = useRequest(key, (signal) => explain(question, entity, known, known ? drawing : null, signal));
    if (error) return html`<${Failure} error=${error} again=${again} />`;
    if (loading || !data) return html`<${Waiting} what="Finding out why" slow=${slow} />`;
    const picture = drawingOf(data, entity);
    const bin = record(info, probability);
    return html`<div class="explanation">
        ${picture.edges.length > 0 && html`<${Drawing} drawing=${picture} label=${`Why ${nameOf(entity)}`} />`}
        <ul class="steps">${(data.edges || []).map((e, i) => html`<${Step} key=${i} edge=${e} />`)}</ul>
        ${known && picture.edges.length === 0 && html`<p>The facts of the graph prove it.</p>`}
        ${picture.edges.length === 0 && data.text && html`<pre class="text">${data.text}</pre>`}
        ${data.rule && !data.known && html`<details><summary>How the number comes about</summary><p class="quiet">The predicted steps are multiplied; the result is corrected by how often such answers were right. Exactly: ${data.rule}</p></details>`}
        ${bin && !data.known && html`<p class="quiet record">Of ${plural(bin.count, "checked prediction")} between ${percent(bin.low)} and ${percent(bin.high)}, ${percent(bin.found)} were right.</p>`}
    </div>`;
}
