/** One field for commands, files and names: type a part of it, choose with the arrows. */

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { files, showFile } from "../project/files";
import { goTo } from "../text/editor";
import { pathOf } from "../text/documents";
import { request } from "../wire/language";
import type { Location } from "../wire/types";
import { ACTIONS, paletteOpen } from "./commands";
import { Modal } from "./dialogs";

interface Entry {
  name: string;
  about: string;
  run: () => void;
}

const MOST = 40;

function matches(name: string, words: readonly string[]): boolean {
  const lower = name.toLowerCase();
  return words.every((word) => lower.includes(word));
}

function Search(): JSX.Element {
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const [symbols, setSymbols] = useState<readonly Entry[]>([]);
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    if (query.trim() === "") return setSymbols([]);
    let late = false;
    request<{ name: string; containerName?: string; location: Location }[] | null>("workspace/symbol", { query })
      .then((found) => {
        if (late) return;
        setSymbols(
          (found ?? []).slice(0, 20).map((symbol) => {
            const path = pathOf(symbol.location.uri) ?? "";
            return {
              name: symbol.name,
              about: `${symbol.containerName ?? ""} ${path}`.trim(),
              run: () => void goTo(path, symbol.location.range),
            };
          }),
        );
      })
      .catch(() => setSymbols([]));
    return () => {
      late = true;
    };
  }, [query]);
  const words = query.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const entries: Entry[] = [
    ...ACTIONS.filter((action) => action.name !== "Commands" && matches(action.name, words)).map((action) => ({
      name: action.name, about: action.key ?? "", run: action.run,
    })),
    ...files.value.filter((file) => matches(file.path, words)).map((file) => ({
      name: file.path, about: file.kind, run: () => void showFile(file.path),
    })),
    ...symbols,
  ].slice(0, MOST);
  const chosen = Math.min(at, entries.length - 1);
  useEffect(() => {
    list.current?.children[chosen]?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const take = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    paletteOpen.value = false;
    setTimeout(entry.run);
  };
  return (
    <Modal title="Commands, files, names" close={() => (paletteOpen.value = false)} wide>
      <input
        data-first type="search" class="query" aria-controls="palette-list"
        aria-activedescendant={`palette-${chosen}`} aria-label="Search" placeholder="verify, platoon.charon, Controller …" value={query}
        onInput={(event) => {
          setQuery(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") setAt(Math.min(chosen + 1, entries.length - 1));
          else if (event.key === "ArrowUp") setAt(Math.max(chosen - 1, 0));
          else if (event.key === "Enter") take(entries[chosen]);
          else if (event.key === "Escape") paletteOpen.value = false;
          else return;
          event.preventDefault();
        }}
      />
      <ul class="palette" id="palette-list" role="listbox" ref={list}>
        {entries.map((entry, place) => (
          <li
            key={`${entry.name} ${entry.about}`} id={`palette-${place}`} role="option"
            aria-selected={place === chosen} class={place === chosen ? "chosen" : ""} onClick={() => take(entry)}
          >
            <span>{entry.name}</span>
            <span class="quiet">{entry.about}</span>
          </li>
        ))}
      </ul>
    </Modal>
  );
}

export function Palette(): JSX.Element | null {
  return paletteOpen.value ? <Search /> : null;
}
