"use strict";
// What is known of the claims, as marks in the gutter: plain data in, plain data out.

const OUTCOMES = ["verified", "falsified", "unknown"];

/** The marks of each kind for the verdicts of a document: `stale` ones are about an older text. */
function marks(verdicts) {
  const found = { verified: [], falsified: [], unknown: [], stale: [] };
  for (const verdict of verdicts) {
    if (!OUTCOMES.includes(verdict.outcome)) continue;
    const kind = verdict.stale ? "stale" : verdict.outcome;
    const about = verdict.stale ? " (before the last change)" : "";
    found[kind].push({
      line: verdict.range.start.line,
      hover: `**${verdict.property}**: ${verdict.headline}${about}`,
    });
  }
  return found;
}

/** How many claims of a document are how, in a few words; empty where nothing is known. */
function summary(verdicts) {
  const kinds = marks(verdicts);
  return Object.entries(kinds)
    .filter(([, list]) => list.length > 0)
    .map(([kind, list]) => `${list.length} ${kind}`)
    .join(", ");
}

/** The requests that verify every claim, from the code lenses of a document. */
function verifications(lenses) {
  return lenses
    .map((lens) => lens.command)
    .filter((command) => command && command.command === "charon.verify")
    .map((command) => command.arguments[0]);
}

module.exports = { marks, summary, verifications };
