// How things are called and counted on the page.

const WORDNET = /^(.+)\.([nvasr])\.(\d\d)$/;
const PARTS = { n: "noun", v: "verb", a: "adjective", s: "adjective", r: "adverb" };

const decode = (text) => {
    try {
        return decodeURIComponent(text);
    } catch {
        return text;
    }
};

// What a person would call an IRI or a path: what stands behind its last / or #.
export function localName(name) {
    if (!/^[a-z][a-z0-9+.-]*:|^\//i.test(name)) return name;
    const end = name.replace(/[/#]+$/, "").split(/[/#]/).pop();
    const last = end.replace(/^urn:wfre:[er]?:?/, "");
    return decode(last || name);
}

// The name to show for an entity object, and a note that tells it from others of that name.
export function called(entity) {
    if (!entity) return { main: "?", note: "" };
    const label = entity.label || entity.name || `#${entity.id}`;
    const sense = WORDNET.exec(label);
    if (sense) return { main: sense[1].replaceAll("_", " "), note: `${PARTS[sense[2]]} ${Number(sense[3])}` };
    return { main: localName(label).replaceAll("_", " "), note: "" };
}

// A sentence of the server, with WordNet's names as words.
export const readable = (sentence) => (sentence || "").replace(/([^\s(),]+)\.[nvasr]\.\d\d\b/g, (_, word) => word.replaceAll("_", " "));

export const nameOf = (entity) => {
    const { main, note } = called(entity);
    return note ? `${main} (${note})` : main;
};

// birthPlace, birth_place: birth place.
export const relationWords = (name) =>
    localName(name || "")
        .replace(/([a-z])([A-Z])(?![A-Z])/g, (_, a, b) => `${a} ${b.toLowerCase()}`)
        .replace(/^_+|_+$/g, "")
        .replace(/[_-]/g, " ") || "?";

const PREPOSITION = / (of|in|to|by|at|on|with|for|from|as)$/;

// How an edge is said, as src/query/sentence.c does: [before the other end, and whether turned].
export function phrase(name, inverse) {
    let words = relationWords(name);
    let manner = "noun";
    if (words.startsWith("has ")) words = words.slice(4);
    else if (words.startsWith("is ")) [words, manner] = [words.slice(3), "state"];
    else {
        const first = words.split(" ")[0];
        if (/[^s]s$/.test(first) && first.length > 2) manner = "verb";
        else if (/..ed$/.test(words) && !words.includes(" ")) manner = "verb";
        else if (PREPOSITION.test(words)) manner = "state";
    }
    if (!inverse) return manner === "noun" ? `has ${words} …` : manner === "state" ? `is ${words} …` : `${words} …`;
    return manner === "noun" ? `is ${words} of …` : manner === "state" ? `… is ${words} it` : `… ${words} it`;
}

export const whole = (n) => (n ?? 0).toLocaleString("en");
export const plural = (n, one, many = one + "s") => `${whole(n)} ${n === 1 ? one : many}`;

export function percent(p) {
    if (p === null || p === undefined || Number.isNaN(p)) return "–";
    const v = p * 100;
    if (v > 0 && v < 0.1) return "<0.1%";
    if (v < 9.95) return `${v.toFixed(1).replace(/\.0$/, "")}%`;
    if (v > 99 && v < 100) return ">99%";
    return `${Math.round(v)}%`;
}

export function seconds(s) {
    if (s === undefined || s === null) return "";
    return s < 0.001 ? "under 1 ms" : s < 1 ? `${Math.round(s * 1000)} ms` : `${s.toFixed(1)} s`;
}

// How often predictions of about this probability were right, by the model's own record.
export function record(info, p) {
    const bins = info?.model?.reliability?.any;
    if (!bins || p === null || p === undefined) return null;
    const bin = bins.find((b) => p >= b.low && p < b.high) || bins[bins.length - 1];
    return bin && bin.count > 0 ? bin : null;
}
