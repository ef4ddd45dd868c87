/** Colours of the language as it is typed, before the language server has seen it. */

import { HighlightStyle, LanguageSupport, StreamLanguage, indentService, syntaxHighlighting } from "@codemirror/language";
import type { StringStream } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { tags } from "@lezer/highlight";
import words from "./words.json";

const KINDS = new Map<string, string>([
  ...words.keywords.map((word): [string, string] => [word, "keyword"]),
  ...words.types.map((word): [string, string] => [word, "typeName"]),
  ...words.functions.map((word): [string, string] => [word, "function"]),
  ...words.constants.map((word): [string, string] => [word, "bool"]),
]);

const { line, block } = words.comments;

/** What a line has to know of those before it: whether they leave a comment open. */
interface Place {
  inComment: boolean;
}

function token(stream: StringStream, place: Place): string | null {
  if (!place.inComment && stream.eatSpace()) return null;
  if (!place.inComment && stream.match(line)) {
    stream.skipToEnd();
    return "comment";
  }
  if (place.inComment || stream.match(block.open)) {
    place.inComment = !stream.skipTo(block.close);
    if (place.inComment) stream.skipToEnd();
    else stream.match(block.close);
    return "comment";
  }
  if (stream.match(/^"[^"]*"?/)) return "string";
  if (stream.match(/^#\w+/)) return "labelName";
  if (stream.match(/^\d+(?!\.\.)(\.\d+)?([eE][+-]?\d+)?/)) return "number";
  const name = stream.match(/^[A-Za-z_]\w*/);
  if (name) {
    const word = String((name as RegExpMatchArray)[0]);
    const kind = KINDS.get(word);
    if (kind === "function") return stream.peek() === "(" ? "function" : "variableName";
    if (kind !== undefined) return kind;
    return /^[A-Z]/.test(word) ? "className" : "variableName";
  }
  if (stream.match(/^(&&|\|\||[=!<>:]=|\.\.|[-+*/^<>=!?:])/)) return "operator";
  stream.next();
  return null;
}

const charon = StreamLanguage.define<Place>({
  name: "charon",
  token,
  tokenTable: { function: tags.function(tags.variableName) },
  languageData: {
    commentTokens: words.comments,
    closeBrackets: { brackets: ["(", "[", "{", '"'] },
    indentOnInput: /^\s*\}$/,
  },
  startState: () => ({ inComment: false }),
  copyState: (place) => ({ ...place }),
});

/** A new line goes as deep as the one before it, deeper behind an opening bracket. */
const indentation = indentService.of((context, pos) => {
  const line = context.lineAt(pos);
  const above = line.from > 0 ? context.lineAt(line.from - 1, -1) : null;
  if (above === null) return 0;
  const opened = /[{[(]\s*(\/\/.*|\/\*.*\*\/\s*)?$/.test(above.text) ? context.unit : 0;
  const closing = /^\s*[}\])]/.test(context.textAfterPos(pos)) ? context.unit : 0;
  return Math.max(0, context.lineIndent(above.from) + opened - closing);
});

/** Classes instead of colours: the style sheet knows light and dark. */
const style = HighlightStyle.define([
  { tag: tags.keyword, class: "t-keyword" },
  { tag: tags.typeName, class: "t-type" },
  { tag: tags.className, class: "t-class" },
  { tag: tags.function(tags.variableName), class: "t-function" },
  { tag: tags.bool, class: "t-constant" },
  { tag: tags.comment, class: "t-comment" },
  { tag: tags.string, class: "t-string" },
  { tag: tags.labelName, class: "t-label" },
  { tag: tags.number, class: "t-number" },
  { tag: tags.operator, class: "t-operator" },
]);

export const highlighting: Extension = [new LanguageSupport(charon), indentation, syntaxHighlighting(style)];
