/** The little of Markdown that the language server writes, as elements; nothing else gets through. */

import type { Markup } from "../wire/types";

function inline(text: string, into: HTMLElement): void {
  for (const piece of text.split(/(`[^`]+`|\*\*[^*]+\*\*|\*[^*\s][^*]*\*)/)) {
    if (piece === "") continue;
    const mark = piece.startsWith("`") ? "code" : piece.startsWith("**") ? "b" : piece.startsWith("*") && piece.endsWith("*") && piece.length > 2 ? "i" : null;
    if (mark === null) into.append(piece);
    else {
      const element = document.createElement(mark);
      const cut = mark === "b" ? 2 : 1;
      element.textContent = piece.slice(cut, -cut);
      into.append(element);
    }
  }
}

export function markup(content: string | Markup): HTMLElement {
  const box = document.createElement("div");
  box.className = "markup";
  if (typeof content !== "string" && content.kind === "plaintext") {
    const plain = document.createElement("p");
    plain.className = "plain";
    plain.textContent = content.value;
    box.append(plain);
    return box;
  }
  const value = typeof content === "string" ? content : content.value;
  for (const [place, part] of value.split(/^```.*$/m).entries()) {
    if (place % 2 === 1) {
      const code = document.createElement("pre");
      code.textContent = part.replace(/^\n|\n$/g, "");
      box.append(code);
      continue;
    }
    for (const paragraph of part.split(/\n\s*\n/)) {
      if (paragraph.trim() === "") continue;
      const element = document.createElement("p");
      for (const [line, text] of paragraph.trim().split("\n").entries()) {
        if (line > 0) element.append(document.createElement("br"));
        inline(text.replace(/^#+\s*/, "").replace(/^[-*]\s+/, "• "), element);
      }
      box.append(element);
    }
  }
  return box;
}
