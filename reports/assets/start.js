// Put the views together, and begin with what deserves attention: a contradiction, else a
// counterexample, else the run that came closest to breaking the first property, else the first run.

function firstSelection() {
  const wrong = DATA.crosscheck.contradictions[0];
  if (wrong) {
    const claim = DATA.properties.findIndex((p) => p.name === wrong.claim);
    return { run: wrong.run, t: wrong.place ? wrong.place.t : 0, claim: Math.max(0, claim) };
  }
  const run = RUNS[DATA.first_run];
  if (!run) return {};
  return { run: run.number, t: run.start, claim: Math.max(0, DATA.properties.findIndex((p) => p.name === run.claim)) };
}

Object.assign(selection, firstSelection());
makePlots();
makePanels();
makePlayer();
makeRechecking();
for (const view of views) view({ claim: true, run: false, time: true });
document.body.classList.add('ready');

// On paper nothing can be unfolded; abstract paths, of which there are very many, stay folded.
let unfoldedForPrint = [];
window.addEventListener('beforeprint', () => {
  unfoldedForPrint = [...document.querySelectorAll('details:not(.path):not([open])')];
  for (const folded of unfoldedForPrint) folded.open = true;
  drawPlots(PAPER_WIDTH);
});
window.addEventListener('afterprint', () => {
  for (const folded of unfoldedForPrint) folded.open = false;
  drawPlots();
});
