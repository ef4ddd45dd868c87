// What the licences of the packages say that went into a bundle.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const PACKAGE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;

/** The licences of the packages that the files of a bundle are from, each with its version: also of
 *  those that lie inside other packages. `inputs` are paths as seen from the folder `here`. */
export function licences(here, inputs) {
  const folders = new Set(inputs.map((input) => PACKAGE.exec(input)?.[0]).filter(Boolean));
  const told = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(here, folder, "package.json"), "utf8"));
    const file = readdirSync(join(here, folder)).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file ? readFileSync(join(here, folder, file), "utf8").trim() : "";
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  return told.join(`\n${"-".repeat(72)}\n\n`);
}
