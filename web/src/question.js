// The question: one state with three faces. The server turns each face into the others.
import { call } from "./api.js";

// ---- drawings: every change makes a new one -------------------------------------------------

export const newDrawing = () => ({ nodes: [{ id: "n1", kind: "variable", name: "x", asked: true }], edges: [], groups: [] });

function freshId(drawing, prefix) {
    const ids = new Set([...drawing.nodes, ...drawing.groups].map((n) => n.id));
    let i = 1;
    while (ids.has(prefix + i)) i++;
    return prefix + i;
}

function freshName(drawing) {
    const names = new Set(drawing.nodes.map((n) => n.name));
    for (const name of ["x", "y", "z", "u", "v", "w"]) if (!names.has(name)) return name;
    let i = 1;
    while (names.has(`y${i}`)) i++;
    return `y${i}`;
}

// Nodes that no edge reaches go, but for what is asked.
function prune(drawing) {
    const reached = new Set(drawing.edges.flatMap((e) => [e.from, e.to, e.variable]));
    return { ...drawing, nodes: drawing.nodes.filter((n) => n.asked || reached.has(n.id)) };
}

// target: {new: true}, {node: id} or {entity: {id, name, label}}.
function withTarget(drawing, target) {
    if (target.node) return [drawing, target.node];
    const id = freshId(drawing, "n");
    const node = target.new
        ? { id, kind: "variable", name: freshName(drawing), asked: false }
        : { id, kind: "entity", entity: target.entity.id, name: target.entity.name, label: target.entity.label };
    return [{ ...drawing, nodes: [...drawing.nodes, node] }, id];
}

// An edge of `relation` {id, name, label} at `from`; an odd id is the inverse and turns it around.
// `beside` is an edge that it is an alternative to.
export function addEdge(drawing, from, relation, target, beside = null) {
    let [made, to] = withTarget(drawing, target);
    const inverse = relation.id % 2 === 1;
    const edge = {
        from: inverse ? to : from, to: inverse ? from : to, relation: relation.id - (inverse ? 1 : 0),
        name: relation.name, label: relation.label, negated: false, group: null,
    };
    const index = made.edges.length;
    made = { ...made, edges: [...made.edges, edge] };
    if (beside === null) return made;
    const or = made.groups.find((g) => g.kind === "or" && g.parts.some((p) => p.includes(beside)));
    if (or) {
        edge.group = or.id;
        return { ...made, groups: made.groups.map((g) => (g === or ? { ...g, parts: [...g.parts, [index]] } : g)) };
    }
    const id = freshId(made, "g");
    edge.group = id;
    const groups = made.groups.map((g) => ({ ...g, parts: g.parts.map((p) => p.map((i) => (i === beside ? id : i))) }));
    made.edges = made.edges.map((e, i) => (i === beside ? { ...e, group: id } : e));
    return { ...made, groups: [...groups, { id, kind: "or", parts: [[beside], [index]] }] };
}

// Boxes without parts go, and an "or" of one part is none.
function tidyGroups(drawing) {
    let { groups } = drawing;
    for (;;) {
        groups = groups.map((g) => ({ ...g, parts: g.parts.filter((p) => p.length > 0) }));
        const gone = groups.find((g) => g.parts.length === 0 || (g.kind === "or" && g.parts.length === 1));
        if (!gone) break;
        const items = gone.parts[0] || [];
        groups = groups.filter((g) => g !== gone)
            .map((g) => ({ ...g, parts: g.parts.map((p) => p.flatMap((i) => (i === gone.id ? items : [i]))) }));
    }
    const owner = new Map();
    groups.forEach((g) => g.parts.flat().forEach((i) => typeof i === "number" && owner.set(i, g.id)));
    return { ...drawing, groups, edges: drawing.edges.map((e, i) => ({ ...e, group: owner.get(i) ?? null })) };
}

export function removeEdge(drawing, index) {
    const shift = (i) => (typeof i === "number" && i > index ? i - 1 : i);
    const groups = drawing.groups.map((g) => ({ ...g, parts: g.parts.map((p) => p.filter((i) => i !== index).map(shift)) }));
    return prune(tidyGroups({ ...drawing, edges: drawing.edges.filter((_, i) => i !== index), groups }));
}

export const changeEdge = (drawing, index, change) => ({ ...drawing, edges: drawing.edges.map((e, i) => (i === index ? { ...e, ...change } : e)) });

export function flipEdge(drawing, index) {
    const { from, to } = drawing.edges[index];
    return changeEdge(drawing, index, { from: to, to: from });
}

export const changeNode = (drawing, id, change) => ({ ...drawing, nodes: drawing.nodes.map((n) => (n.id === id ? { ...n, ...change } : n)) });

export const setEntity = (drawing, id, entity) =>
    ({ ...drawing, nodes: drawing.nodes.map((n) => (n.id === id ? { id, kind: "entity", entity: entity.id, name: entity.name, label: entity.label } : n)) });

export const setVariable = (drawing, id) =>
    ({ ...drawing, nodes: drawing.nodes.map((n) => (n.id === id ? { id, kind: "variable", name: freshName(drawing), asked: false } : n)) });

export const askFor = (drawing, id) =>
    prune({ ...drawing, nodes: drawing.nodes.map((n) => (n.kind === "entity" ? n : { ...n, asked: n.id === id })) });

export function removeNode(drawing, id) {
    let made = drawing;
    for (let i = made.edges.length - 1; i >= 0; i--) if (made.edges[i].from === id || made.edges[i].to === id) made = removeEdge(made, i);
    return prune({ ...made, nodes: made.nodes.filter((n) => n.id !== id || n.asked) });
}

// ---- the state ------------------------------------------------------------------------------

const SLOW = 1500;
const PAGE = 50;

// Where the question came from last: its own text or drawing is kept as it is, the others follow.
export class Question {
    constructor(onChange, onAddress) {
        this.onChange = onChange;
        this.onAddress = onAddress;
        this.controller = null;
        this.undone = [];
        this.clear();
    }

    clear() {
        this.controller?.abort();
        Object.assign(this, { drawing: null, notDrawn: null, logic: "", sparql: "", sentence: "", source: null, answers: null, error: null, loading: false, slow: false, more: null });
        this.onChange();
    }

    start() {
        this.clear();
        this.drawing = newDrawing();
        this.source = "drawing";
        this.onChange();
    }

    setDrawing(drawing) {
        if (this.drawing) this.undone.push(this.drawing);
        this.drawing = drawing;
        this.notDrawn = null;
        this.source = "drawing";
        if (drawing.edges.length === 0) {
            this.controller?.abort();
            Object.assign(this, { logic: "", sparql: "", sentence: "", answers: null, error: null, loading: false });
            this.onChange();
            return Promise.resolve();
        }
        return this.run({ drawing });
    }

    undo() {
        const before = this.undone.pop();
        if (!before) return;
        this.drawing = null;
        this.setDrawing(before);
    }

    // `source` is the face that it was written in, "address" or "example".
    setText(text, source) {
        this.source = source;
        if (source === "sparql") this.sparql = text;
        else this.logic = text;
        if (!text.trim()) {
            this.clear();
            return Promise.resolve();
        }
        return this.run({ question: text });
    }

    takeForms(forms, body) {
        if (body.drawing === undefined) {
            this.drawing = forms.drawing || null;
            this.notDrawn = forms.drawing ? null : forms.not_drawn || "This question cannot be drawn.";
        }
        this.sentence = forms.sentence || "";
        if (this.source !== "logic") this.logic = forms.logic || "";
        if (this.source !== "sparql") this.sparql = forms.sparql || "";
    }

    async run(body) {
        this.controller?.abort();
        const controller = (this.controller = new AbortController()), { signal } = controller;
        Object.assign(this, { error: null, loading: true, slow: false, more: null });
        this.onChange();
        const timer = setTimeout(() => {
            this.slow = true;
            this.onChange();
        }, SLOW);
        try {
            // The faces need no answers; a question that is no formula has answers but no faces.
            const faces = call("/api/convert", body, signal).then((forms) => {
                this.takeForms(forms, body);
                this.onAddress({ q: forms.logic });
                this.onChange();
            }, () => null);
            const answers = await call("/api/ask", { ...body, top: 20, known: PAGE }, signal);
            await faces;
            if (answers.question) this.takeForms(answers.question, body);
            else Object.assign(this, { drawing: null, sentence: "", logic: "", notDrawn: "This is a table of SPARQL, not one question that could be drawn." });
            this.asked = body;
            this.round = (this.round || 0) + 1;
            this.answers = answers;
            this.onAddress(answers.question ? { q: answers.question.logic } : { sparql: body.question });
        } catch (error) {
            if (error.name === "AbortError") return;
            this.answers = null;
            this.error = error;
        } finally {
            clearTimeout(timer);
            if (this.controller === controller) {
                this.loading = false;
                this.onChange();
            }
        }
    }

    // The next proven answers.
    async showMore() {
        const rows = this.answers.known.rows;
        this.more = "loading";
        this.onChange();
        try {
            const next = await call("/api/ask", { ...this.asked, only: "known", known: 500, known_offset: rows.length }, this.controller?.signal);
            this.answers = { ...this.answers, known: { ...this.answers.known, rows: [...rows, ...next.known.rows] } };
            this.more = null;
        } catch (error) {
            if (error.name === "AbortError") return;
            this.more = error;
        }
        this.onChange();
    }
}
