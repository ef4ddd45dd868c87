/** Starts the page: everything that watches, the connection, and the project. */

import "./studio.css";
import { render } from "preact";
import { watchJobs } from "./deciding/jobs";
import { ask } from "./deciding/panel";
import { claimAt, watchRemarks } from "./deciding/remarks";
import { watchActivity } from "./drawing/activity";
import { watchPicture } from "./drawing/state";
import { watchKeys } from "./page/commands";
import { Shell } from "./page/shell";
import { focusPart, watchView } from "./page/view";
import { begin, complain, load } from "./project/files";
import { watchSight } from "./running/plots";
import { chooseAgent, description, watchPlaying, watchRuns } from "./running/state";
import { watchWhy } from "./running/why";
import { editor, uriOf } from "./text/documents";
import { watchExpected } from "./text/expected";
import { onCommand } from "./text/marks";
import { watchMeaning } from "./text/meaning";
import { watchProblems } from "./text/problems";
import { start } from "./wire/language";
import { connect } from "./wire/socket";
import type { Command } from "./wire/types";

/** What the lenses over agents and claims do: their commands name a verb, and perhaps a claim. */
function perform({ command, arguments: given }: Command): void {
  const verb = /(verify|falsify|simulate|report)/.exec(command)?.[1];
  const asked = given?.find((one): one is Record<string, unknown> => typeof one === "object" && one !== null);
  const place = asked?.["place"];
  const view = editor();
  const [line, column] = Array.isArray(place) ? place.map(Number) : [];
  const claim = view === null || line === undefined ? null : claimAt(view.state, line, column ?? 1);
  const properties = claim === null ? [] : [claim];
  const agent = asked?.["agent"];
  if (verb === "simulate") {
    chooseAgent(typeof agent === "string" ? agent : null);
    focusPart("run");
  } else if (verb === "verify" || verb === "falsify" || verb === "report") {
    if (claim === null || !description.peek()?.properties.some(({ name }) => name === claim)) chooseAgent(null);
    focusPart("decide");
    ask(verb, properties);
  }
}

async function run(): Promise<void> {
  const root = document.getElementById("studio");
  if (root === null) return;
  watchView();
  render(<Shell />, root);
  onCommand(perform);
  watchProblems(load);
  watchMeaning();
  watchExpected();
  watchPicture();
  watchRuns();
  watchPlaying();
  watchSight();
  watchActivity();
  watchWhy();
  watchJobs();
  watchRemarks();
  watchKeys();
  try {
    await begin();
  } catch (error) {
    complain(error);
  }
  start(() => uriOf("").replace(/\/$/, ""));
  connect();
  document.body.classList.add("ready");
}

void run();
