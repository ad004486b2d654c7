// Proven answers first, then predicted ones with how likely they are.
import { useState } from "preact/hooks";
import { called, percent, plural, seconds, whole } from "./words.js";
import { Bar, Empty, Failure, html, Name, Waiting } from "./ui.js";
import { Explanation } from "./explain.js";
import { Export } from "./export.js";

const Row = ({ row }) => row.map((e, i) => html`${i > 0 && html`<span class="quiet"> · </span>`}<${Name} key=${i} entity=${e} />`);

// One answer that explains itself below when it is opened.
function Answer({ row, probability, known, question, info, open, onToggle }) {
    const single = row.length === 1 && row[0].id !== undefined;
    const description = row.length === 1 && row[0].description;
    return html`<li class=${`answer ${known ? "known" : "likely"} ${open ? "open" : ""}`}>
        <button class="row" aria-expanded=${open} onClick=${onToggle} disabled=${!single}>
            <span class="what"><${Row} row=${row} />${description && html`<small class="about">${description}</small>`}</span>
            ${!known && probability !== null && probability !== undefined && html`<span class="how"><${Bar} p=${probability} /></span>`}
            ${single && html`<span class="why" aria-hidden="true">${open ? "close" : "why?"}</span>`}
        </button>
        ${open && html`<div class="below">
            <${Explanation} question=${question.asked} entity=${row[0]} probability=${probability} info=${info} known=${known} drawing=${question.drawing} />
            <p><a href=${`#/entity/${row[0].id}`}>All about ${called(row[0]).main}</a></p>
        </div>`}
    </li>`;
}

// So many proven answers before the predicted ones come into sight.
const FIRST = 6;

function Known({ question, info, open, setOpen }) {
    const { known } = question.answers;
    const [extended, extend] = useState(null), all = extended === question.round;
    if (known.count === 0) return html`<${Empty}>Nothing in the graph proves an answer.</${Empty}>`;
    const rows = all || known.rows.length <= FIRST + 2 ? known.rows : known.rows.slice(0, FIRST), left = known.count - rows.length;
    const more = () => {
        if (rows.length === known.rows.length) question.showMore();
        extend(question.round);
    };
    return html`<ul class="list">${rows.map((row, i) => html`<${Answer} key=${row.map((e) => e.id ?? e.name).join()} row=${row} known question=${question} info=${info}
            open=${open === `k${i}`} onToggle=${() => setOpen(open === `k${i}` ? null : `k${i}`)} />`)}</ul>
        ${left > 0 && html`<p class="center">${question.more === "loading" ? html`<span class="quiet" role="status">Loading …</span>`
            : html`<button class="plain" onClick=${more}>Show more (${whole(left)} left)</button>`}</p>`}
        ${question.more?.message && html`<${Failure} error=${question.more} again=${() => question.showMore()} />`}`;
}

function WhyNothing({ reason, info }) {
    return html`<details class="whynot" open=${!reason}><summary>Why is nothing predicted?</summary>
        <p>${reason ? `${reason[0].toUpperCase()}${reason.slice(1)}${/[.!?]$/.test(reason) ? "" : "."}`
            : info && !info.model ? "The server was started without a model. Train one with wfre train, and start wfre serve with it."
                : "The model finds nothing that is likely enough beyond what is proven."}</p></details>`;
}

function Predicted({ question, info, open, setOpen }) {
    const { predicted, unpredicted } = question.answers;
    if (!predicted?.length) return html`<${WhyNothing} reason=${unpredicted} info=${info} />`;
    const calibrated = predicted.some((p) => p.probability !== null && p.probability !== undefined);
    const best = Math.max(...predicted.map((p) => p.probability ?? 0));
    return html`<p class="quiet">${calibrated ? html`${best >= 0.1 ? "Not in the graph." : "Not in the graph, and none of them is likely."} The number is the chance that it is right, checked against facts that were hidden from the model. <a href="#/model">How good is it?</a>`
        : "Not in the graph, the likeliest first. This model has no calibrated probabilities for such a question."}</p>
        <ul class="list">${predicted.map((p, i) => html`<${Answer} key=${p.row.map((e) => e.id).join()} row=${p.row} probability=${p.probability} question=${question} info=${info}
            open=${open === `p${i}`} onToggle=${() => setOpen(open === `p${i}` ? null : `p${i}`)} />`)}</ul>`;
}

const VERDICTS = {
    proven: "Yes. The graph proves it.",
    refuted: "No. The graph says the opposite.",
    predicted: "Perhaps. The graph does not say, the model has an opinion.",
    unknown: "Not known. The graph does not say so.",
};

const value = (term) => (!term ? "" : term.type === "uri" ? html`<span title=${term.value}>${called({ name: term.value }).main}</span>` : term.value);

function Table({ answers }) {
    const [shown, setShown] = useState(200);
    const { vars } = answers.head, rows = answers.results?.bindings || [];
    if (answers.boolean !== undefined) return html`<p class="verdict">${answers.boolean ? "Yes." : "No."}</p>`;
    if (rows.length === 0) return html`<${Empty}>No rows.</${Empty}>`;
    return html`<h2>${plural(rows.length, "row")}</h2><div class="scroll" tabindex="0" role="region" aria-label="Rows"><table><thead><tr>${vars.map((v) => html`<th key=${v} scope="col">${v}</th>`)}</tr></thead>
        <tbody>${rows.slice(0, shown).map((r, i) => html`<tr key=${i}>${vars.map((v) => html`<td key=${v}>${value(r[v])}</td>`)}</tr>`)}</tbody></table></div>
        ${rows.length > shown && html`<p class="center"><button class="plain" onClick=${() => setShown(shown + 1000)}>Show more (${whole(rows.length - shown)} left)</button></p>`}`;
}

export function Answers({ question, info }) {
    // What is open belongs to one round of answers, and is closed in the next.
    const [opened, setOpened] = useState(null);
    const open = opened && opened.round === question.round ? opened.key : null, setOpen = (key) => setOpened({ round: question.round, key });
    const { answers, loading, slow, error, source } = question;
    if (error) return source === "logic" || source === "sparql" ? html`<${Empty}>The answers will be here once the question can be read.</${Empty}>`
        : html`<${Failure} error=${error} again=${() => question.run(question.drawing && source === "drawing" ? { drawing: question.drawing } : { question: question.logic })} />`;
    if (loading && !answers) return html`<${Waiting} what="Answering" slow=${slow} rows=${6} />`;
    if (!answers) return html`<${Empty}>The answers will be here.</${Empty}>`;
    const busy = loading ? "stale" : "";
    if (answers.kind === "table") return html`<div class=${busy}><${Table} answers=${answers} /></div>`;
    if (answers.holds) return html`<div class=${`verdict ${busy}`}><p>${VERDICTS[answers.holds] || answers.holds}</p>${answers.holds !== "proven" && answers.probability !== undefined && answers.probability !== null && html`<p><${Bar} p=${answers.probability} /></p>`}</div>`;
    const best = answers.predicted?.[0]?.probability;
    return html`<div class=${busy} aria-busy=${loading}>
        <p class="sr" role="status">${plural(answers.known.count, "proven answer")}, ${plural(answers.predicted?.length || 0, "predicted answer")}</p>
        ${loading && slow && html`<p class="quiet">This takes longer than usual …</p>`}
        <section aria-labelledby="h-known"><h2 id="h-known" class="known">Proven <span class="count">${whole(answers.known.count)}</span></h2>
            <${Known} question=${question} info=${info} open=${open} setOpen=${setOpen} /></section>
        <section aria-labelledby="h-likely"><h2 id="h-likely" class="likely">Predicted ${best !== undefined && best !== null && html`<span class="count">best ${percent(best)}</span>`}</h2>
            <${Predicted} question=${question} info=${info} open=${open} setOpen=${setOpen} /></section>
        <p class="quiet foot">${answers.seconds !== undefined && `Answered in ${seconds(answers.seconds)}.`}</p>
        <${Export} question=${question} />
    </div>`;
}
