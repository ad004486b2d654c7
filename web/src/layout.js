// Where the nodes and edges of a question's drawing go. A question is nearly a tree that hangs on
// what is asked for: wide drawings grow to the right, narrow ones are an indented list.

let context = null;
function textWidth(text, font) {
    context ??= document.createElement("canvas").getContext("2d");
    context.font = font;
    return context.measureText(text).width;
}

const NODE_FONT = "600 14px system-ui, sans-serif", LABEL_FONT = "13px system-ui, sans-serif";
export const NODE_HEIGHT = 38;
const ROW = 66, STEP = 76, LINE = 26, MOST_NODE = 210, MOST_LABEL = 170;

const nodeWidth = (node, most) => Math.min(most, Math.max(46, textWidth(node.text, NODE_FONT) + (node.note ? textWidth(node.note, "11px system-ui, sans-serif") + 8 : 0) + 34));
const labelWidth = (edge, most) => Math.min(most, textWidth(edge.text, LABEL_FONT) + 26);

// The tree by breadth: children of each node in the order of groups, each with the edge that leads to it and any more between the
// same two; edges that close a circle apart.
function spanningTree(nodes, edges) {
    const children = new Map(nodes.map((n) => [n.id, []])), depth = new Map(), extra = [], placed = new Set();
    const roots = [...nodes].sort((a, b) => (b.asked ? 1 : 0) - (a.asked ? 1 : 0));
    const starts = [], used = new Set();
    for (const root of roots) {
        if (depth.has(root.id)) continue;
        depth.set(root.id, 0);
        starts.push(root.id);
        const queue = [root.id];
        while (queue.length > 0) {
            const at = queue.shift();
            const order = edges.map((e, i) => ({ e, i })).filter(({ e, i }) => !used.has(i) && (e.from === at || e.to === at));
            order.sort((a, b) => (a.e.group || "").localeCompare(b.e.group || "") || a.i - b.i);
            for (const { e, i } of order) {
                const other = e.from === at ? e.to : e.from;
                used.add(i);
                const twin = children.get(at).find((c) => c.node === other);
                if (depth.has(other)) {
                    (twin?.more || extra).push(i);
                    continue;
                }
                depth.set(other, depth.get(at) + 1);
                children.get(at).push({ node: other, edge: i, more: [] });
                queue.push(other);
            }
        }
    }
    return { starts, children, depth, extra, placed };
}

const edgesOf = (children) => children.flatMap((c) => [c.edge, ...c.more]);

function wide(nodes, edges, tree) {
    const at = new Map(), byId = new Map(nodes.map((n) => [n.id, n]));
    const columns = [], gaps = [];
    for (const n of nodes) {
        n.width = nodeWidth(n, MOST_NODE);
        const d = tree.depth.get(n.id);
        columns[d] = Math.max(columns[d] || 0, n.width);
    }
    for (const [parent, list] of tree.children)
        for (const edge of edgesOf(list)) {
            const d = tree.depth.get(parent);
            edges[edge].width = labelWidth(edges[edge], MOST_LABEL);
            gaps[d] = Math.max(gaps[d] || 0, edges[edge].width + 52);
        }
    for (const i of tree.extra) edges[i].width = labelWidth(edges[i], MOST_LABEL);
    const left = [12];
    for (let d = 1; d < columns.length; d++) left[d] = left[d - 1] + columns[d - 1] + (gaps[d - 1] || 80);
    let row = 0;
    const place = (id) => {
        const list = tree.children.get(id);
        let y;
        if (list.length === 0) y = row++;
        else {
            let group = null;
            const ys = list.map((c) => {
                if (edges[c.edge].group && edges[c.edge].group !== group) row += 0.3;
                group = edges[c.edge].group;
                row += 0.35 * c.more.length;
                const at = place(c.node);
                row += 0.35 * c.more.length;
                return at;
            });
            y = (ys[0] + ys[ys.length - 1]) / 2;
        }
        const d = tree.depth.get(id), n = byId.get(id);
        at.set(id, { x: left[d] + n.width / 2, y: y * ROW + 40 });
        return y;
    };
    tree.starts.forEach(place);
    const end = left[columns.length - 1] + columns[columns.length - 1] + 12;
    return { at, width: end, height: Math.max(1, row) * ROW + 14, style: "wide" };
}

// Each node has the labels of its edges above it.
function narrow(nodes, edges, tree, room) {
    const at = new Map(), byId = new Map(nodes.map((n) => [n.id, n]));
    const indent = room > 460 ? 66 : 46;
    let y = 32, end = 0, before = null;
    const place = (id, lines = []) => {
        const n = byId.get(id), x = 10 + tree.depth.get(id) * indent;
        n.width = nodeWidth(n, Math.max(60, Math.min(260, room - x - 10)));
        lines.forEach((i, k) => {
            const e = edges[i];
            y += (k === 0 ? STEP : LINE) + (e.group && e.group !== before ? 20 : 0);
            before = e.group;
            e.width = labelWidth(e, Math.max(60, room - x - 10));
            e.label = { x: x + e.width / 2, y: y - NODE_HEIGHT / 2 - 14 };
            end = Math.max(end, x + e.width + 10);
        });
        at.set(id, { x: x + n.width / 2, y });
        end = Math.max(end, x + n.width + 10);
        for (const c of tree.children.get(id)) place(c.node, [c.edge, ...c.more]);
    };
    tree.starts.forEach((s, i) => {
        if (i > 0) y += STEP;
        place(s);
    });
    for (const i of tree.extra) edges[i].width = labelWidth(edges[i], 120);
    return { at, width: Math.min(room, end), height: y + 40, style: "narrow", indent };
}

// The line of one edge, and where its label is. Arrows end at the border of the node.
function route(edge, index, layout, byId, tree, bend) {
    const a = layout.at.get(edge.from), b = layout.at.get(edge.to);
    const A = byId.get(edge.from), B = byId.get(edge.to);
    const isExtra = tree.extra.includes(index);
    if (edge.from === edge.to) {
        const y = a.y - NODE_HEIGHT / 2;
        edge.label = { x: a.x, y: y - 26 };
        edge.path = `M${a.x - 14},${y} C${a.x - 30},${y - 40} ${a.x + 30},${y - 40} ${a.x + 14},${y}`;
        return;
    }
    if (layout.style === "narrow" && !isExtra) {
        const childIsTo = tree.depth.get(edge.to) > tree.depth.get(edge.from);
        const parent = childIsTo ? a : b, child = childIsTo ? b : a, P = childIsTo ? A : B, C = childIsTo ? B : A;
        // Each edge has a line of its own from border to border. The first child's is the rightmost, so that none cross.
        const children = tree.children.get(childIsTo ? edge.from : edge.to), lines = edgesOf(children), before = lines.indexOf(index);
        const apart = Math.min(12, (Math.min(P.width, layout.indent) - 30) / Math.max(1, lines.length - 1));
        const stem = parent.x - P.width / 2 + 16 + apart * (lines.length - 1 - before), right = child.x - C.width / 2 + 1;
        const twins = edgesOf(children.filter((c) => c.node === (childIsTo ? edge.to : edge.from)));
        const y = child.y + (twins.indexOf(index) - (twins.length - 1) / 2) * 11;
        const top = parent.y + NODE_HEIGHT / 2;
        edge.path = childIsTo ? `M${stem},${top} L${stem},${y - 8} Q${stem},${y} ${stem + 8},${y} L${right},${y}`
            : `M${right},${y} L${stem + 8},${y} Q${stem},${y} ${stem},${y - 8} L${stem},${top}`;
        return;
    }
    const leftToRight = a.x + A.width / 2 < b.x - B.width / 2, rightToLeft = b.x + B.width / 2 < a.x - A.width / 2;
    let x1, y1 = a.y, x2, y2 = b.y, mid;
    if (layout.style === "narrow" || !(leftToRight || rightToLeft)) {
        const out = Math.max(a.x + A.width / 2, b.x + B.width / 2) + 34 + bend * 18;
        x1 = a.x + A.width / 2;
        x2 = b.x + B.width / 2;
        edge.path = `M${x1},${y1} C${out},${y1} ${out},${y2} ${x2},${y2}`;
        edge.label = { x: Math.max(edge.width / 2, out - 14), y: (y1 + y2) / 2 };
        return;
    }
    x1 = a.x + (leftToRight ? A.width / 2 : -A.width / 2);
    x2 = b.x + (leftToRight ? -B.width / 2 : B.width / 2);
    mid = (x1 + x2) / 2;
    const lift = bend * 40;
    edge.path = `M${x1},${y1} C${mid},${y1 + lift} ${mid},${y2 + lift} ${x2},${y2}`;
    // Labels are nearer to the child: there lines have gone further apart.
    const t = tree.depth.get(edge.to) > tree.depth.get(edge.from) ? 0.56 : tree.depth.get(edge.to) < tree.depth.get(edge.from) ? 0.44 : 0.5, u = 1 - t;
    edge.label = { x: u * u * u * x1 + 3 * u * t * mid + t * t * t * x2, y: u * u * u * y1 + 3 * u * u * t * (y1 + lift) + 3 * u * t * t * (y2 + lift) + t * t * t * y2 };
}

// The box around what belongs to a group alone.
function boxOf(group, drawing, layout, byId) {
    const inside = new Set();
    const take = (g) => g.parts.flat().forEach((item) => (typeof item === "number" ? inside.add(item) : take(drawing.groups.find((x) => x.id === item))));
    take(group);
    let left = Infinity, right = -Infinity, top = Infinity, bottom = -Infinity;
    const add = (x, y, w, hgt) => {
        left = Math.min(left, x - w / 2);
        right = Math.max(right, x + w / 2);
        top = Math.min(top, y - hgt / 2);
        bottom = Math.max(bottom, y + hgt / 2);
    };
    for (const i of inside) add(drawing.edges[i].label.x, drawing.edges[i].label.y, drawing.edges[i].width, 26);
    for (const n of drawing.nodes) {
        const its = drawing.edges.map((e, i) => i).filter((i) => drawing.edges[i].from === n.id || drawing.edges[i].to === n.id);
        if (!n.asked && its.length > 0 && its.every((i) => inside.has(i))) add(layout.at.get(n.id).x, layout.at.get(n.id).y, byId.get(n.id).width, NODE_HEIGHT);
    }
    return { id: group.id, kind: group.kind, x: left - 10, y: top - 26, width: Math.max(right - left + 20, 110), height: bottom - top + 35 };
}

// nodes: {id, text, note, asked}; edges: {from, to, text, group}; both get their places.
export function arrange(drawing, room) {
    const nodes = drawing.nodes.map((n) => ({ ...n })), edges = drawing.edges.map((e) => ({ ...e }));
    const groups = drawing.groups || [];
    const byId = new Map(nodes.map((n) => [n.id, n]));
    const tree = spanningTree(nodes, edges);
    let layout = wide(nodes, edges, tree);
    if (layout.width > room) layout = narrow(nodes, edges, tree, room);
    const pairs = {};
    edges.forEach((e, i) => {
        const key = [e.from, e.to].sort().join(" ");
        const nth = (pairs[key] = (pairs[key] || 0) + 1) - 1;
        route(e, i, layout, byId, tree, nth === 0 ? 0 : nth % 2 ? (nth + 1) / 2 : -nth / 2);
    });
    const boxes = groups.map((g) => boxOf(g, { nodes, edges, groups }, layout, byId));
    const tallest = Math.max(layout.height, ...edges.map((e) => (e.label?.y || 0) + 30), ...boxes.map((b) => b.y + b.height + 8));
    const widest = Math.max(layout.width, ...boxes.map((b) => b.x + b.width + 8), ...edges.map((e) => (e.label ? e.label.x + e.width / 2 + 8 : 0)));
    return { nodes: nodes.map((n) => ({ ...n, ...layout.at.get(n.id) })), edges, boxes, width: widest, height: tallest, style: layout.style };
}
