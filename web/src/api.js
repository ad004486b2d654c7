// The server's JSON interface. Every failure becomes an ApiError with a sentence for people.
import { useEffect, useState } from "preact/hooks";

export class ApiError extends Error {
    constructor(message, details = {}) {
        super(message);
        Object.assign(this, details);
    }
}

const STATUS = {
    429: "The server has too much to do at the moment. Try again in a few seconds.",
    503: "The server has too much to do at the moment. Try again in a few seconds.",
    504: "This took longer than the server allows. Make the question narrower and try again.",
};

async function failure(response) {
    let body = null;
    try {
        body = (await response.json()).error;
    } catch {
        /* not JSON: the status says enough */
    }
    const message = body?.message || STATUS[response.status] || `The server answered with status ${response.status}.`;
    return new ApiError(message, { status: response.status, ...(body || {}), message });
}

export function setToken(token) {
    sessionStorage.setItem("wfre-token", token);
}

function headers(body) {
    const token = sessionStorage.getItem("wfre-token");
    return { ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...(token ? { Authorization: `Bearer ${token}` } : {}) };
}

export async function call(path, body, signal) {
    let response;
    try {
        response = await fetch(path, body === undefined ? { signal, headers: headers() } : { method: "POST", signal, headers: headers(body), body: JSON.stringify(body) });
    } catch (error) {
        if (error.name === "AbortError") throw error;
        throw new ApiError("The server cannot be reached. Is wfre serve still running?", { code: "unreachable" });
    }
    if (!response.ok) throw await failure(response);
    return response.json();
}

export const query = (path, parameters) => {
    const text = new URLSearchParams(Object.entries(parameters).filter(([, v]) => v !== undefined && v !== null && v !== ""));
    return `${path}?${text}`;
};

const SLOW = 1500;

// Runs `ask(signal)` whenever the key changes: {data, error, loading, slow, again}.
export function useRequest(key, ask) {
    const [state, setState] = useState({ loading: key !== null });
    const [round, setRound] = useState(0);
    useEffect(() => {
        if (key === null) {
            setState({});
            return undefined;
        }
        const controller = new AbortController();
        const timer = setTimeout(() => setState((s) => ({ ...s, slow: true })), SLOW);
        setState((s) => ({ data: s.key === key ? s.data : undefined, loading: true, key }));
        ask(controller.signal)
            .then((data) => !controller.signal.aborted && setState({ data, key }))
            .catch((error) => error.name !== "AbortError" && setState({ error, key }))
            .finally(() => clearTimeout(timer));
        return () => {
            clearTimeout(timer);
            controller.abort();
        };
    }, [key, round]);
    return { ...state, again: () => setRound((n) => n + 1) };
}
