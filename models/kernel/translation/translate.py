"""Functions extracted from Coq as a Python module or a JavaScript one.

The translation is by syntax alone, the same for both languages:

- whole numbers of all kinds are the language's integers, of any size; the operations of `NATIVE`,
  and no others, are the language's own instead of Coq's definitions;
- a list is nothing or a pair (head, tail); pairs and rationals are tuples, any other value is a
  tuple with names, of a class of its own; truth values are truth values;
- functions that are named take all arguments at once, functions that are passed one at a time;
- a function that calls itself once on each way through it is a loop: where something is left to do
  after the call, what that needs waits on a stack. A function that calls itself twice, as on a
  tree, recurses (`Module.recursive` lists them); whoever calls must bound the depth of trees;
- a closure made inside a loop holds the values of the turn in which it was made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from workbench.models.kernel.translation.languages import (
    LANGUAGES,
    Block,
    Chosen,
    rendered,
)
from workbench.models.kernel.translation.layout import (
    ADD,
    AND,
    ATOM,
    COMPARE,
    MULTIPLY,
    OPEN,
    OR,
    UNARY,
    Chain,
    Doc,
    Group,
    Row,
    Text,
    flat,
    held,
)
from workbench.models.kernel.translation.terms import (
    TRUTHS,
    Apply,
    Branch,
    Case,
    Constructor,
    Definition,
    Extracted,
    Field,
    Global,
    Lambda,
    Let,
    Logic,
    Make,
    Name,
    Number,
    Term,
    UntranslatableError,
    bound,
    children,
    free,
    globals_of,
    plain,
    read,
    replaced,
)

NATIVE: Mapping[str, tuple[str, int, int]] = {
    "Z.add": ("{} + {}", ADD, 2),
    "Z.sub": ("{} - {}", ADD, 2),
    "Z.mul": ("{} * {}", MULTIPLY, 2),
    "Z.opp": ("-{}", UNARY, 1),
    "Z.leb": ("{} <= {}", COMPARE, 2),
    "Z.ltb": ("{} < {}", COMPARE, 2),
    "Z.eqb": ("{} == {}", COMPARE, 2),
    "Z.to_pos": ("to_pos({})", ATOM, 1),
    "Z.ggcd": ("ggcd({}, {})", ATOM, 2),
    "Pos.add": ("{} + {}", ADD, 2),
    "Pos.mul": ("{} * {}", MULTIPLY, 2),
    "Pos.eqb": ("{} == {}", COMPARE, 2),
    "Pos.leb": ("{} <= {}", COMPARE, 2),
    "Nat.eqb": ("{} == {}", COMPARE, 2),
    "Nat.leb": ("{} <= {}", COMPARE, 2),
    "Nat.ltb": ("{} < {}", COMPARE, 2),
    "Zeq_bool": ("{} == {}", COMPARE, 2),
}
"""Operations on whole numbers that are not translated but trusted to do what Coq's do: how they
are written, how tightly that holds together, and how many arguments they take."""

TUPLES = frozenset({"prod", "q"})
NUMBERS = frozenset({"nat", "positive", "z"})
TRUTH_TYPES = frozenset({"bool", "sumbool"})

_NUMBER_TESTS = {
    "O": "{} == 0",
    "S": "{} > 0",
    "Z0": "{} == 0",
    "Zpos": "{} > 0",
    "Zneg": "{} < 0",
    "XH": "{} == 1",
    "XO": "{} % 2 == 0",
    "XI": "{} % 2 == 1 and {} > 1",
}
_NUMBER_PARTS = {"S": "{} - 1", "Zpos": "{}", "Zneg": "-{}", "XO": "{} // 2", "XI": "{} // 2"}
_NUMBER_MADE = {"S": "{} + 1", "Zpos": "{}", "Zneg": "-{}", "XO": "2 * {}", "XI": "2 * {} + 1"}

# Where the value of a term goes


@dataclass(frozen=True)
class Goal:
    """What to do with a value: return it, or give it to a variable (and leave the loop)."""

    variable: str | None = None
    leaves: bool = False

    @property
    def ends(self) -> bool:
        """Whether nothing follows."""
        return self.variable is None or self.leaves


RETURN, RESULT = Goal(), Goal("result", leaves=True)


class _Function:
    """The translation of one definition."""

    def __init__(self, module: Module, definition: Definition, looping: bool):
        self.module, self.write = module, module.write
        self.definition, self.looping = definition, looping
        self.used = {
            definition.name,
            *definition.params,
            "waiting",
            *self.names_in(definition.body),
        }
        self.frames: list[tuple[tuple[str, ...], Term]] = []
        self.turns = 0
        self.recursive = False
        self.inside = 0
        calls = list(self._self_calls(definition.body))
        self.changing = frozenset(
            param
            for i, param in enumerate(definition.params)
            if any(call.args[i] != Name(param) for call in calls)
        )

    @staticmethod
    def names_in(term: Term) -> Iterator[str]:
        """The names that a term binds, anywhere in it."""
        yield from bound(term)
        for child in children(term):
            yield from _Function.names_in(child)

    def fresh(self, base: str) -> str:
        number, chosen = 0, base
        while chosen in self.used or chosen in self.module.taken:
            number += 1
            chosen = f"{base}{number}"
        self.used.add(chosen)
        return chosen

    # Calls of the function itself

    def _self_calls(self, term: Term) -> Iterator[Apply]:
        if self._is_self_call(term):
            assert isinstance(term, Apply)
            yield term
        for child in children(term):
            yield from self._self_calls(child)

    def _is_self_call(self, term: Term) -> bool:
        return (
            isinstance(term, Apply)
            and term.function == Global(self.definition.name)
            and len(term.args) == len(self.definition.params)
        )

    def _mentions(self, term: Term) -> int:
        """How often the function is mentioned."""
        return int(term == Global(self.definition.name)) + sum(map(self._mentions, children(term)))

    def _suspended(self, term: Term) -> tuple[Term, Apply] | None:
        """A term whose only mention of the function is a call that it surely makes, as what is
        left to do with its result, and the call."""
        if self._mentions(term) != 1:
            return None
        if self._is_self_call(term):
            assert isinstance(term, Apply)
            return Name("result"), term
        if isinstance(term, Make | Apply):
            parts = term.args
        elif isinstance(term, Let):
            parts = (term.value,)
        elif isinstance(term, Case | Field):
            parts = (term.subject,)
        elif isinstance(term, Logic):
            parts = term.args[:1]
        else:
            return None
        for part in parts:
            found = self._suspended(part)
            if found:
                rest, call = found
                return replaced(term, partial(_instead, part, rest)), call
        return None

    # Expressions

    def expression(self, term: Term, out: Block) -> Doc:
        """A term as an expression; what has to stand before it goes to `out`."""
        if isinstance(term, Name):
            return Text(term.name)
        if isinstance(term, Number):
            words = self.write.expression(str(abs(term.value)))
            return Text(f"-{words}", UNARY) if term.value < 0 else Text(words)
        if isinstance(term, Global):
            return self._call(term, (), out)
        if isinstance(term, Apply):
            return self._call(term.function, term.args, out)
        if isinstance(term, Make):
            return self._made(term, out)
        if isinstance(term, Lambda):
            return self._closure(term, out)
        if isinstance(term, Field):
            return self._field(term, out)
        if isinstance(term, Logic):
            found = self._logic(term, out)
            if found is not None:
                return found
        value = self.fresh("value")
        out += self.write.declare(value)
        self.statements(term, Goal(value), out)
        return Text(value)

    def _expressions(self, terms: Iterable[Term], out: Block) -> tuple[Doc, ...]:
        return tuple(self.expression(term, out) for term in terms)

    def _lazy(self, term: Term) -> Doc | None:
        """A term as an expression alone; None where something has to stand before it."""
        before, kept = len(self.used), set(self.used)
        out: Block = []
        turns = self.turns
        doc = self.expression(term, out)
        if out:
            self.used, self.turns = kept, turns
            return None
        assert len(self.used) >= before
        return doc

    def _logic(self, term: Logic, out: Block) -> Doc | None:
        if term.word == "not":
            return self.write.negated(self.expression(term.args[0], out))
        level = AND if term.word == "and" else OR
        rest = [self._lazy(arg) for arg in term.args[1:]]
        if any(doc is None for doc in rest):
            return None
        docs = [self.expression(term.args[0], out), *(doc for doc in rest if doc)]
        return self._chain(term.word, docs, level)

    def _chain(self, word: str, docs: Sequence[Doc], level: int) -> Doc:
        if len(docs) == 1:
            return docs[0]
        operator = self.write.both if word == "and" else self.write.either
        return Chain(operator, tuple(held(doc, level + 1) for doc in docs), level)

    def _field(self, term: Field, out: Block) -> Doc:
        made = self.module.extracted.constructors[term.constructor]
        subject = held(self.expression(term.subject, out), ATOM)
        tail = f"[{term.index}]" if made.type in TUPLES else f".{made.fields[term.index]}"
        return Row((subject, Text(tail)))

    def _made(self, term: Make, out: Block) -> Doc:
        made = self.module.extracted.constructors[term.constructor]
        write = self.write
        args = self._expressions(term.args, out)
        if made.type in TRUTH_TYPES:
            return Text(write.true if TRUTHS[made.name] else write.false)
        if made.type in NUMBERS:
            return self._number(_NUMBER_MADE[made.name], args, ADD)
        if made.name in ("Nil", "None"):
            return Text(write.nothing)
        if made.type in TUPLES or made.name == "Cons":
            return write.tuple_of(args)
        return write.made(made.name, made.fields, args)

    def _number(self, template: str, args: Sequence[Doc], level: int) -> Doc:
        """An operation on numbers."""
        if template == "{}":
            return args[0]
        pieces = self.write.expression(template).split("{}")
        tight = OPEN if level == ATOM else level + (level < ATOM)
        parts: list[Doc] = [Text(pieces[0])]
        for arg, piece in zip(args, pieces[1:], strict=True):
            parts += [held(arg, tight), Text(piece)]
        return Row(tuple(p for p in parts if p != Text("")), level)

    def _call(self, function: Term, args: Sequence[Term], out: Block) -> Doc:
        if not isinstance(function, Global):
            called = held(self.expression(function, out), ATOM)
            return self._passed(called, args, out)
        arity = self.module.arity(function.name)
        if len(args) < arity:
            return self._partial(function, args, arity, out)
        if function.name == self.definition.name:
            self.recursive = True
        docs = self._expressions(args[:arity], out)
        if function.name in NATIVE:
            template, level, _ = NATIVE[function.name]
            called = self._number(template, docs, level)
        elif arity:
            called = Group(f"{self.module.name(function.name)}(", docs, ")")
        else:
            called = Text(self.module.name(function.name))
        return self._passed(called, args[arity:], out)

    def _passed(self, called: Doc, args: Iterable[Term], out: Block) -> Doc:
        """A function that was passed, called with one argument after the other."""
        for doc in self._expressions(args, out):
            called = Row((called, Group("(", (doc,), ")")))
        return called

    def _partial(self, function: Global, args: Sequence[Term], arity: int, out: Block) -> Doc:
        """A function that still waits for some of its arguments."""
        if not args and arity == 1 and function.name not in NATIVE:
            if function.name == self.definition.name:
                self.recursive = True
            return Text(self.module.name(function.name))
        known: list[Term] = []
        for arg in args:
            if not _is_ready(arg):
                name = self.fresh("given")
                out.append(self.write.let(name, self.expression(arg, out)))
                arg = Name(name)
            known.append(arg)
        params = tuple(self.fresh("x") for _ in range(arity - len(args)))
        return self._closure(Lambda(params, Apply(function, (*known, *map(Name, params)))), out)

    def _closure(self, term: Lambda, out: Block) -> Doc:
        captured = self._captured(term)
        self.inside += 1
        inner: Block = []
        doc = self.expression(term.body, inner) if _is_plain(term.body) else None
        if doc is not None and not inner:
            for number in reversed(range(len(term.params))):
                doc = self.write.closure(term.params[number], () if number else captured, doc)
        else:
            doc = self._inner_function(term, captured, out)
        self.inside -= 1
        return doc

    def _inner_function(self, term: Lambda, captured: Sequence[str], out: Block) -> Doc:
        block: Block = []
        looping, self.looping = self.looping, False
        self.statements(term.body, RETURN, block)
        self.looping = looping
        for number in reversed(range(len(term.params))):
            name = self.fresh("inner")
            head = self.write.function(name, [term.params[number]], () if number else captured)
            block = self.write.block(head, block)
            if number:
                block.append(_line("return ", Text(name), self.write.end))
        out += block
        return Text(name)

    def _captured(self, term: Lambda) -> list[str]:
        """What a closure has to hold on to: in a loop, all that may be another in the next turn;
        closures within closures find it held."""
        if not self.looping or not self.write.rebinds or self.inside:
            return []
        steady = frozenset(self.definition.params) - self.changing
        return sorted(free(term) - steady)

    # Statements

    def statements(self, term: Term, goal: Goal, out: Block) -> None:
        """A term whose value goes where the goal says."""
        if self.looping and goal.ends:
            found = self._suspended(term)
            if found:
                self._turn(*found, out)
                return
        if isinstance(term, Let):
            out.append(self.write.let(term.name, self.expression(term.value, out)))
            self.statements(term.body, goal, out)
        elif isinstance(term, Case):
            self._case(term, goal, out)
        elif isinstance(term, Logic) and term.word != "not":
            self._logic_statements(term, goal, out)
        else:
            self._reach(goal, self.expression(term, out), out)

    def _reach(self, goal: Goal, doc: Doc, out: Block) -> None:
        if goal.variable is None:
            out.append(_line("return ", doc, self.write.end))
            return
        out.append(_line(f"{goal.variable} = ", doc, self.write.end))
        if goal.leaves:
            out.append(f"break{self.write.end}")

    def _turn(self, rest: Term, call: Apply, out: Block) -> None:
        """Go round the loop for a call, after which the rest is left to do."""
        self.turns += 1
        if rest != Name("result"):
            needed = tuple(sorted(free(rest) - {"result"} - self._steady))
            self.frames.append((needed, rest))
            out.append(("", Text(f"\0{len(self.frames) - 1}"), ""))
        params = self.definition.params
        moved = [(p, arg) for p, arg in zip(params, call.args, strict=True) if arg != Name(p)]
        values = self._expressions((arg for _, arg in moved), out)
        if moved:
            out.append(self.write.assign([p for p, _ in moved], values))
        out.append(f"continue{self.write.end}")

    @property
    def _steady(self) -> frozenset[str]:
        return frozenset(self.definition.params) - self.changing

    def _logic_statements(self, term: Logic, goal: Goal, out: Block) -> None:
        """Several conditions, of which the later ones need statements or go round the loop."""
        before: list[Doc] = [self.expression(term.args[0], out)]
        rest = list(term.args[1:])
        while rest and not (self.looping and goal.ends and self._mentions(rest[0])):
            doc = self._lazy(rest[0])
            if doc is None:
                break
            before.append(doc)
            rest.pop(0)
        level = AND if term.word == "and" else OR
        test = self._chain(term.word, before, level)
        if not rest:
            self._reach(goal, test, out)
            return
        left = Logic(term.word, tuple(rest)) if len(rest) > 1 else rest[0]
        decided: Block = []
        self._reach(goal, Text(self.write.false if level == AND else self.write.true), decided)
        test = self.write.negated(test) if level == AND else test
        onward: Block = []
        self.statements(left, goal, onward)
        self._branches([(test, decided), (None, onward)], goal, out)

    def _branches(
        self, branches: Sequence[tuple[Doc | None, Block]], goal: Goal, out: Block
    ) -> None:
        """Blocks with their conditions; the last has none, and no `else` where the others end."""
        word = "if"
        for test, block in branches:
            if test is None and goal.ends:
                out += block
                return
            if test is None:
                out.append(self.write.condition("else", None))
            else:
                out.append(self.write.condition(word, test))
            out.append(block)
            if self.write.end:
                out.append("}")
            word = "if" if goal.ends else "else if"

    def _case(self, term: Case, goal: Goal, out: Block) -> None:
        first = next(b.constructor for b in term.branches if b.constructor)
        made = self.module.extracted.constructors[first]
        if made.type in TRUTH_TYPES:
            self._truth_case(term, goal, out)
            return
        subject = self.expression(term.subject, out)
        if made.siblings == 1:
            self._single_case(term.branches[0], term.subject, subject, goal, out)
            return
        if not isinstance(subject, Text):
            name = self.fresh(_called(term.subject))
            out.append(self.write.let(name, subject))
            subject = Text(name)
        if made.type in NUMBERS | {"list", "option"}:
            self._tested_case(term, made.type, subject.words, goal, out)
            return
        found: list[Chosen] = []
        for branch in term.branches:
            names: Sequence[str | None] = branch.names
            fields: Sequence[str] = ()
            block: Block = []
            if branch.constructor is None:
                block += self._whole(branch, subject)
                names = ()
            else:
                fields = self.module.extracted.constructors[branch.constructor].fields
            self.statements(branch.body, goal, block)
            found.append((branch.constructor, names, fields, block))
        out += self.write.choice(subject.words, found)

    def _truth_case(self, term: Case, goal: Goal, out: Block) -> None:
        bodies = [b.body for b in term.branches]
        first = term.branches[0].constructor
        yes, no = bodies if first is None or TRUTHS[first] else reversed(bodies)
        test = self.expression(term.subject, out)
        blocks: list[Block] = [[], []]
        self.statements(yes, goal, blocks[0])
        self.statements(no, goal, blocks[1])
        self._branches([(test, blocks[0]), (None, blocks[1])], goal, out)

    def _single_case(
        self, branch: Branch, subject_term: Term, subject: Doc, goal: Goal, out: Block
    ) -> None:
        if branch.constructor is None:
            raise UntranslatableError("a choice without constructors")
        made = self.module.extracted.constructors[branch.constructor]
        if made.type in TUPLES:
            if any(branch.names):
                out += self.write.unpack(branch.names, subject)
        else:
            if not isinstance(subject, Text) and sum(map(bool, branch.names)) > 1:
                name = self.fresh(_called(subject_term))
                out.append(self.write.let(name, subject))
                subject = Text(name)
            for taken, label in zip(branch.names, made.fields, strict=True):
                if taken:
                    part = Row((held(subject, ATOM), Text(f".{label}")))
                    out.append(self.write.let(taken, part))
        self.statements(branch.body, goal, out)

    def _whole(self, branch: Branch, subject: Text) -> Block:
        """The name that a branch gives to the whole."""
        return [self.write.let(name, subject) for name in branch.names if name]

    def _tested_case(self, term: Case, kind: str, subject: str, goal: Goal, out: Block) -> None:
        """A choice that is a condition: on numbers, lists and options."""
        found: list[tuple[Doc | None, Block]] = []
        for number, branch in enumerate(term.branches):
            block: Block = []
            test: Doc | None = None
            name = branch.constructor
            if name is None:
                block += self._whole(branch, Text(subject))
            elif kind in NUMBERS:
                test = Text(self._filled(_NUMBER_TESTS[name], subject), COMPARE)
                for part in filter(None, branch.names):
                    value = Text(self._filled(_NUMBER_PARTS[name], subject), ADD)
                    block.append(self.write.let(part, value))
            else:
                test = self.write.is_nothing(subject, yes=name in ("Nil", "None"))
                if name == "Cons" and any(branch.names):
                    block += self.write.unpack(branch.names, Text(subject))
                elif name == "Some" and branch.names[0]:
                    label = self.module.extracted.constructors[name].fields[0]
                    block.append(self.write.let(branch.names[0], Text(f"{subject}.{label}")))
            if number == len(term.branches) - 1:
                test = None
            self.statements(branch.body, goal, block)
            found.append((test, block))
        self._branches(found, goal, out)

    def _filled(self, template: str, subject: str) -> str:
        return self.write.expression(template).replace("{}", subject)


def _line(before: str, doc: Doc, after: str) -> tuple[str, Doc, str]:
    return (before, doc, after)


def _instead(old: Term, new: Term, term: Term) -> Term:
    return new if term is old else term


def _closes_over(term: Term, name: str) -> bool:
    """Whether a function in a term uses the name."""
    if isinstance(term, Lambda) and name in free(term):
        return True
    return any(_closes_over(child, name) for child in children(term))


def _called(term: Term) -> str:
    """A name for a value that is looked at."""
    if isinstance(term, Apply) and isinstance(term.function, Global):
        return {"nth_error": "found"}.get(term.function.name, "given")
    return "given"


def _is_ready(term: Term) -> bool:
    """Whether a term is a value as it stands, with nothing to be worked out."""
    if isinstance(term, Make):
        return all(map(_is_ready, term.args))
    if isinstance(term, Field):
        return _is_ready(term.subject)
    return isinstance(term, Name | Global | Number | Lambda)


def _is_plain(term: Term) -> bool:
    """Whether a term is neither a choice nor a name for something."""
    return not isinstance(term, Let | Case)


class Module:
    """The translation of everything that some roots need."""

    def __init__(self, extracted: Extracted, roots: Sequence[str], language: str):
        self.extracted, self.roots = extracted, roots
        self.write = LANGUAGES[language]
        self.taken = self.write.reserved | {"ggcd", "to_pos", "waiting"}
        missing = [root for root in roots if root not in extracted.definitions]
        if missing:
            raise UntranslatableError(f"nothing is called {missing[0]}")
        self.arities: dict[str, int] = {}
        every = {d.name: self._expanded(d) for d in extracted.definitions.values()}
        self.arities = {name: len(d.params) for name, d in every.items()}
        needed = self._needed(every)
        self.definitions = [d for d in every.values() if d.name in needed]
        self.names: dict[str, str] = {}
        for definition in self.definitions:
            chosen = plain(definition.name)
            while chosen in self.taken or chosen in self.names.values():
                chosen += "_"
            self.names[definition.name] = chosen
        self.taken |= frozenset(self.names.values())
        self.recursive: list[str] = []

    def name(self, name: str) -> str:
        """What a definition is called."""
        return self.names[name]

    def arity(self, name: str) -> int:
        """How many arguments a definition takes at once."""
        if name in NATIVE:
            return NATIVE[name][2]
        known = self.arities.get(name)
        return len(self.extracted.definitions[name].params) if known is None else known

    def _expanded(self, definition: Definition) -> Definition:
        """The definition with functions that lack arguments written out where they are all that
        another function gives: fun c => all2 p c as fun c d => all2 p c d."""
        used = {*self.taken, *definition.params, *_Function.names_in(definition.body)}

        def fresh() -> str:
            number = next(n for n in range(len(used) + 1) if f"x{n or ''}" not in used)
            used.add(f"x{number or ''}")
            return f"x{number or ''}"

        def complete(params: tuple[str, ...], body: Term) -> tuple[tuple[str, ...], Term]:
            if isinstance(body, Lambda):
                return complete(params + body.params, body.body)
            function = body.function if isinstance(body, Apply) else body
            if not isinstance(function, Global):
                return params, body
            args = body.args if isinstance(body, Apply) else ()
            missing = max(0, self.arity(function.name) - len(args))
            more = tuple(fresh() for _ in range(missing))
            return params + more, Apply(function, (*args, *map(Name, more))) if more else body

        def change(term: Term) -> Term:
            term = self._projected(replaced(term, change))
            return Lambda(*complete(term.params, term.body)) if isinstance(term, Lambda) else term

        params, body = complete(definition.params, change(definition.body))
        return Definition(definition.name, params, body, definition.type)

    def _projected(self, term: Term) -> Term:
        """Taking a field by a function, as `fst` does, as taking it."""
        if isinstance(term, Apply) and isinstance(term.function, Global) and len(term.args) == 1:
            called = self.extracted.definitions.get(term.function.name)
            taken = called.body if called and called.params else None
            if called and isinstance(taken, Field) and taken.subject == Name(called.params[0]):
                return Field(term.args[0], taken.constructor, taken.index)
        return term

    def _needed(self, definitions: Mapping[str, Definition]) -> set[str]:
        found, pending = set(self.roots), list(self.roots)
        while pending:
            for name in globals_of(definitions[pending.pop()].body):
                if name not in found and name not in NATIVE:
                    found.add(name)
                    pending.append(name)
        return found

    def text(self, title: str) -> str:
        """The module."""
        write = self.write
        shapes = self.shapes()
        functions = [self._definition(d) for d in self.definitions]
        classes = [c for c in self._classes() if c.name not in ("Cons", "Nil", "None")]
        parts = [write.header(title), *write.prelude]
        for made in classes:
            fields = list(zip(made.fields, map(self.type_text, made.types), strict=True))
            parts.append(rendered(write.record(made.name, made.type, fields)))
        parts += functions
        recursive = ", ".join(sorted(self.recursive)) or "none"
        parts.append(f"{write.comment}Functions that recurse on the depth of trees: {recursive}.\n")
        parts.append(write.table("TYPES", shapes))
        used = {c.name for c in classes} & _named(shapes)
        parts.append(write.names([c.name for c in classes if c.name in used]))
        return write.gap.join(parts)

    def _classes(self) -> Iterator[Constructor]:
        """The constructors that become classes: those of types that occur."""
        mentioned = {c for d in self.definitions for c in _constructors(d.body)}
        mentioned |= _named(self.shapes())
        types = {self.extracted.constructors[c].type for c in mentioned}
        for made in self.extracted.constructors.values():
            if made.type in types - TUPLES - NUMBERS - TRUTH_TYPES:
                yield made

    # Definitions

    def _definition(self, definition: Definition) -> str:
        write = self.write
        name = self.name(definition.name)
        if not definition.params:
            out: Block = []
            doc = _Function(self, definition, False).expression(definition.body, out)
            return rendered([*out, write.let(name, doc)])
        body = self._body(definition)
        head = write.function(name, definition.params, ())
        note = write.note(self.type_text(definition.type))
        return rendered(write.block(head, [*note, *body]))

    def _body(self, definition: Definition) -> Block:
        write = self.write
        aliased: Block = []
        plain_function = _Function(self, definition, False)
        body: Block = []
        plain_function.statements(definition.body, RETURN, body)
        if not plain_function.recursive:
            return body
        loop = _Function(self, definition, True)
        if not write.rebinds:
            definition, aliased = _aliased(definition, loop)
            loop = _Function(self, definition, True)
            loop.changing |= {flat(line[1]) for line in aliased if isinstance(line, tuple)}
        turned: Block = []
        has_frames = self._count_frames(definition)
        loop.statements(definition.body, RESULT if has_frames else RETURN, turned)
        if not loop.turns:
            self.recursive.append(definition.name)
            return body
        if loop.recursive:
            self.recursive.append(definition.name)
        if turned[-1] == f"continue{write.end}":
            turned.pop()
        if not has_frames:
            return write.block(write.forever(), aliased + turned)
        return self._with_frames(loop, aliased + turned)

    def _count_frames(self, definition: Definition) -> bool:
        trial = _Function(self, definition, True)
        trial.statements(definition.body, RESULT, [])
        return bool(trial.frames)

    def _with_frames(self, loop: _Function, turned: Block) -> Block:
        """A loop that goes down, and one that comes back and does what was left."""
        write = self.write
        several = len(loop.frames) > 1
        frames = list(loop.frames)

        def pushed(number: int) -> str:
            names = list(frames[number][0])
            parts = [*([write.expression(str(number))] if several else []), *names]
            return write.pushed(parts or [write.true], several)

        down = _substituted(turned, pushed)
        back: Block = []
        popped = Text("waiting.pop()")
        goal = Goal("result")
        if not write.rebinds and any(_closes_over(rest, "result") for _, rest in frames):
            raise UntranslatableError(f"a closure over what {loop.definition.name} returns")
        choices: list[tuple[Doc | None, Block]] = []
        for number, (names, rest) in enumerate(frames):
            block: Block = []
            if several:
                if names:
                    block += write.unpack([None, *names], Text("frame"))
            elif len(names) == 1:
                block.append(write.let(names[0], popped))
            elif names:
                block += write.unpack(names, popped)
            else:
                block.append(f"waiting.pop(){write.end}")
            loop.statements(rest, goal, block)
            test = Text(write.expression(f"frame[0] == {number}"), COMPARE)
            choices.append((None if number == len(frames) - 1 else test, block))
        if several:
            back.append(write.let("frame", popped))
            loop._branches(choices, goal, back)
        else:
            back = choices[0][1]
        count = "waiting" if write.rebinds else "waiting.length"
        head = f"while {count}:" if write.rebinds else f"while ({count}) {{"
        return [
            write.let("waiting", Text("[]")),
            *write.declare("result"),
            *write.block(write.forever(), down),
            *write.block(head, back),
            _line("return ", Text("result"), write.end),
        ]

    # Types

    def type_text(self, raw: Any) -> str:
        """A type as Coq writes it."""
        what = raw["what"]
        if what == "type:arrow":
            left = self.type_text(raw["left"])
            left = f"({left})" if raw["left"]["what"] == "type:arrow" else left
            return f"{left} -> {self.type_text(raw['right'])}"
        if what == "type:glob":
            parts = [self.type_text(arg) for arg in raw["args"]]
            return " ".join([raw["name"], *(f"({p})" if " " in p else p for p in parts)])
        return str(raw["name"]) if what == "type:var" else "ABCDEFGH"[int(raw.get("name", 1)) - 1]

    def shapes(self) -> dict[str, Any]:
        """The types of the roots' arguments, and of all that these are made of, for a decoder."""
        table: dict[str, Any] = {}
        for root in self.roots:
            raw = self.extracted.definitions[root].type
            arguments = []
            while raw["what"] == "type:arrow":
                arguments.append(self._shape(raw["left"], {}, table))
                raw = raw["right"]
            table[root] = ["arguments", *arguments]
        return table

    def _shape(self, raw: Any, scope: Mapping[str, Any], table: dict[str, Any]) -> Any:
        if raw["what"] == "type:var":
            return scope[raw["name"]]
        if raw["what"] != "type:glob":
            raise UntranslatableError(f"an argument of type {raw['what']}")
        name = raw["name"]
        args = [self._shape(arg, scope, table) for arg in raw["args"]]
        params = self.extracted.parameters.get(name, ())
        inner = dict(zip(params, args, strict=True))
        if name in self.extracted.abbreviations:
            return self._shape(self.extracted.abbreviations[name], inner, table)
        known = {"z": "integer", "positive": "positive", "nat": "natural", "bool": "boolean"}
        if name in known:
            return known[name]
        if name == "q":
            return "rational"
        if name == "list":
            return ["list", *args]
        if name == "prod":
            return ["pair", *args]
        if name == "option":
            return ["option", *args]
        if args:
            raise UntranslatableError(f"an argument of type {name} with parameters")
        if name not in table:
            table[name] = ["one of"]
            for constructor in self.extracted.types[name]:
                made = self.extracted.constructors[constructor]
                fields = [
                    [label, self._shape(kind, {}, table)]
                    for label, kind in zip(made.fields, made.types, strict=True)
                ]
                table[name].append([constructor, *fields])
        return name


def _named(shapes: Mapping[str, Any]) -> set[str]:
    """The constructors that a table of types mentions."""
    found = set()
    for shape in shapes.values():
        if shape[0] == "one of":
            found |= {made[0] for made in shape[1:]}
    return found


def _constructors(term: Term) -> Iterator[str]:
    if isinstance(term, Make | Field):
        yield term.constructor
    if isinstance(term, Case):
        yield from (b.constructor for b in term.branches if b.constructor)
    for child in children(term):
        yield from _constructors(child)


def _aliased(definition: Definition, loop: _Function) -> tuple[Definition, Block]:
    """Where closures share the variables of a loop, those that change get a name for each turn."""
    captured: set[str] = set()

    def look(term: Term) -> None:
        if isinstance(term, Lambda):
            captured.update(free(term) & loop.changing)
        function = term.function if isinstance(term, Apply) else term
        if isinstance(term, Apply) and isinstance(function, Global):
            waits = len(term.args) < loop.module.arity(function.name)
            captured.update(free(term) & loop.changing if waits else ())
        for child in children(term):
            look(child)

    look(definition.body)
    names = {name: loop.fresh(name) for name in definition.params if name in captured}

    def renamed(term: Term) -> Term:
        if isinstance(term, Name):
            return Name(names.get(term.name, term.name))
        return replaced(term, renamed)

    aliased: Block = [loop.write.let(new, Text(old)) for old, new in names.items()]
    body = renamed(definition.body)
    return Definition(definition.name, definition.params, body, definition.type), aliased


def _substituted(block: Block, pushed: Callable[[int], str]) -> Block:
    """The block with its frames pushed."""
    found: Block = []
    for line in block:
        if isinstance(line, list):
            found.append(_substituted(line, pushed))
        elif isinstance(line, tuple) and flat(line[1]).startswith("\0"):
            found.append(pushed(int(flat(line[1])[1:])))
        else:
            found.append(line)
    return found


def translated(module: Mapping[str, Any], roots: Sequence[str], language: str, title: str) -> str:
    """The text of a module for the content of a file of Coq's JSON extraction."""
    reserved = LANGUAGES[language].reserved | {"waiting", "frame", "ggcd", "to_pos"}
    extracted = read(module, frozenset(reserved))
    return Module(extracted, roots, language).text(title)
