"""How often does a pump switch? Load, sweep a parameter, plot, verify, report."""

from pathlib import Path

import workbench

here = Path(__file__).parent
tank = workbench.load(here / "tank.charon")
for rate in ("0.5", "1", "2"):
    run = tank.with_parameters(rate=rate).simulate(until=30)[0]
    print(f"rate {rate}: {len(run.jumps)} switches, level {run.final['level']:.2f} at the end")
tank.simulate(until=30, runs=5).save("tank.svg", "level")
verdict = tank.verify("between the marks", time_limit=20)[0]
print(verdict.outcome, verdict.scope)
tank.report("tank.html", runs=3, until=10, time_limit=20)
