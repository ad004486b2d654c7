// The neighbourhood of an entity as a graph that grows on click. Cytoscape is loaded when it is needed.
import { useEffect, useRef, useState } from "preact/hooks";
import { call, query } from "./api.js";
import { called, nameOf, relationWords } from "./words.js";
import { Failure, html } from "./ui.js";

const LIMIT = 40, MOST = 600;

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const look = () => [
    { selector: "node", style: { "background-color": color("--dot"), label: "data(label)", color: color("--ink"), "font-size": 11, "font-family": "system-ui, sans-serif", width: 13, height: 13,
        "text-valign": "bottom", "text-margin-y": 3, "text-max-width": 110, "text-wrap": "ellipsis", "text-outline-color": color("--card"), "text-outline-width": 2, "min-zoomed-font-size": 7 } },
    { selector: "node.opened", style: { "background-color": color("--known"), width: 17, height: 17 } },
    { selector: "node.home", style: { width: 24, height: 24, "font-size": 14, "font-weight": 600, "background-color": color("--likely"), "z-index": 10 } },
    { selector: "node:selected", style: { "border-width": 3, "border-color": color("--focus") } },
    { selector: "edge", style: { width: 1.2, "line-color": color("--line-strong"), "target-arrow-color": color("--line-strong"), "target-arrow-shape": "triangle", "arrow-scale": 0.7, "curve-style": "bezier",
        "font-size": 9, color: color("--muted"), "text-rotation": "autorotate", "text-outline-color": color("--card"), "text-outline-width": 2, "min-zoomed-font-size": 7 } },
    { selector: "edge.told", style: { label: "data(label)", "line-color": color("--known"), "target-arrow-color": color("--known"), width: 1.8 } },
    { selector: "edge.few", style: { label: "data(label)" } },
];

// Few nodes stand in rings around the first; many are pushed apart by forces, with fewer rounds the more
// there are: the rings that they start from are nearly right already.
export function layoutOptions(count) {
    if (count < 30) return { name: "concentric", animate: false, fit: true, padding: 40, minNodeSpacing: 60, startAngle: -Math.PI / 2 + 0.4, concentric: (n) => (n.hasClass("home") ? 3 : n.hasClass("opened") ? 2 : 1), levelWidth: () => 1 };
    return { name: "cose", animate: false, randomize: false, numIter: Math.max(40, Math.min(400, Math.round(12000 / count))), idealEdgeLength: () => 90, nodeRepulsion: () => 24000, gravity: 0.6, nodeOverlap: 14, fit: true, padding: 24 };
}

// New nodes start on a ring around the one that they were opened from.
function ring(center, index, count) {
    const turn = (index / Math.max(1, count)) * 2 * Math.PI, radius = 60 + count * 3;
    return { x: center.x + radius * Math.cos(turn), y: center.y + radius * Math.sin(turn) };
}

function addTo(graph, data, from) {
    const origin = graph.getElementById(String(from)), center = origin.length ? origin.position() : { x: 0, y: 0 };
    const fresh = data.nodes.filter((n) => graph.getElementById(String(n.id)).empty());
    graph.add(fresh.map((n, i) => ({ group: "nodes", data: { id: String(n.id), label: called(n).main, entity: n }, position: n.id === from ? center : ring(center, i, fresh.length), classes: origin.empty() && n.id === from ? "home" : "" })));
    graph.add(data.edges.map((e) => ({ id: `${e.head}-${e.relation?.id ?? e.relation}-${e.tail}`, e }))
        .filter(({ id }) => graph.getElementById(id).empty())
        .map(({ id, e }) => ({ group: "edges", data: { id, source: String(e.head?.id ?? e.head), target: String(e.tail?.id ?? e.tail), label: relationWords(e.label || e.name || e.relation?.label || e.relation?.name) } })));
    graph.getElementById(String(from)).addClass("opened");
    graph.edges().toggleClass("few", graph.edges().length <= 24);
    graph.layout(layoutOptions(graph.nodes().length)).run();
    if (graph.zoom() > 1.4) graph.zoom(1.4).center();
}

export function Around({ id, limit = LIMIT, theme }) {
    const place = useRef(null), graph = useRef(null);
    const [state, setState] = useState({ loading: true });
    const [told, tell] = useState("");
    const grow = async (from) => {
        if (graph.current.nodes().length > MOST) return tell("The picture is full. Open a node's own page to go on.");
        setState({ loading: true });
        try {
            const started = performance.now();
            const data = await call(query("/api/around", { id: from, depth: 1, limit }));
            const loaded = performance.now();
            if (!graph.current) return undefined;
            addTo(graph.current, data, from);
            const count = graph.current.nodes().length;
            window.wfreAround = { nodes: count, edges: graph.current.edges().length, load: loaded - started, layout: performance.now() - loaded };
            tell(`${count} things are shown${data.cut ? "; there are more" : ""}.`);
            setState({});
        } catch (error) {
            setState({ error, from });
        }
        return undefined;
    };
    useEffect(() => {
        let live = true;
        setState({ loading: true });
        import("cytoscape").then(({ default: cytoscape }) => {
            if (!live) return;
            graph.current = cytoscape({ container: place.current, style: look(), minZoom: 0.2, maxZoom: 3, wheelSensitivity: 0.3, selectionType: "single" });
            graph.current.on("tap", "node", (event) => grow(event.target.data("entity").id));
            graph.current.on("mouseover", "node", (event) => event.target.connectedEdges().addClass("told"));
            graph.current.on("mouseout", "node", (event) => event.target.connectedEdges().removeClass("told"));
            graph.current.on("dbltap", "node", (event) => { location.hash = `#/entity/${event.target.id()}`; });
            grow(id);
        }, () => live && setState({ error: new Error("The graph drawing could not be loaded.") }));
        return () => {
            live = false;
            graph.current?.destroy();
            graph.current = null;
        };
    }, [id]);
    useEffect(() => {
        graph.current?.style(look());
    }, [theme]);
    const others = graph.current?.nodes().map((n) => n.data("entity")).filter((e) => !graph.current.getElementById(String(e.id)).hasClass("opened")) || [];
    return html`<div class="around">
        <div class="picture" ref=${place} role="img" aria-label="The neighbourhood as a graph"></div>
        <p class="quiet" role="status">${state.loading ? "Loading the neighbourhood …" : told} Click a node to grow the picture, double-click to open its page.</p>
        ${state.error && html`<${Failure} error=${state.error} again=${() => grow(state.from ?? id)} />`}
        ${others.length > 0 && html`<details><summary>Grow without a mouse</summary><ul class="chips">${others.slice(0, 60).map((e) => html`<li key=${e.id}><button class="chip" onClick=${() => grow(e.id)}>${nameOf(e)}</button></li>`)}</ul></details>`}
    </div>`;
}
