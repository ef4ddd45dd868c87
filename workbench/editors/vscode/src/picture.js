"use strict";
// The diagram that `charon/diagram` tells, as a page: SVG and a little script that sends clicks back.

const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

function escaped(text) {
  return String(text).replace(/[&<>"']/g, (sign) => ESCAPES[sign]);
}

/** The path of an edge: a start, then three points for each cubic curve; else straight lines. */
function curve(points) {
  if (points.length === 0) return "";
  const at = (point) => `${point[0]} ${point[1]}`;
  const [first, ...rest] = points;
  if (rest.length % 3 !== 0) return `M${[first, ...rest].map(at).join(" L")}`;
  let path = `M${at(first)}`;
  for (let i = 0; i < rest.length; i += 3) {
    path += ` C${at(rest[i])} ${at(rest[i + 1])} ${at(rest[i + 2])}`;
  }
  return path;
}

const LINE = 16; // from one line to the next, as the server lays them out

/** Lines of text, the first with its baseline at `y`. */
function lines(texts, x, y, kind) {
  return (texts || [])
    .map((text, i) => `<text class="${kind}" x="${x}" y="${y + LINE * i}">${escaped(text)}</text>`)
    .join("");
}

/** Where a click on something leads: to its text, or into it. */
function target(shown, path) {
  return escaped(JSON.stringify({ uri: shown.uri || null, range: shown.range || null, path }));
}

function node(shown, path) {
  const inside = shown.enterable ? [...path, shown.name] : null;
  const { x, y, width, height } = shown;
  const title = shown.title || shown.name || "";
  const head = `<g class="node ${escaped(shown.kind)}" tabindex="0" data-go="${target(shown, inside)}">`;
  if (shown.kind === "init") {
    return `${head}<title>init</title><circle cx="${x + width / 2}" cy="${y + height / 2}" r="${width / 2}"/></g>`;
  }
  const pill = ["entry", "exit", "variable"].includes(shown.kind);
  const box = `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="${pill ? height / 2 : 6}"/>`;
  if (pill) return `${head}${box}${lines([title], x + 10, y + 15, "name")}</g>`;
  const caption = shown.caption ? `<title>${escaped(`${title}: ${shown.caption}`)}</title>` : "";
  return (
    `${head}${caption}${box}${lines([title], x + 11, y + 20.5, "name")}` +
    `${lines(shown.label_lines, x + 11, y + 39.5, "detail")}</g>`
  );
}

function edge(shown) {
  const label = shown.label
    ? lines(shown.label.lines, shown.label.x, shown.label.y + 12, "label")
    : "";
  const ends = shown.both ? ' marker-start="url(#tip)"' : "";
  return (
    `<g class="edge ${escaped(shown.kind)}" data-go="${target(shown, null)}">` +
    `<path d="${curve(shown.points || [])}"${ends}/>${label}</g>`
  );
}

/** The drawing of one level. */
function svg(diagram) {
  const width = Math.max(diagram.width || 0, 1);
  const height = Math.max(diagram.height || 0, 1);
  return (
    `<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">` +
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" ' +
    'orient="auto-start-reverse"><path d="M0 0 L8 4 L0 8 z"/></marker></defs>' +
    (diagram.edges || []).map(edge).join("") +
    (diagram.nodes || []).map((shown) => node(shown, diagram.path || [])).join("") +
    "</svg>"
  );
}

/** The way from the outermost level to the one that is shown. */
function breadcrumb(diagram) {
  return (diagram.breadcrumb || [])
    .map((step) => `<button data-path="${escaped(JSON.stringify(step.path))}">${escaped(step.name)}</button>`)
    .join(" › ");
}

/** The whole page; `nonce` is what its style and script are allowed by. */
function page(diagram, nonce) {
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'`;
  const old = diagram.stale ? '<p class="stale">The text is broken; this is how it was before.</p>' : "";
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<style nonce="${nonce}">
body { color: var(--vscode-editor-foreground); background: var(--vscode-editor-background); font: 12px var(--vscode-font-family, sans-serif); }
nav button { color: inherit; background: none; border: 1px solid transparent; cursor: pointer; }
nav button:focus-visible, .node:focus-visible rect { outline: 2px solid var(--vscode-focusBorder, #06c); }
.stale { color: var(--vscode-editorWarning-foreground, #8a6d1a); }
svg { max-width: 100%; height: auto; }
rect, circle { fill: var(--vscode-editorWidget-background, #fff); stroke: currentColor; }
.edge path { fill: none; stroke: currentColor; marker-end: url(#tip); }
marker path { fill: currentColor; }
text { fill: currentColor; }
text { font: 11.5px monospace; }
.name { font-size: 13px; font-weight: 600; }
.missing rect { stroke: var(--vscode-editorError-foreground, #b42318); stroke-dasharray: 4 3; }
.share path { stroke-dasharray: 2 3; }
[data-go] { cursor: pointer; }
</style></head><body>
<nav>${breadcrumb(diagram)}</nav>${old}${svg(diagram)}
<script nonce="${nonce}">
const editor = acquireVsCodeApi();
const go = (target, enter) => {
  const { uri, range, path } = JSON.parse(target.dataset.go);
  editor.postMessage(enter && path ? { path } : { reveal: range, uri });
};
for (const target of document.querySelectorAll("[data-go]")) {
  target.addEventListener("click", () => go(target, false));
  target.addEventListener("dblclick", () => go(target, true));
  target.addEventListener("keydown", (event) => { if (event.key === "Enter") go(target, true); });
}
for (const button of document.querySelectorAll("nav button")) {
  button.addEventListener("click", () => editor.postMessage({ path: JSON.parse(button.dataset.path) }));
}
</script></body></html>`;
}

module.exports = { breadcrumb, curve, escaped, page, svg };
