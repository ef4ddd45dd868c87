// The report's data, runs that can be asked for values at any time, and the one selection
// that every view shows: a property, a run, a time, and the event there, if any.

const DATA = JSON.parse(byId('report-data').textContent);
const NAMES = DATA.variables.map((v) => v.name);
const COLOURS = 8;

function locationIndex(name) {
  const found = DATA.locations[name];
  return found ? found.index : 0;
}

const colourClass = (name) => `mode-${locationIndex(name) % COLOURS}`;
const titleOf = (name) => (name && DATA.locations[name] ? DATA.locations[name].title : name || 'no state');

class Run {
  constructor(raw, number) {
    this.number = number;
    this.raw = raw;
    this.stretches = raw.stretches.map((s) => ({
      location: s.location,
      t: s.t,
      start: s.t[0],
      end: s.t[s.t.length - 1],
      values: s.values,
      parameters: raw.parameters,
    }));
    this.start = this.stretches.length ? this.stretches[0].start : 0;
    this.end = this.stretches.length ? this.stretches[this.stretches.length - 1].end : 0;
    this.starts = this.stretches.map((s) => s.start);
    this.events = raw.events.map((e) => (e.transition === undefined ? e : { ...DATA.transitions[e.transition], ...e }));
    this.steps = this.makeSteps();
  }

  get title() {
    return this.raw.kind === 'counterexample' ? `counterexample ${this.number}` : `run ${this.number}`;
  }

  // The property that the run is to break, if any.
  get claim() { return this.raw.claim; }

  makeSteps() {
    // Each step knows its stretch: at one instant a run may be in several.
    const steps = [{ t: this.start, event: null, text: 'start', stretch: 0 }];
    for (const event of this.events) steps.push({ t: event.t, event, text: event.name, stretch: event.stretch });
    steps.push({ t: this.end, event: null, text: this.raw.outcome.sentence, stretch: this.stretches.length - 1 });
    return steps;
  }

  stretchAt(t) {
    return this.stretches.length ? this.stretches[before(this.starts, t)] : null;
  }

  value(name, t) {
    if (name === 'time') return t;
    const stretch = this.stretchAt(t);
    return stretch ? sample(stretch, name, t) : null;
  }

  // All values at a moment of a stretch, by name: variables, parameters, the time.
  knowing(stretch, t) {
    return (name) => (name === 'time' ? t : sample(stretch, name, t));
  }

  // The value after an event.
  after(name, event) {
    const stretch = this.stretches[event.stretch];
    return stretch && name !== 'time' ? sample(stretch, name, event.t) : this.value(name, event.t);
  }

  column(stretch, name) {
    if (name === 'time') return stretch.t;
    const column = told(stretch, name);
    return Array.isArray(column) ? column : stretch.t.map(() => column);
  }
}

// What is known of a name in a stretch: values at its times, or one that does not change.
function told(stretch, name) {
  if (Object.hasOwn(stretch.values, name)) return stretch.values[name];
  return Object.hasOwn(stretch.parameters, name) ? stretch.parameters[name] : null;
}

// A straight line between two points of a stretch.
function sample(stretch, name, t) {
  const column = told(stretch, name);
  if (!Array.isArray(column)) return column;
  const i = before(stretch.t, t);
  if (i + 1 >= column.length || column[i] === null || column[i + 1] === null) return column[i];
  const share = clamp((t - stretch.t[i]) / (stretch.t[i + 1] - stretch.t[i] || 1), 0, 1);
  return column[i] + share * (column[i + 1] - column[i]);
}

const RUNS = DATA.runs.map((raw, i) => new Run(raw, i));

const selection = { claim: 0, run: 0, t: 0, step: 0, stretch: null };
const views = [];

// Change the selection and let every view follow; `from` is the view that asked.
function select(change) {
  const moved = { ...selection, ...change };
  const run = RUNS[moved.run];
  if (run) {
    moved.t = clamp(moved.t, run.start, run.end);
    moved.stretch = change.stretch ?? null;
    if (change.step !== undefined) {
      moved.step = clamp(change.step, 0, run.steps.length - 1);
      moved.t = run.steps[moved.step].t;
      moved.stretch = run.steps[moved.step].stretch;
    } else {
      moved.step = before(run.steps.map((s) => s.t), moved.t);
      while (moved.stretch !== null && moved.step > 0 && run.steps[moved.step].stretch > moved.stretch) moved.step -= 1;
    }
  }
  const changed = {
    claim: moved.claim !== selection.claim,
    run: moved.run !== selection.run,
    time: moved.t !== selection.t || moved.stretch !== selection.stretch,
  };
  Object.assign(selection, moved);
  for (const view of views) view(changed);
}

const chosenRun = () => RUNS[selection.run];
const chosenClaim = () => DATA.properties[selection.claim];
const chosenStretch = () => {
  const run = chosenRun();
  return run ? run.stretches[selection.stretch] || run.stretchAt(selection.t) : null;
};
const chosenLocation = () => {
  const stretch = chosenStretch();
  return stretch ? stretch.location : null;
};
const chosenValue = (name) => {
  const stretch = chosenStretch();
  if (name === 'time') return selection.t;
  return stretch ? sample(stretch, name, selection.t) : null;
};
const declaredAs = (name) => DATA.variables.find((v) => v.name === name) || { type: 'real', kind: '', symbols: [] };
const symbolsOf = (name) => (declaredAs(name).type === 'bool' ? ['false', 'true'] : declaredAs(name).symbols);
const symbolOf = (name, value) => (value === null ? null : symbolsOf(name)[Math.round(value)]) || show(value);

// A flowpipe speaks about stays: those of a run, as [start, end, node, location].
const tubeStays = (set, run) => (set && set.stays && run ? set.stays[run.number] : []);

// What the certificate claims of a variable now: intervals, an end of which may be open.
function claimedNow(name) {
  const set = chosenClaim() ? chosenClaim().set : null;
  if (!set) return [];
  const stay = tubeStays(set, chosenRun()).filter((s) => s[0] <= selection.t && selection.t <= s[1]).pop();
  if (stay) {
    const elapsed = selection.t - stay[0];
    const piece = (set.tubes[name] || []).find((p) => p[0] === stay[2] && p[1] <= elapsed && elapsed <= p[2]);
    return piece ? [[piece[3], piece[4]]] : [];
  }
  if (set.functions) {
    const stretch = chosenStretch();
    const found = stretch ? allowed(set.functions[stretch.location] || [], name, chosenRun().knowing(stretch, selection.t)) : [];
    const end = (value) => (Number.isFinite(value) ? value : null);
    const here = found.find(([low, high]) => low <= chosenValue(name) && chosenValue(name) <= high);
    return here ? [here.map(end)] : [];
  }
  const places = set.intervals[name] || {};
  return places[chosenLocation()] || [];
}
