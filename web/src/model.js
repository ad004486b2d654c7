// How good the predictions are, in words first.
import { percent, plural, whole } from "./words.js";
import { Empty, Failure, html, Waiting } from "./ui.js";

const TYPES = {
    "1p": "one step", "2p": "two steps", "3p": "three steps", "2i": "two conditions", "3i": "three conditions", ip: "two conditions, then a step", pi: "a path and a condition",
    "2in": "a condition and a “not”", "3in": "two conditions and a “not”", inp: "a condition and a “not”, then a step", pin: "a path and a “not”", pni: "a “not” along a path", "2u": "one or the other", up: "one or the other, then a step",
};

// Where the true share lies 95 times in 100, if `found` of `count` were right (Wilson's interval).
function likely(found, count) {
    const z = 1.96, middle = (found + (z * z) / (2 * count)) / (1 + (z * z) / count);
    const half = (z / (1 + (z * z) / count)) * Math.sqrt((found * (1 - found)) / count + (z * z) / (4 * count * count));
    return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

// Promised against found: on the diagonal a number means what it says.
function Reliability({ bins, label }) {
    const side = 200, left = 46, top = 26, at = (p) => left + p * side, down = (p) => top + (1 - p) * side;
    const used = bins.filter((b) => b.count > 0);
    const text = used.map((b) => `of predictions around ${percent(b.predicted)}, ${percent(b.found)} were right`).join("; ");
    return html`<svg class="reliability" viewBox=${`0 0 ${left + side + 26} ${top + side + 40}`} role="img" aria-label=${`${label}: ${text}`}>
        <rect class="frame" x=${left} y=${top} width=${side} height=${side} />
        ${[0.25, 0.5, 0.75].map((p) => html`<g key=${p} class="grid"><line x1=${at(p)} x2=${at(p)} y1=${top} y2=${top + side} /><line x1=${left} x2=${left + side} y1=${down(p)} y2=${down(p)} /></g>`)}
        <line class="ideal" x1=${at(0)} y1=${down(0)} x2=${at(1)} y2=${down(1)} />
        ${used.map((b, i) => {
            const [low, high] = likely(b.found, b.count);
            return html`<g key=${i}><line class="range" x1=${at(b.predicted)} x2=${at(b.predicted)} y1=${down(low)} y2=${down(high)} />
                <circle class="dot" cx=${at(b.predicted)} cy=${down(b.found)} r="4"><title>${`said ${percent(b.predicted)}, right ${percent(b.found)} of ${whole(b.count)}`}</title></circle></g>`;
        })}
        ${[0, 0.5, 1].map((p) => html`<g key=${p}><text x=${at(p)} y=${top + side + 16} text-anchor="middle">${percent(p)}</text><text x=${left - 8} y=${down(p) + 4} text-anchor="end">${percent(p)}</text></g>`)}
        <text x=${left + side / 2} y=${top + side + 34} text-anchor="middle">said</text><text x=${left} y=${top - 10}>were right</text>
    </svg>`;
}

const range = (row) => `${percent(row.mrr_low)} – ${percent(row.mrr_high)}`;

const Mean = ({ row, what }) => row && html`<p><strong>${percent(row.mrr)}</strong> ${what}, on average over ${plural(row.types, "kind")} of them (${range(row)}).</p>`;

function Links({ links }) {
    if (!links) return null;
    return html`<p>Single hidden facts: the right end is the first in the list in <strong>${percent(links.hits1)}</strong> of the cases, and among the first ten in <strong>${percent(links.hits10)}</strong>${" "}
        (checked on ${plural(links.questions, "question")}; MRR ${percent(links.mrr)}, ${range(links)}).</p>`;
}

// How often the right answer is ranked high: what training measured.
function Quality({ measured }) {
    if (!measured?.types?.length && !measured?.links) return html`<${Empty}>This model's file does not say how often the right answer is ranked high. Models that are trained now keep it; <code>wfre eval</code> measures any.</${Empty}>`;
    const types = measured.types || [];
    return html`<p>Some facts were hidden from the model while it learned. Then questions were asked whose answers need them, and the hidden answers were looked for in its list: <strong>100%</strong> means that they always came first, 50% second on average, 10% tenth.</p>
        <p class="quiet">The field calls this number the mean reciprocal rank, MRR. The range is where it would lie in 95 of 100 such checks. The same facts also helped to choose the model, so on others it may be a little lower.</p>
        <${Links} links=${measured.links} />
        <${Mean} row=${measured.without_not} what="for questions without a “not”" />
        <${Mean} row=${measured.with_not} what="for questions with a “not”" />
        ${types.length > 0 && html`<div class="scroll" tabindex="0" role="region" aria-label="Quality by kind of question"><table class="quality"><thead><tr><th scope="col">Question</th><th scope="col">Ranked high</th><th scope="col">Range</th><th scope="col">Checked</th></tr></thead>
        <tbody>${types.map((m) => html`<tr key=${m.name}><th scope="row">${TYPES[m.name] || m.name} ${TYPES[m.name] && html`<small>${m.name}</small>`}</th>
            <td><span class="bar" aria-hidden="true"><span style=${{ width: `${m.mrr * 100}%` }}></span></span> ${percent(m.mrr)}</td>
            <td>${range(m)}</td><td>${whole(m.questions)}</td></tr>`)}</tbody></table></div>`}`;
}

const plain = (v) => (typeof v === "number" ? (Number.isInteger(v) ? whole(v) : String(Number(v.toPrecision(4)))) : typeof v === "object" ? JSON.stringify(v) : String(v));

export function ModelPage({ info }) {
    const { data, error, slow, again } = info;
    if (error) return html`<main id="main" class="narrow"><h1 class="serif">How good are the predictions?</h1><${Failure} error=${error} again=${again} /></main>`;
    if (!data) return html`<main id="main" class="narrow"><h1 class="serif">How good are the predictions?</h1><${Waiting} what="Loading" slow=${slow} rows=${8} /></main>`;
    const { model, graph } = data;
    const facts = (graph.triples?.train || 0) + (graph.triples?.valid || 0) + (graph.triples?.test || 0);
    const about = html`<section class="card"><h2>The graph</h2><p>${graph.name}: ${plural(graph.entities, "thing")}, ${plural(graph.relations, "relation")}, ${plural(facts, "fact")}${graph.attributes ? `, ${plural(graph.attributes, "attribute")}` : ""}.
        ${graph.triples?.train && facts > graph.triples.train ? ` The model learned from ${whole(graph.triples.train)} of the facts; the others were kept back to check it.` : ""}</p></section>`;
    if (!model) return html`<main id="main" class="narrow"><h1 class="serif">How good are the predictions?</h1><${Empty}>The server was started without a model: it shows what is proven and predicts nothing. Train one with <code>wfre train</code>.</${Empty}>${about}</main>`;
    const any = model.reliability?.any, missing = model.reliability?.missing;
    return html`<main id="main" class="narrow">
        <h1 class="serif">How good are the predictions?</h1>
        <section class="card" aria-labelledby="h-rel"><h2 id="h-rel">Do the probabilities mean what they say?</h2>
            ${!model.calibrated || !any?.length ? html`<${Empty}>${model.calibrated ? "This model keeps no record of how often its predictions were right." : "This model's probabilities were never checked, so it shows only an order."}</${Empty}>`
                : html`<p>Each dot is a group of predictions, checked against facts that were hidden. On the line, what was said is what was found: of all predictions of 30%, 30 in 100 were right. Below the line the model promised too much, above it too little. The bars say how sure that is: they are long where few predictions could be checked, and a bar that meets the line is no contradiction.</p>
                <div class="diagrams"><figure><${Reliability} bins=${any} label="Any question" /><figcaption>Any question</figcaption></figure>
                    ${missing?.length > 0 && html`<figure><${Reliability} bins=${missing} label="Only questions where something is missing" /><figcaption>Only questions where something is known to be missing</figcaption></figure>`}</div>`}
        </section>
        <section class="card" aria-labelledby="h-mrr"><h2 id="h-mrr">How often is the right answer ranked high?</h2><${Quality} measured=${model.measured} /></section>
        ${about}
        <section class="card"><h2>The model</h2><p>${model.name}${model.dimensions ? `, ${whole(model.dimensions)} numbers for each thing` : ""}.</p>
            ${model.trained && html`<details><summary>How it was trained</summary><dl class="attributes">${Object.entries(model.trained).map(([k, v]) => html`<div key=${k}><dt>${k}</dt><dd>${plain(v)}</dd></div>`)}</dl></details>`}</section>
    </main>`;
}
