/** How the page is arranged: sizes of its parts, which are shown, light or dark. */

import { computed, effect, signal } from "@preact/signals";
import { asking } from "../running/why";
import { showRuns, watched } from "../running/state";
import { openReport } from "../project/files";

export type Dock = "run" | "decide" | "jobs";
export type Part = Dock | "tree" | "text" | "diagram";
export type Theme = "auto" | "light" | "dark";

const KEY = "studio view";

interface Kept {
  tree: number;
  split: number;
  dock: number;
  theme: Theme;
  expected: boolean;
}

const FIRST: Kept = { tree: 14, split: 0.6, dock: 0.43, theme: "auto", expected: true };

function kept(): Kept {
  try {
    return { ...FIRST, ...(JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<Kept>) };
  } catch {
    return FIRST;
  }
}

export const sizes = signal<Kept>(kept());
export const shownDock = signal<Dock>("run");
/** Whether the lower part of the page takes the place of text and diagram. */
export const dockTall = signal(false);
/** On a narrow page: which of text and diagram is seen, and whether the tree is. */
export const upper = signal<"text" | "diagram">("text");
export const drawer = signal(false);

export const arrange = (change: Partial<Kept>): void => {
  sizes.value = { ...sizes.peek(), ...change };
};

const prefersDark = matchMedia("(prefers-color-scheme: dark)");

export function toggleTheme(): void {
  const { theme } = sizes.peek();
  const dark = theme === "dark" || (theme === "auto" && prefersDark.matches);
  arrange({ theme: dark ? "light" : "dark" });
}

const FOCUS: Record<Part, string> = {
  tree: ".tree [tabindex='0']",
  text: ".cm-content",
  diagram: "svg.picture",
  run: ".plots canvas",
  decide: ".decide .choice input, .decide .choice button",
  jobs: ".dock-tabs [aria-selected='true']",
};

/** Show a part of the page and give it the keyboard. */
export function focusPart(part: Part): void {
  openReport.value = null;
  if (part === "tree") drawer.value = true;
  else if (part === "text" || part === "diagram") {
    upper.value = part;
    drawer.value = false;
    dockTall.value = false;
  } else {
    shownDock.value = part;
    drawer.value = false;
  }
  requestAnimationFrame(() => document.querySelector<HTMLElement | SVGElement>(FOCUS[part])?.focus());
}

const themed = computed(() => sizes.value.theme);

export function watchView(): void {
  const root = document.documentElement;
  document.addEventListener("keydown", () => (root.dataset["keys"] = ""), true);
  document.addEventListener("pointerdown", () => delete root.dataset["keys"], true);
  effect(() => localStorage.setItem(KEY, JSON.stringify(sizes.value)));
  effect(() => {
    if (themed.value === "auto") delete root.dataset["theme"];
    else root.dataset["theme"] = themed.value;
    // A click on the bar of the browser on a small screen sees the same colours.
    root.style.colorScheme = themed.value === "auto" ? "light dark" : themed.value;
  });
  effect(() => {
    watched.value = shownDock.value === "run" || asking.value || shownDock.value === "decide";
  });
  effect(() => {
    if (showRuns.value === 0) return;
    shownDock.value = "run";
    openReport.value = null;
  });
}
