// Bundles the extension into `dist/`: one script, and the licences of the libraries that went in.

import { build } from "esbuild";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { licences } from "../../studio/licences.mjs";

const here = dirname(fileURLToPath(import.meta.url));

const result = await build({
  absWorkingDir: here,
  entryPoints: ["src/extension.js"],
  outfile: "dist/extension.js",
  bundle: true,
  platform: "node",
  format: "cjs",
  external: ["vscode"],
  minify: true,
  legalComments: "none",
  metafile: true,
  logLevel: "info",
});
writeFileSync(join(here, "dist", "licences.txt"), licences(here, Object.keys(result.metafile.inputs)));
