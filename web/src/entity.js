// All about one thing: what is known, what surrounds it, what is missing.
import { useState } from "preact/hooks";
import { call, query, useRequest } from "./api.js";
import { called, nameOf, phrase, plural, relationWords, whole } from "./words.js";
import { Bar, Empty, EntityLink, Failure, html, Waiting } from "./ui.js";
import { Around } from "./around.js";
import { Picker } from "./picker.js";

const idOf = (r) => r.relation?.id ?? r.relation;
const labelOf = (r) => r.label || r.name || r.relation?.label || r.relation?.name;

// The entities at the other end of one relation; more are loaded on request.
function Relation({ id, relation }) {
    const [items, setItems] = useState(relation.examples || []);
    const [state, setState] = useState(null);
    const inverse = relation.inverse ?? idOf(relation) % 2 === 1;
    const directed = inverse && idOf(relation) % 2 === 0 ? idOf(relation) + 1 : idOf(relation);
    const more = async () => {
        setState("loading");
        try {
            const data = await call(query(`/api/entity/${id}/edges`, { relation: directed, offset: items.length, limit: 50 }));
            setItems([...items, ...data.items]);
            setState(null);
        } catch (error) {
            setState(error);
        }
    };
    const left = relation.count - items.length;
    return html`<section class="relation"><h3>${phrase(labelOf(relation), inverse)} <span class="count">${whole(relation.count)}</span></h3>
        <ul class="chips">${items.map((e) => html`<li key=${e.id}><a class="chip" href=${`#/entity/${e.id}`} title=${e.name}>${nameOf(e)}</a></li>`)}
            ${left > 0 && html`<li>${state === "loading" ? html`<span class="quiet">Loading …</span>` : html`<button class="chip more" onClick=${more}>${whole(left)} more</button>`}</li>`}</ul>
        ${state?.message && html`<${Failure} error=${state} again=${more} />`}</section>`;
}

function Missing({ id, info }) {
    const [wanted, setWanted] = useState(false);
    const { data, error, loading, slow, again } = useRequest(wanted ? `missing ${id}` : null, (signal) => call(query(`/api/entity/${id}/missing`, { limit: 20 }), undefined, signal));
    const none = info.data && !info.data.model;
    return html`<section class="card" aria-labelledby="h-missing"><h2 id="h-missing" class="likely">What is missing here?</h2>
        ${none ? html`<${Empty}>The server was started without a model, so nothing can be predicted.</${Empty}>`
            : !wanted ? html`<p>Facts that are not in the graph but likely to be true.</p><button class="primary" onClick=${() => setWanted(true)}>Find them</button>`
                : error ? html`<${Failure} error=${error} again=${again} />`
                    : loading || !data ? html`<${Waiting} what="Looking for what is missing" slow=${slow} rows=${4} />`
                        : data.items.length === 0 ? html`<${Empty}>Nothing is likely to be missing.</${Empty}>`
                            : html`<ul class="list missing">${data.items.map((m, i) => html`<li key=${i} class="answer likely"><div class="row">
                                <span class="what"><${EntityLink} entity=${m.head} /> <em>${relationWords(m.relation?.label || m.relation?.name)}</em> <${EntityLink} entity=${m.tail} /></span>
                                <span class="how"><${Bar} p=${m.probability} /></span></div></li>`)}</ul>`}
    </section>`;
}

// What the heading does not say already.
function Attributes({ attributes, said }) {
    const shown = (attributes || []).filter((a) => !said.includes(a.value));
    if (!shown.length) return null;
    return html`<dl class="attributes">${shown.map((a, i) => html`<div key=${i}><dt title=${a.property}>${relationWords(a.name || a.property)}</dt>
        <dd lang=${a.language || undefined}>${a.value}${a.language && html` <small>${a.language}</small>`}</dd></div>`)}</dl>`;
}

const Search = () => html`<${Picker} label="Look something up" kind="entity" placeholder="A name" onPick=${(e) => { location.hash = `#/entity/${e.id}`; }} />`;

export function EntityPage({ id, info, theme, limit }) {
    const { data, error, loading, slow, again } = useRequest(id === null ? null : `entity ${id}`, (signal) => call(query(`/api/entity/${id}`, { limit: 12 }), undefined, signal));
    if (id === null) return html`<main id="main" class="narrow"><h1 class="serif">Explore</h1><p class="lead">Find a thing by its name, and see what is known about it and around it.</p><div class="card"><${Search} /></div></main>`;
    if (error) return html`<main id="main" class="narrow"><h1 class="serif">Explore</h1><${Failure} error=${error} again=${again} /><div class="card"><${Search} /></div></main>`;
    if (loading || !data) return html`<main id="main" class="narrow"><h1 class="sr">Explore</h1><${Waiting} what="Loading" slow=${slow} rows=${8} /></main>`;
    const { main, note } = called(data), total = data.relations.reduce((n, r) => n + r.count, 0);
    return html`<main id="main" class="entitypage">
        <div>
            <h1 class="serif">${main} ${note && html`<small>${note}</small>`}</h1>
            ${data.description && html`<p class="lead">${data.description}</p>`}
            ${(data.iri || data.name) && html`<p class="quiet iri">${data.iri || data.name}</p>`}
            <section class="card" aria-labelledby="h-known"><h2 id="h-known" class="known">Known <span class="count">${plural(total, "fact")}</span></h2>
                <${Attributes} attributes=${data.attributes} said=${[data.label, data.description]} />
                ${data.relations.length === 0 && html`<${Empty}>Nothing in the graph is connected to this.</${Empty}>`}
                ${data.relations.map((r) => html`<${Relation} key=${`${data.id} ${idOf(r)} ${r.inverse}`} id=${data.id} relation=${r} />`)}</section>
            <${Missing} key=${data.id} id=${data.id} info=${info} />
        </div>
        <div>
            <section class="card" aria-labelledby="h-around"><h2 id="h-around">Around it</h2><${Around} key=${data.id} id=${data.id} theme=${theme} limit=${limit} /></section>
            <section class="card"><${Search} /></section>
        </div>
    </main>`;
}
