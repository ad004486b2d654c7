// What the scenarios share: servers, a browser that notices everything, and a list of what went wrong.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";

const modules = createRequire(join(process.env.WEB_MODULES, "x.js"));
const { chromium } = modules("playwright-core");
export const AXE = modules.resolve("axe-core/axe.min.js");

// Starts `wfre serve` on a free port; resolves to its address.
export function serve(args) {
    return new Promise((resolve, reject) => {
        const child = spawn(process.env.WFRE, ["serve", ...args, "--listen", "127.0.0.1:0", "--log", "none"]);
        let out = "", err = "";
        child.stdout.on("data", (data) => {
            out += data;
            const found = /http:\/\/127\.0\.0\.1:\d+/.exec(out);
            if (found) resolve({ address: found[0], stop: () => child.kill("SIGTERM") });
        });
        child.stderr.on("data", (data) => (err += data));
        child.on("exit", (code) => reject(new Error(`wfre serve ended with ${code}: ${err}`)));
    });
}

export const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage"] });

// All that no scenario may cause, unless it says so.
export const faults = [];

// A page on which every console error and every request elsewhere is a fault.
export async function open(address, { width = 1280, height = 860, scheme = "light", expectErrors = false, hash = "/" } = {}) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, reducedMotion: "reduce" });
    await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: address });
    const page = await context.newPage();
    page.setDefaultTimeout(20000);
    page.on("console", (message) => message.type() === "error" && !expectErrors && faults.push(`console: ${message.text()}`));
    page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
    page.on("request", (request) => {
        const { origin, protocol } = new URL(request.url());
        if (origin !== address && protocol !== "blob:" && protocol !== "data:") faults.push(`request to ${request.url()}`);
    });
    await page.goto(address + hash);
    return page;
}

export const ask = (text) => `/#/ask?q=${encodeURIComponent(text)}`;

export function check(condition, what) {
    if (!condition) throw new Error(what);
}

// The page draws when the browser finds time, so what is to be seen after a click is waited for.
export async function eventually(condition, what) {
    for (let end = Date.now() + 5000; !(await condition()); await new Promise((go) => setTimeout(go, 50)))
        check(Date.now() < end, what);
}

const only = process.env.ONLY;
let passed = 0, failed = 0;

// Runs one scenario; its page is closed afterwards whatever happens.
export async function scenario(name, address, run, options = {}) {
    if (only && !name.includes(only)) return;
    const started = Date.now();
    const before = faults.length;
    let page;
    try {
        page = await open(address, options);
        await run(page);
        if (faults.length > before) throw new Error(faults.slice(before).join("; "));
        passed++;
        console.log(`ok - ${name} (${Date.now() - started} ms)`);
    } catch (error) {
        failed++;
        console.log(`not ok - ${name}: ${error.message.split("\n").slice(0, 6).join(" | ")}`);
        if (page && process.env.SHOTS) await page.screenshot({ path: join(process.env.SHOTS, `failed-${failed}.png`) }).catch(() => null);
    } finally {
        await page?.context().close();
    }
}

export const result = () => ({ passed, failed });
