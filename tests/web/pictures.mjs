// Pictures of the page for the documents: pictures.mjs GRAPH MODEL OUT
// At 1280 and 400 pixels, light and dark; also page.png, which README shows.
import { join } from "node:path";
import { ask, browser, faults, open, serve } from "./harness.mjs";
import { AUNTS } from "./family.mjs";

const [graph, model, out] = process.argv.slice(2);
const server = await serve([graph, model]);
const find = async (name) => (await (await fetch(`${server.address}/api/complete?text=${name}&kind=entity&limit=1`)).json()).items[0].id;
const elin = await find("Elin%20Lind");

async function explained(page) {
    await page.locator(".answer.likely .row").first().click();
    await page.locator(".explanation .steps li").first().waitFor();
}

const PICTURES = {
    start: ["/", (page) => page.locator(".examples button").first().waitFor()],
    question: [ask(AUNTS), explained],
    entity: [`/#/entity/${elin}`, async (page) => {
        await page.getByText("things are shown").waitFor();
        await page.getByText("Grow without a mouse").click();
        await page.locator(".around .chip").first().click();
        await page.getByText("things are shown").waitFor();
        await page.getByText("Grow without a mouse").click();
        await page.getByRole("button", { name: "Find them" }).click();
        await page.locator(".missing li, .card .empty").first().waitFor();
    }],
    model: ["/#/model", (page) => page.getByRole("heading", { name: "The model", exact: true }).waitFor()],
};

async function picture(name, width, height, scheme, file) {
    const [hash, ready] = PICTURES[name];
    const page = await open(server.address, { width, height, scheme, hash });
    await ready(page);
    await page.evaluate(() => { document.activeElement?.blur(); scrollTo(0, 0); });
    await page.waitForTimeout(300);
    await page.screenshot({ path: join(out, file), animations: "disabled", ...(file.endsWith(".jpg") ? { type: "jpeg", quality: 78 } : {}) });
    await page.context().close();
}

for (const scheme of ["light", "dark"])
    for (const [width, height] of [[1280, 860], [400, 860]])
        for (const name of Object.keys(PICTURES)) await picture(name, width, height, scheme, `page-${name}-${width}-${scheme}.jpg`);
await picture("question", 1280, 900, "light", "page.png");
await browser.close();
server.stop();
if (faults.length > 0) console.log(faults.join("\n"));
process.exit(faults.length > 0 ? 1 : 0);
