// The first page: a question in three faces, and its answers.
import { useEffect, useState } from "preact/hooks";
import { plural, readable, whole } from "./words.js";
import { Empty, Failure, html, Tabs, Waiting } from "./ui.js";
import { Editor } from "./editor.js";
import { TextFace } from "./texts.js";
import { Answers } from "./answers.js";
import { Picker } from "./picker.js";

const FACES = [{ id: "drawing", name: "Drawing" }, { id: "logic", name: "Logic" }, { id: "sparql", name: "SPARQL" }];

function Examples({ info, question }) {
    if (!info.data) return info.error ? html`<${Failure} error=${info.error} again=${info.again} />` : html`<${Waiting} what="Looking for examples" slow=${info.slow} />`;
    const examples = info.data.examples || [];
    if (examples.length === 0) return html`<${Empty}>There are no examples for this graph. Draw your own question.</${Empty}>`;
    return html`<ul class="examples">${examples.slice(0, 8).map((e) => html`<li key=${e.text}><button onClick=${() => question.setText(e.text, "example")}>
        <span class="serif">${readable(e.sentence) || e.text}</span>${e.answers !== undefined && html`<small>${plural(e.answers, "proven answer")}</small>`}</button></li>`)}</ul>`;
}

function Landing({ info, question }) {
    const graph = info.data?.graph;
    return html`<main class="landing" id="main">
        <h1 class="serif">What would you like to know?</h1>
        <p class="lead">${graph ? html`${whole(graph.entities)} things and ${whole((graph.triples?.train || 0) + (graph.triples?.valid || 0) + (graph.triples?.test || 0))} facts about them are here.` : ""}
            ${" "}What they prove is shown as proven. What they lack is predicted, with its probability and the reason why.</p>
        <div class="ways">
            <section aria-labelledby="h-examples"><h2 id="h-examples">Try one of these</h2><${Examples} info=${info} question=${question} /></section>
            <section aria-labelledby="h-own" class="own"><h2 id="h-own">Or ask your own</h2>
                <p><button class="primary" onClick=${() => question.start()}>Draw a question</button></p>
                <${Picker} label="Look something up" kind="entity" placeholder="A name" onPick=${(e) => { location.hash = `#/entity/${e.id}`; }} />
            </section>
        </div>
    </main>`;
}

function Face({ face, question }) {
    if (face === "logic") return html`<${TextFace} key="logic" question=${question} face="logic" value=${question.logic} hint="Example: ?x : likes(?x, ?y) & !knows(?x, Bob). Names are completed as you type; Enter asks." />`;
    if (face === "sparql") return html`<${TextFace} key="sparql" question=${question} face="sparql" value=${question.sparql} hint="Any SPARQL query; Ctrl+Enter asks at once. One that asks for one variable gets predictions, too." />`;
    if (question.drawing) return html`<${Editor} question=${question} />`;
    return question.loading ? html`<${Waiting} what="Drawing" slow=${question.slow} /> ` : html`<${Empty}>${question.notDrawn || "There is nothing to draw yet."} ${question.notDrawn && "Its text is under Logic or SPARQL."}</${Empty}>`;
}

export function AskPage({ question, info }) {
    const [face, setFace] = useState("drawing");
    const blank = !question.drawing && !question.logic && !question.sparql && !question.error && question.source === null;
    useEffect(() => {
        if (blank) setFace("drawing");
    }, [blank]);
    // An address whose text cannot be read shows the text.
    useEffect(() => {
        if (question.error && question.source === "address") {
            question.source = "logic";
            setFace("logic");
        }
    }, [question.error]);
    if (blank) return html`<${Landing} info=${info} question=${question} />`;
    return html`<main class="asking" id="main">
        <div class="question">
            <h1 class="serif sentence" aria-live="polite">${readable(question.sentence) || (question.loading ? " " : question.drawing?.edges.length === 0 ? "What do you want to find?" : "Your question")}</h1>
            <section class="card" aria-label="The question">
                <div class="bar-top"><${Tabs} label="How the question is shown" tabs=${FACES} current=${face} onChange=${setFace} />
                    <span class="spacer"></span>
                    ${face === "drawing" && question.undone.length > 0 && html`<button class="plain" onClick=${() => question.undo()}>Undo</button>`}
                    <a class="button plain" href="#/">New question</a></div>
                <div id="face" role="tabpanel" aria-labelledby=${`tab-${face}`}><${Face} face=${face} question=${question} /></div>
            </section>
        </div>
        <section class="answers card" aria-label="Answers"><${Answers} question=${question} info=${info.data} /></section>
    </main>`;
}
