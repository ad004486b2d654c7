// The answers as files, and the same question for a terminal and for Python.
import { useState } from "preact/hooks";
import { call } from "./api.js";
import { Copy, html } from "./ui.js";

const CHUNK = 5000;

const iriOf = (e) => e.iri || (/^[a-z][a-z0-9+.-]*:/i.test(e.name) ? e.name : `urn:wfre:e:${encodeURIComponent(e.name)}`);

// All proven answers, however many: in pieces.
async function allRows(question, onProgress) {
    const { answers } = question, rows = [...answers.known.rows];
    while (rows.length < answers.known.count) {
        onProgress(rows.length / answers.known.count);
        const next = await call("/api/ask", { ...question.asked, only: "known", known: CHUNK, known_offset: rows.length });
        if (next.known.rows.length === 0) throw new Error("The server sent fewer answers than it counted.");
        rows.push(...next.known.rows);
    }
    return rows;
}

const cell = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

export function toCsv(variables, known, predicted) {
    const head = [...variables.flatMap((v) => [v, `${v}_label`]), "status", "probability"];
    const line = (row, status, p) => [...row.flatMap((e) => [e.name, e.label || e.name]), status, p].map((x) => cell(String(x ?? ""))).join(",");
    return [head.join(","), ...known.map((r) => line(r, "known", 1)), ...predicted.map((p) => line(p.row, "predicted", p.probability))].join("\r\n") + "\r\n";
}

const NS = "urn:wfre:ns#", XSD = "http://www.w3.org/2001/XMLSchema#";
const escapeIri = (iri) => iri.replace(/[\u0000-\u0020<>"{}|^`\\]/g, (c) => encodeURIComponent(c));

export function toTriples(variables, known, predicted) {
    const lines = [];
    const add = (row, i, status, p) => {
        const node = `_:a${i}`;
        row.forEach((e, k) => lines.push(`${node} <${NS}${k === 0 ? "answer" : variables[k]}> <${escapeIri(iriOf(e))}> .`));
        lines.push(`${node} <${NS}status> "${status}" .`);
        if (p !== null && p !== undefined) lines.push(`${node} <${NS}probability> "${p}"^^<${XSD}double> .`);
    };
    known.forEach((row, i) => add(row, i, "known", 1));
    predicted.forEach((p, i) => add(p.row, known.length + i, "predicted", p.probability));
    return lines.join("\n") + "\n";
}

function save(name, type, text) {
    const url = URL.createObjectURL(new Blob([text], { type })), link = document.createElement("a");
    link.href = url;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 5000);
}

const shell = (text) => `'${text.replaceAll("'", "'\\''")}'`;

export function curlLine(question) {
    const body = JSON.stringify({ question: question.logic || question.sparql, top: 20 });
    return `curl -s ${location.origin}/api/ask -H 'Content-Type: application/json' -d ${shell(body)}`;
}

const python = (text) => JSON.stringify(text).replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);

export const pythonLine = (question) =>
    `import json, urllib.request as r; print(json.load(r.urlopen(r.Request(${python(`${location.origin}/api/ask`)}, json.dumps({"question": ${python(question.logic || question.sparql)}, "top": 20}).encode(), {"Content-Type": "application/json"}))))`;

export function Export({ question }) {
    const [state, setState] = useState(null);
    const { answers } = question;
    const write = async (kind) => {
        try {
            setState("Collecting …");
            const known = await allRows(question, (share) => setState(`Collecting ${Math.round(share * 100)}% …`));
            const { variables, predicted } = answers;
            if (kind === "csv") save("answers.csv", "text/csv", toCsv(variables, known, predicted));
            if (kind === "nt") save("answers.nt", "application/n-triples", toTriples(variables, known, predicted));
            if (kind === "json") save("answers.json", "application/json", JSON.stringify({ question: question.logic || question.sparql, variables, known, predicted }, null, 1));
            setState(null);
        } catch (error) {
            setState(error.message);
        }
    };
    return html`<details class="export"><summary>Take it with you</summary>
        <div class="tools">
            <button onClick=${() => write("csv")}>CSV</button><button onClick=${() => write("json")}>JSON</button><button onClick=${() => write("nt")}>N-Triples</button>
            <${Copy} text=${() => location.href}>Copy the address</${Copy}>
            <${Copy} text=${() => curlLine(question)}>Copy as curl</${Copy}>
            <${Copy} text=${() => pythonLine(question)}>Copy as Python</${Copy}>
        </div>
        <pre class="text" tabindex="0" aria-label="The same with curl">${curlLine(question)}</pre>
        <p class="quiet" role="status">${state || ""}</p>
    </details>`;
}
