// The two plots of a report: a variable over time, and one variable over another.

const PAPER_WIDTH = 620; // pixels, that become the width of a page
const SECTION_STEP = 3; // pixels between two cuts of a section
const pairKey = (x, y) => `${x}\n${y}`;

class TimePlot extends Plot {
  // Bad values of the plotted variable: bands over all time where they depend on nothing else,
  // otherwise with mode and other variables as they are in the selected run.
  drawBad(inside) {
    const v = this.view;
    const seen = new Set();
    for (const [location, cases] of Object.entries(chosenClaim().bad.cases)) {
      for (const one of cases) {
        const names = namesOf(one);
        if (!names.includes(this.axes.y)) continue;
        if (names.length > 1 || !isBadEverywhere(one)) this.drawBadAlong(inside, location, one);
        else if (!seen.has(keyOf(one))) {
          seen.add(keyOf(one));
          for (const interval of allowed(one, this.axes.y, () => null)) band(inside, this, v.x0, v.x1, finite(interval, v), 'bad');
        }
      }
    }
  }

  drawBadAlong(inside, location, one) {
    const run = chosenRun();
    for (const stretch of run ? run.stretches : []) {
      if (stretch.location !== location) continue;
      const cuts = stretch.t.map((t) => [this.px(t), allowed(one, this.axes.y, run.knowing(stretch, t))]);
      const tinted = shape('g', { class: 'bad-group' });
      const hatched = shape('g', { fill: `url(#${this.pattern})` });
      bands(tinted, this, cuts, 'solid');
      bands(hatched, this, cuts, 'bad-lines');
      inside.append(tinted, hatched, ...this.bounds(cuts));
    }
  }

  // The finite ends of intervals, as lines from cut to cut.
  bounds(cuts) {
    const end = (k, side) => cuts.map(([at, intervals]) => [at, intervals[k] ? this.py(intervals[k][side]) : NaN]).filter((p) => Number.isFinite(p[1]));
    const most = Math.max(0, ...cuts.map(([, intervals]) => intervals.length));
    return [...Array(most).keys()].flatMap((k) => [end(k, 0), end(k, 1)])
      .filter((line) => line.length > 1)
      .map((line) => shape('path', { d: path(line), class: 'bound' }));
  }

  // From when on the run that breaks the property could not have been rescued.
  drawLastChance(inside, run) {
    const claim = chosenClaim();
    const lost = claim.verdict.counterexample && claim.verdict.counterexample.safety_lost;
    if (!lost || lost.unknown || !run || run.claim !== claim.name) return;
    drawRescued(inside, this, (i) => claim.rescued.t[i]);
    const at = this.px(lost.time === null ? 0 : lost.time);
    inside.append(
      shape('line', { x1: at, x2: at, y1: MARGIN.top, y2: MARGIN.top + this.inner.h, class: 'lost' }),
      shape('text', { x: at + 5, y: MARGIN.top + 13, class: 'lost-label' }, 'safety lost'));
  }

  // What the certificate claims of the variable, in the mode that the selected run is in.
  drawSets(inside) {
    const set = chosenClaim().set;
    const run = chosenRun();
    if (set && set.stays) this.drawTubes(inside, set);
    if (set && set.functions && run) this.drawAllowed(inside, set, run);
    this.drawLastChance(inside, run);
    const intervals = set && set.intervals[this.axes.y];
    if (!intervals || !run) return;
    for (const stretch of run.stretches) {
      for (const one of intervals[stretch.location] || []) {
        band(inside, this, stretch.start, stretch.end, reach(one, this.view.y0, this.view.y1), `claimed-band ${colourClass(stretch.location)}`);
      }
    }
  }

  // The flowpipe along the stays of every run that is drawn.
  drawTubes(inside, set) {
    const pieces = new Map();
    for (const piece of set.tubes[this.axes.y] || []) pieces.set(piece[0], [...(pieces.get(piece[0]) || []), piece]);
    const outlines = new Map(); // one for each mode: what overlaps does not pile up
    for (const run of RUNS) {
      for (const [start, end, node, location] of tubeStays(set, run)) {
        if (!outlines.has(location)) outlines.set(location, new Set());
        for (const [, from, to, low, high] of pieces.get(node) || []) {
          const box = boxOf(this, start + from, Math.min(start + to, end), reach([low, high], this.view.y0, this.view.y1));
          if (box) outlines.get(location).add(`M${box.left} ${box.top}H${box.right}V${box.bottom}H${box.left}Z`);
        }
      }
    }
    for (const [location, outline] of outlines) {
      inside.append(shape('g', { class: `claimed-group ${colourClass(location)}` }, shape('path', { d: [...outline].join(''), class: 'solid' })));
    }
  }

  // What quadratic functions allow, with the other variables as they are in the run.
  drawAllowed(inside, set, run) {
    const groups = new Map(); // one for each mode: what overlaps does not pile up
    for (const stretch of run.stretches) {
      const { location } = stretch;
      if (!groups.has(location)) groups.set(location, shape('g', { class: `claimed-group ${colourClass(location)}` }));
      const group = groups.get(location);
      const cuts = stretch.t.map((t) => [this.px(t), allowed(set.functions[stretch.location] || [], this.axes.y, run.knowing(stretch, t))]);
      bands(group, this, cuts, 'solid');
    }
    inside.append(...groups.values());
  }

  remark() {
    const set = chosenClaim().set;
    if (!set && rescuedOf(this.axes.y)) return 'Dashed: what the rescue would have made of the run, from the last instant from which it helps.';
    if (!set) return 'No certificate, so nothing is claimed about these values.';
    if (set.functions && chosenRun()) return `Tinted: what the certificate leaves to ${this.axes.y}, with the other variables as they are in ${chosenRun().title}.`;
    if (set.tubes[this.axes.y] && chosenRun()) return `Tinted: the flowpipe of ${this.axes.y}, along the stays of all runs.`;
    return set.intervals[this.axes.y] && chosenRun()
      ? `Tinted: what the certificate claims of ${this.axes.y} in the mode that ${chosenRun().title} is in.`
      : `The certificate claims nothing about ${this.axes.y} alone.`;
  }
}

class PhasePlot extends Plot {
  drawBad(inside) {
    const bad = chosenClaim().bad;
    const v = this.view;
    const { x, y } = this.axes;
    const seen = new Set();
    for (const shapes of Object.values(bad.locations)) {
      for (const one of shapes) {
        const key = JSON.stringify(one);
        if (seen.has(key)) continue;
        seen.add(key);
        if (one.axes.length === 1 && one.axes[0] === y) {
          band(inside, this, v.x0, v.x1, reach(one.shape, v.y0, v.y1), 'bad');
        } else if (one.axes.length === 1 && one.axes[0] === x) {
          const [x0, x1] = reach(one.shape, v.x0, v.x1);
          band(inside, this, x0, x1, [v.y0, v.y1], 'bad');
        } else if (one.axes.length === 2 && one.axes.includes(x) && one.axes.includes(y)) {
          polygon(inside, this, one.shape, one.axes[0] === y, 'bad');
        }
      }
    }
  }

  polygons() {
    const set = chosenClaim().set;
    if (!set) return null;
    const { x, y } = this.axes;
    if (set.pairs[pairKey(x, y)]) return { places: set.pairs[pairKey(x, y)], swapped: false };
    if (set.pairs[pairKey(y, x)]) return { places: set.pairs[pairKey(y, x)], swapped: true };
    return null;
  }

  // A section of the set that functions bound, through the selected state.
  drawSection(inside, functions) {
    const run = chosenRun();
    const stretch = chosenStretch();
    if (!stretch) return;
    const { x, y } = this.axes;
    const known = run.knowing(stretch, selection.t);
    for (const [location, terms] of Object.entries(functions)) {
      const cuts = [];
      for (let at = MARGIN.left; at <= MARGIN.left + this.inner.w; at += SECTION_STEP) {
        const across = this.view.x0 + ((at - MARGIN.left) / this.inner.w) * (this.view.x1 - this.view.x0);
        cuts.push([at, allowed(terms, y, (name) => (name === x ? across : known(name)))]);
      }
      const group = shape('g', { class: `claimed-group ${colourClass(location)}` });
      bands(group, this, cuts, 'solid');
      inside.append(group);
    }
  }

  // The variables that decide where the section lies.
  get hidden() {
    const { functions } = chosenClaim().set;
    const names = new Set(Object.values(functions).flat(2).flatMap((term) => term.slice(1)));
    return [...names].filter((name) => name !== this.axes.x && name !== this.axes.y);
  }

  get followsTime() {
    const set = chosenClaim() && chosenClaim().set;
    return Boolean(set && set.functions && this.hidden.length);
  }

  drawSets(inside) {
    const set = chosenClaim().set;
    const across = rescuedOf(this.axes.x);
    if (across) drawRescued(inside, this, (i) => across[i]);
    if (set && set.functions) this.drawSection(inside, set.functions);
    const found = this.polygons();
    if (!found) return;
    for (const [location, shapes] of Object.entries(found.places)) {
      // Pieces of a flowpipe overlap: painted solid in a translucent group, they do not pile up.
      const many = shapes.length > 8;
      const group = shape('g', { class: many ? `claimed-group ${colourClass(location)}` : null });
      for (const one of shapes) polygon(group, this, one, found.swapped, many ? 'solid' : `claimed ${colourClass(location)}`);
      inside.append(group);
    }
  }

  remark() {
    const set = chosenClaim().set;
    if (!set) return 'No certificate, so no set to draw.';
    if (set.functions) {
      return this.hidden.length
        ? `Tinted: a section of the proved set, by mode, through the selected state (${this.hidden.slice(0, 6).join(', ')} as they are there).`
        : 'Tinted: the proved set, by mode.';
    }
    return this.polygons()
      ? `Tinted: ${set.drawn || 'the shadow of the proved set'} on these two axes, by mode, near the runs.`
      : 'The shadow of the proved set on these two axes was not computed.';
  }
}

// What a rescue would have made of a variable in the selected counterexample, if that is known.
function rescuedOf(name) {
  return rescuedTimes() ? chosenClaim().rescued.values[name] : null;
}

function rescuedTimes() {
  const [claim, run] = [chosenClaim(), chosenRun()];
  return claim.rescued && run && run.claim === claim.name ? claim.rescued.t : null;
}

function drawRescued(inside, plot, across) {
  const up = rescuedOf(plot.axes.y);
  if (!up) return;
  inside.append(shape('path', { d: path(up.map((y, i) => [plot.px(across(i)), plot.py(y)])), class: 'rescued' }));
}

const keyOf = (functions) => JSON.stringify(functions);
const namesOf = (functions) => [...new Set(functions.flat().flatMap((term) => term.slice(1)))];

// Whether a case of bad states does not depend on the mode.
function isBadEverywhere(one) {
  const { cases } = chosenClaim().bad;
  return Object.keys(DATA.locations).every((location) => (cases[location] || []).some((other) => keyOf(other) === keyOf(one)));
}

// The bad states that the selected run ends in, if it breaks the selected property: what is at
// most zero in them, and the values there.
function broken() {
  const [run, claim] = [chosenRun(), chosenClaim()];
  const event = run && claim && run.events.find((e) => e.type === 'violation' && e.name === claim.name);
  const stretch = event && run.stretches[event.stretch];
  if (!stretch) return null;
  const known = run.knowing(stretch, event.t);
  const value = (terms) => terms.reduce((sum, [factor, name]) => sum + factor * (name === undefined ? 1 : known(name)), 0);
  const beyond = (functions) => Math.max(...functions.map(value));
  const cases = [...(claim.bad.cases[stretch.location] || [])].sort((a, b) => beyond(a) - beyond(b));
  return cases.length ? { functions: cases[0], known } : null;
}

// The variables concerned, flowing ones first.
function brokenNames() {
  const found = broken();
  const names = found ? namesOf(found.functions) : [];
  return [...names.filter(isFlowing), ...names.filter((name) => !isFlowing(name))];
}

// The bounds of one of them.
function brokenEdges(name) {
  const found = broken();
  if (!found || !namesOf(found.functions).includes(name)) return [];
  return allowed(found.functions, name, found.known).flat().filter(Number.isFinite);
}

const isFlowing = (name) => declaredAs(name).kind === 'analog';
const finite = (interval, view) => [Math.max(interval[0], Math.min(view.y0, interval[1])), Math.min(interval[1], Math.max(view.y1, interval[0]))];

// An interval with an open end goes on beyond the view.
const reach = (interval, low, high) => [
  interval[0] === null ? Math.min(low, interval[1] === null ? low : interval[1]) : interval[0],
  interval[1] === null ? Math.max(high, interval[0] === null ? high : interval[0]) : interval[1],
];

function paint(inside, plot, attributes, make) {
  if (attributes === 'bad') {
    inside.append(make('bad'));
    const hatched = make('bad-lines');
    hatched.setAttribute('fill', `url(#${plot.pattern})`);
    inside.append(hatched);
  } else inside.append(make(attributes));
}

// Where a part of the plot lies on the screen; null if there is nothing of it.
function boxOf(plot, x0, x1, interval) {
  const left = clamp(plot.px(x0), -1e4, 1e4);
  const right = clamp(plot.px(x1), -1e4, 1e4);
  const top = clamp(plot.py(interval[1]), -1e4, 1e4);
  const bottom = clamp(plot.py(interval[0]), -1e4, 1e4);
  return right <= left || bottom <= top ? null : { left, right, top, bottom };
}

function band(inside, plot, x0, x1, interval, role) {
  const box = boxOf(plot, x0, x1, interval);
  if (!box) return;
  const { left, right, top, bottom } = box;
  paint(inside, plot, role, (name) => shape('rect', { x: left, y: top, width: right - left, height: bottom - top, class: name }));
}

function polygon(inside, plot, points, swapped, role) {
  const places = points.map(([a, b]) => (swapped ? [plot.px(b), plot.py(a)] : [plot.px(a), plot.py(b)]));
  paint(inside, plot, role, (name) => shape('path', { d: `${path(places)}Z`, class: name }));
}

const plots = [];

// Draw all plots again: for the screen, or for paper of a width.
function drawPlots(width = null) {
  for (const plot of plots) {
    plot.paper = width;
    plot.draw();
  }
}

function makePlots() {
  if (!RUNS.length || !NAMES.length) {
    byId('time-plot').append(element('p', {}, 'There are no runs to plot.'));
    byId('phase-plot').remove();
    return;
  }
  const bad = chosenClaim() ? chosenClaim().bad.names : [];
  const used = [...brokenNames(), ...bad].filter((n) => NAMES.includes(n));
  const first = used[0] || NAMES[0];
  // Steps of discrete variables say little across each other: flowing ones come first.
  const flowing = DATA.variables.filter((v) => v.kind === 'analog').map((v) => v.name);
  const up = flowing.includes(first) || !flowing.length ? first : flowing[0];
  const other = [...used.filter(isFlowing), ...flowing].find((n) => n !== up) || 'time';
  const time = new TimePlot(byId('time-plot'), { x: 'time', y: first });
  time.addChoice('plot', 'y', NAMES);
  const phase = new PhasePlot(byId('phase-plot'), { x: other, y: up });
  phase.addChoice('across', 'x', [...NAMES, 'time']);
  phase.addChoice('up', 'y', NAMES);
  plots.push(time, phase);
  makeLegend();
  views.push((changed) => {
    for (const plot of plots) {
      if (changed.claim || changed.run) plot.draw();
      else plot.follow();
    }
  });
  let width = byId('plots').clientWidth;
  new ResizeObserver(() => {
    if (byId('plots').clientWidth === width || plots[0].paper) return;
    width = byId('plots').clientWidth;
    drawPlots();
  }).observe(byId('plots'));
}

function makeLegend() {
  const legend = byId('legend');
  const places = Object.keys(DATA.locations).slice(0, 16);
  for (const name of places) {
    legend.append(element('span', { class: 'key' }, element('span', { class: `swatch ${colourClass(name)}` }), titleOf(name)));
  }
  const rest = Object.keys(DATA.locations).length - places.length;
  if (rest > 0) legend.append(element('span', { class: 'key' }, `and ${rest} more modes`));
  const { variables_left_out: hidden } = DATA;
  if (hidden > 0) legend.append(element('span', { class: 'key' }, `${hidden} more variable${hidden > 1 ? 's' : ''} not plotted`));
  legend.append(element('span', { class: 'key' }, '◆ transition'), element('span', { class: 'key' }, element('span', { class: 'swatch bad-key' }), 'bad states'));
  if (DATA.properties.length > 1) {
    const choice = element('select', { id: 'claim', 'aria-label': 'Property' });
    DATA.properties.forEach((p, i) => choice.append(element('option', { value: i }, p.name)));
    choice.addEventListener('change', () => select({ claim: Number(choice.value) }));
    views.push(() => { choice.value = String(selection.claim); });
    legend.append(element('label', { class: 'key' }, 'property ', choice));
  }
}
