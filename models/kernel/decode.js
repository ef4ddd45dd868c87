// What stands before the kernel in JavaScript: `decode.py` and `document.py`, step by step the same.
// What is not exactly of the kernel's types is refused, in the same words and with its place.
// It follows `generated.js`, in the same scope.

const SCHEMA = "charon-workbench/kernel/1";
const CHECKERS = new Map([
    ["check_polyhedral", check_polyhedral],
    ["check_quadratic", check_quadratic],
    ["check_progress", check_progress],
]);
const PARTS = ["schema", "checker", "problem", "evidence"];

const MAX_DIGITS = 4000;
const MAX_NATURAL = 100_000n;
const MAX_DEPTH = 100;

const INTEGER = /^(?:0|-?[1-9][0-9]*)$/;
const FRACTION = /^(0|-?[1-9][0-9]*)(?:\/([1-9][0-9]*))?$/;

class DecodeError extends Error {
    constructor(why) {
        super(why);
        this.steps = [];
    }

    get said() {
        return `${[...this.steps].reverse().join("") || "the whole"}: ${this.message}`;
    }
}

// The kernel's word on the text of a document: why it proves nothing, or null; how many numbers it
// has, and how long this took.
function judged(text) {
    const begun = performance.now();
    const word = { why: "it is no JSON", numbers: text.match(/"-?[0-9]/g)?.length ?? 0 };
    try {
        word.why = refusal(JSON.parse(text));
    } catch (error) {
        if (!(error instanceof SyntaxError)) word.why = `it is too much: ${error.message}`;
    }
    return { ...word, milliseconds: performance.now() - begun };
}

// Why a document proves nothing, in words; null if it proves the claim about its problem.
function refusal(content) {
    const names = typeof content === "object" && content !== null ? Object.keys(content) : [];
    if (names.length !== PARTS.length || !PARTS.every((part) => names.includes(part))) {
        return "it is no document with a schema, a checker, a problem and its evidence";
    }
    const check = CHECKERS.get(content.checker);
    if (content.schema !== SCHEMA || check === undefined) {
        return `it is not of the schema ${SCHEMA} and for one of ${[...CHECKERS.keys()].join(", ")}`;
    }
    const [, problem, evidence] = TYPES[content.checker];
    try {
        const accepted = check(decoded(problem, content.problem), decoded(evidence, content.evidence));
        return accepted === true ? null : "the evidence does not prove what is claimed of the problem";
    } catch (error) {
        // What the kernel cannot follow to its end: values too deep, or numbers too long.
        return error instanceof DecodeError ? error.said : `it is too much: ${error.message}`;
    }
}

// The value of a type of the kernel's that plain data stand for.
function decoded(kind, data) {
    return at(kind, () => decoderOf(kind)(data, 0));
}

// The value that is decoded at a place, whose name goes into what is said of an error.
function at(place, decode) {
    try {
        return decode();
    } catch (error) {
        if (error instanceof DecodeError) error.steps.push(place);
        throw error;
    }
}

// A decoder takes plain data, and how deep they are in values of types with several constructors.
function decoderOf(kind) {
    if (!Array.isArray(kind)) return NUMBERS.get(kind) ?? named(kind);
    const parts = kind.slice(1).map(decoderOf);
    return { list: listOf, pair: pairOf, option: optionOf }[kind[0]](...parts);
}

const NAMED = new Map();

// The decoder of a type that has constructors.
function named(kind) {
    if (!NAMED.has(kind)) {
        const made = TYPES[kind].slice(1);
        NAMED.set(kind, made.length === 1 ? recordOf(made[0]) : oneOf(kind, made));
    }
    return NAMED.get(kind);
}

function recordOf(constructor) {
    const read = fieldsOf(constructor);
    return (raw, depth) => read(raw, depth, 0);
}

function oneOf(kind, made) {
    const known = new Map(made.map((constructor) => [constructor[0], fieldsOf(constructor)]));
    const words = [...known.keys()].join(", ");
    return (raw, depth) => {
        if (depth > MAX_DEPTH) throw new DecodeError(`more than ${MAX_DEPTH} of ${kind} inside each other`);
        const read = Array.isArray(raw) ? known.get(raw[0]) : undefined;
        if (read === undefined) throw new DecodeError(`expected a list that begins with one of ${words}`);
        return read(raw, depth + 1, 1);
    };
}

// What reads the fields of a constructor off a list, from some place on.
function fieldsOf([name, ...described]) {
    const labels = described.map(([label]) => label);
    let later = null;
    return (raw, depth, start) => {
        later ??= described.map(([, kind]) => decoderOf(kind));
        if (!Array.isArray(raw) || raw.length !== start + later.length) {
            throw new DecodeError(`expected a list of ${name} and its fields ${labels.join(", ")}`);
        }
        const values = later.map((decode, i) => at(`.${labels[i]}`, () => decode(raw[start + i], depth)));
        return CONSTRUCTORS[name](...values);
    };
}

function listOf(item) {
    return (raw, depth) => {
        if (!Array.isArray(raw)) throw new DecodeError("expected a list");
        let found = null;
        for (let i = raw.length - 1; i >= 0; i -= 1) {
            found = [at(`[${i}]`, () => item(raw[i], depth)), found];
        }
        return found;
    };
}

function pairOf(first, second) {
    return (raw, depth) => {
        if (!Array.isArray(raw) || raw.length !== 2) throw new DecodeError("expected a list of two");
        return [first(raw[0], depth), second(raw[1], depth)];
    };
}

function optionOf(item) {
    return (raw, depth) => {
        if (!Array.isArray(raw) || raw.length > 1) throw new DecodeError("expected a list of none or one");
        return raw.length ? Some(item(raw[0], depth)) : null;
    };
}

function integer(raw) {
    if (typeof raw !== "string" || raw.length > MAX_DIGITS || !INTEGER.test(raw)) {
        throw new DecodeError("expected a whole number in digits");
    }
    return BigInt(raw);
}

function natural(raw) {
    const value = integer(raw);
    if (value < 0n) throw new DecodeError("expected a number that is not negative");
    if (value > MAX_NATURAL) throw new DecodeError(`expected a number of at most ${MAX_NATURAL}`);
    return value;
}

function positive(raw) {
    const value = integer(raw);
    if (value <= 0n) throw new DecodeError("expected a number above zero");
    return value;
}

function rational(raw) {
    if (typeof raw !== "string") throw new DecodeError("expected a number as a text");
    const found = raw.length <= MAX_DIGITS ? FRACTION.exec(raw) : null;
    if (found === null) throw new DecodeError("expected a fraction in digits with a denominator above zero");
    return [BigInt(found[1]), BigInt(found[2] ?? 1)];
}

function boolean(raw) {
    if (typeof raw !== "boolean") throw new DecodeError("expected true or false");
    return raw;
}

const NUMBERS = new Map([
    ["integer", integer],
    ["natural", natural],
    ["positive", positive],
    ["rational", rational],
    ["boolean", boolean],
]);
