// The bar at the bottom: which run, which moment; play and step.

const PLAY_SECONDS = 12;
const MAX_TICKS = 1000;
let playing = null;

function makePlayer() {
  const bar = byId('player');
  if (!RUNS.length) return;
  bar.hidden = false;
  document.body.classList.add('with-player');
  byId('run').addEventListener('change', (event) => {
    const run = Number(event.target.value);
    select({ run, t: RUNS[run].start });
  });
  byId('slider').addEventListener('input', (event) => {
    stop();
    const run = chosenRun();
    select({ t: run.start + (Number(event.target.value) / MAX_TICKS) * (run.end - run.start) });
  });
  byId('first').addEventListener('click', () => { stop(); select({ step: 0 }); });
  byId('previous').addEventListener('click', () => move(-1));
  byId('next').addEventListener('click', () => move(1));
  byId('play').addEventListener('click', toggle);
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    if (event.key === 'j') move(1);
    else if (event.key === 'k') move(-1);
    else if (event.key === 'p') toggle();
  });
  views.push(followPlayer);
}

// One event further or back; several at one moment are stepped through one by one.
function move(by) {
  stop();
  const run = chosenRun();
  const step = run.steps[selection.step];
  if (by < 0 && step && selection.t > step.t) select({ step: selection.step });
  else select({ step: selection.step + by });
}

function toggle() {
  if (playing) { stop(); return; }
  const run = chosenRun();
  if (selection.t >= run.end) select({ step: 0 });
  let last = performance.now();
  const advance = (now) => {
    const current = chosenRun();
    const t = selection.t + ((now - last) / 1000 / PLAY_SECONDS) * (current.end - current.start);
    last = now;
    if (t >= current.end) {
      select({ step: current.steps.length - 1 });
      stop();
      return;
    }
    select({ t });
    playing = requestAnimationFrame(advance);
  };
  playing = requestAnimationFrame(advance);
  byId('play').textContent = '❚❚';
  byId('play').classList.add('on');
}

function stop() {
  if (playing) cancelAnimationFrame(playing);
  playing = null;
  byId('play').textContent = '▶';
  byId('play').classList.remove('on');
}

function followPlayer() {
  const run = chosenRun();
  const location = chosenLocation();
  byId('run').value = String(selection.run);
  byId('slider').value = String(((selection.t - run.start) / (run.end - run.start || 1)) * MAX_TICKS);
  byId('slider').setAttribute('aria-valuetext', `t = ${show(selection.t)}, ${titleOf(location)}`);
  byId('clock').textContent = `t = ${show(selection.t, 5)}`;
  byId('where').replaceChildren(element('span', { class: `swatch ${location ? colourClass(location) : ''}` }), titleOf(location));
}
