// Bundles the studio into `bundle/`: one script, one style sheet, the page, and the licences of
// the libraries that went in. `--watch` builds again at every change.

import { context, build } from "esbuild";
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { licences } from "./licences.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, "bundle");
const watching = process.argv.includes("--watch");

const options = {
  absWorkingDir: here,
  entryPoints: { studio: "src/studio.tsx" },
  outdir: out,
  bundle: true,
  format: "esm",
  target: ["es2022"],
  jsx: "automatic",
  jsxImportSource: "preact",
  minify: !watching,
  sourcemap: watching ? "inline" : false,
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
};

mkdirSync(out, { recursive: true });
for (const name of ["index.html", "icon.svg"]) copyFileSync(join(here, name), join(out, name));
if (!existsSync(join(here, "node_modules"))) {
  throw new Error("the libraries are missing: run `npm ci` first");
}
if (watching) {
  await (await context(options)).watch();
} else {
  const result = await build(options);
  writeFileSync(join(out, "licences.txt"), licences(here, Object.keys(result.metafile.inputs)));
}
