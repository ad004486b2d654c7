// Builds the page: bundles web/src with esbuild, compresses it, and writes it as C for the program.
//
//   node build.mjs SOURCE MODULES OUT [ASSETS.c]
//
// OUT gets index.html and assets/ as plain files, which `wfre serve --web OUT` serves.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const [source, modules, out, assetsFile] = process.argv.slice(2);
const esbuild = createRequire(join(modules, "x.js"))("esbuild");

rmSync(out, { recursive: true, force: true });
mkdirSync(join(out, "assets"), { recursive: true });
const result = await esbuild.build({
    entryPoints: { main: join(source, "src/main.js"), style: join(source, "src/style.css") },
    absWorkingDir: source,
    bundle: true,
    splitting: true, // what only some visitors need is loaded when they do
    format: "esm",
    target: "es2020",
    minify: true,
    legalComments: "none",
    metafile: true,
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    outdir: join(out, "assets"),
    nodePaths: [modules],
    logLevel: "warning",
});

const built = (entry) =>
    Object.entries(result.metafile.outputs).find(([, o]) => o.entryPoint?.endsWith(entry))[0].split("/").pop();
const html = readFileSync(join(source, "src/index.html"), "utf8")
    .replace("style.css", "/assets/" + built("style.css"))
    .replace("main.js", "/assets/" + built("main.js"));
const icon = readFileSync(join(source, "src/icon.svg")), iconName = `icon-${createHash("sha256").update(icon).digest("hex").slice(0, 8)}.svg`;
writeFileSync(join(out, "assets", iconName), icon);
writeFileSync(join(out, "index.html"), html.replace("icon.svg", "/assets/" + iconName));

const TYPES = { js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8", html: "text/html; charset=utf-8", svg: "image/svg+xml" };
const files = [["/", "index.html"], ...readdirSync(join(out, "assets")).sort().map((n) => ["/assets/" + n, "assets/" + n])];
const text = (s) => JSON.stringify(s);
let arrays = "", rows = "";
files.forEach(([path, file], i) => {
    const plain = readFileSync(join(out, file)), bytes = gzipSync(plain, { level: 9 });
    bytes[9] = 255; // the operating system, so that every machine builds the same bytes
    const etag = createHash("sha256").update(plain).digest("hex").slice(0, 20);
    arrays += `static const unsigned char asset_${i}[] = {\n${[...bytes].join(",").replace(/(.{90}[^,]*,)/g, "$1\n")}};\n`;
    rows += `    {${text(path)}, ${text(TYPES[file.split(".").pop()])}, asset_${i}, sizeof asset_${i}, ${text(`"${etag}"`)}},\n`;
});
if (assetsFile)
    writeFileSync(assetsFile, `/* Made by web/build.mjs. */
#include "web.h"

${arrays}
const wfre_web_asset wfre_web_assets[] = {
${rows}    {0}};
const size_t wfre_web_asset_count = ${files.length};
const char *const wfre_web_missing = NULL;
`);
