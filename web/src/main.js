// The page: where the address leads, and the frame around it.
import { render } from "preact";
import { useEffect, useLayoutEffect, useMemo, useReducer, useState } from "preact/hooks";
import { call, setToken, useRequest } from "./api.js";
import { readable, whole } from "./words.js";
import { html } from "./ui.js";
import { Question } from "./question.js";
import { AskPage } from "./ask.js";
import { EntityPage } from "./entity.js";
import { ModelPage } from "./model.js";

// #/, #/ask?q=..., #/ask?sparql=..., #/entity/5, #/model
function readAddress() {
    const [path, search = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
    const [page, id] = path.split("/"), parameters = new URLSearchParams(search);
    return { page: page || "ask", id: id ? Number(id) : null, q: parameters.get("q"), sparql: parameters.get("sparql"), limit: Number(parameters.get("limit")) || undefined };
}

const THEMES = ["auto", "light", "dark"];

function useTheme() {
    const [theme, setTheme] = useState(() => {
        try {
            return localStorage.getItem("wfre-theme") || "auto";
        } catch {
            return "auto";
        }
    });
    useLayoutEffect(() => {
        document.documentElement.dataset.theme = theme;
        try {
            localStorage.setItem("wfre-theme", theme);
        } catch {
            /* private windows forget */
        }
    }, [theme]);
    return [theme, () => setTheme(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length])];
}

const Mark = () => html`<svg class="mark" viewBox="0 0 32 32" aria-hidden="true"><line class="known" x1="8" y1="23" x2="16" y2="8" /><line class="likely" x1="16" y1="8" x2="25" y2="22" />
    <circle cx="8" cy="23" r="4.2" /><circle cx="16" cy="8" r="4.2" /><circle class="open" cx="25" cy="22" r="4.2" /></svg>`;

// A server with a token wants it first; it is kept as long as the tab is open.
function Locked({ again, wrong }) {
    const enter = (event) => {
        event.preventDefault();
        setToken(event.target.elements.token.value);
        again();
    };
    return html`<main id="main" class="narrow"><h1 class="serif">This server asks for a token</h1><form class="card" onSubmit=${enter}>
        <p><label for="token">The token that the server was started with${wrong ? " (the last one was not right)" : ""}</label></p>
        <div class="picker"><input id="token" name="token" type="password" autocomplete="current-password" /></div><p></p><button class="primary">Go on</button></form></main>`;
}

function App() {
    const [, redraw] = useReducer((n) => n + 1, 0);
    const [address, setAddress] = useState(readAddress);
    const [theme, nextTheme] = useTheme();
    const info = useRequest("info", (signal) => call("/api/info", undefined, signal));
    const question = useMemo(() => new Question(redraw, ({ q, sparql }) => {
        const hash = q ? `#/ask?q=${encodeURIComponent(q)}` : `#/ask?sparql=${encodeURIComponent(sparql)}`;
        // What came from the address only gets a tidier one, so that the back button leads on.
        if (readAddress().page === "ask" && location.hash !== hash) history[question.source === "address" ? "replaceState" : "pushState"](null, "", hash);
        setAddress(readAddress());
    }), []);
    useEffect(() => {
        const follow = () => {
            const to = readAddress();
            setAddress(to);
            if (to.page !== "ask") return;
            if (to.q && to.q !== question.logic) question.setText(to.q, "address");
            else if (to.sparql && to.sparql !== question.sparql) question.setText(to.sparql, "sparql");
            else if (!to.q && !to.sparql) {
                question.undone = [];
                question.clear();
            }
        };
        follow();
        addEventListener("hashchange", follow);
        addEventListener("popstate", follow);
        return () => {
            removeEventListener("hashchange", follow);
            removeEventListener("popstate", follow);
        };
    }, []);
    const graph = info.data?.graph;
    const title = address.page === "ask" ? readable(question.sentence) || "Ask" : address.page === "model" ? "How good is it?" : "Explore";
    useEffect(() => {
        document.title = `${title} – ${graph?.name || "wfre"}`;
    }, [title, graph]);
    const link = (page, href, text) => html`<a href=${href} aria-current=${address.page === page ? "page" : undefined}>${text}</a>`;
    return html`
        <a class="skip" href="#main" onClick=${(e) => { e.preventDefault(); const m = document.getElementById("main"); m.tabIndex = -1; m.focus(); }}>To the content</a>
        <header><a class="brand" href="#/" aria-label="wfre, start"><${Mark} /><span>wfre</span></a>
            ${graph && html`<span class="graph" title=${`${whole(graph.entities)} things`}>${graph.name}</span>`}
            <nav aria-label="Pages">${link("ask", question.asked && question.logic ? `#/ask?q=${encodeURIComponent(question.logic)}` : "#/", "Ask")}${link("entity", "#/entity", "Explore")}${link("model", "#/model", "How good?")}</nav>
            <button class="plain theme" onClick=${nextTheme} aria-label=${`Colours: ${theme}. Change`}>${{ auto: "◐", light: "☀", dark: "☾" }[theme]}</button></header>
        ${info.error?.status === 401 ? html`<${Locked} again=${info.again} wrong=${Boolean(sessionStorage.getItem("wfre-token"))} />`
            : address.page === "entity" ? html`<${EntityPage} key=${`${address.id}`} id=${address.id} info=${info} theme=${theme} limit=${address.limit} />`
            : address.page === "model" ? html`<${ModelPage} info=${info} />`
                : html`<${AskPage} question=${question} info=${info} />`}
        <footer><span>What is solid is known. What is dotted is predicted.</span>${info.data?.version && html`<span>wfre ${info.data.version}</span>`}</footer>`;
}

render(html`<${App} />`, document.getElementById("app"));
