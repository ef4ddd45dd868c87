// Appended to the kernel: each line of the input is a call, [name, kinds, result's kind, arguments]
// in plain data; each line of the output is its value, in plain data again.

function valueOf(kind, raw) {
    if (kind === "boolean") return raw;
    if (["integer", "natural", "positive"].includes(kind)) return BigInt(raw);
    if (kind === "rational") {
        const [above, below] = raw.split("/");
        return [BigInt(above), BigInt(below ?? "1")];
    }
    if (typeof kind === "string") {
        const made = TYPES[kind].slice(1);
        const single = made.length === 1;
        const [name, ...fields] = single ? made[0] : made.find((one) => one[0] === raw[0]);
        const values = single ? raw : raw.slice(1);
        return CONSTRUCTORS[name](...fields.map(([, field], i) => valueOf(field, values[i])));
    }
    const [what, ...parts] = kind;
    if (what === "pair") return parts.map((part, i) => valueOf(part, raw[i]));
    if (what === "option") return raw.length ? Some(valueOf(parts[0], raw[0])) : null;
    return raw.reduceRight((tail, item) => [valueOf(parts[0], item), tail], null);
}

function plain(kind, value) {
    if (kind === "boolean") return value;
    if (["integer", "natural", "positive"].includes(kind)) return String(value);
    if (kind === "rational") return value[1] === 1n ? `${value[0]}` : `${value[0]}/${value[1]}`;
    if (typeof kind === "string") {
        const made = TYPES[kind].slice(1);
        const [, ...fields] = made.find((one) => one[0] === value.is);
        const values = fields.map(([label, field]) => plain(field, value[label]));
        return made.length === 1 ? values : [value.is, ...values];
    }
    const [what, ...parts] = kind;
    if (what === "pair") return parts.map((part, i) => plain(part, value[i]));
    if (what === "option") return value === null ? [] : [plain(parts[0], value.value)];
    const found = [];
    for (let rest = value; rest !== null; rest = rest[1]) found.push(plain(parts[0], rest[0]));
    return found;
}

for (const line of require("fs").readFileSync(0, "utf8").trim().split("\n")) {
    const [name, kinds, result, given] = JSON.parse(line);
    const values = kinds.map((kind, i) => valueOf(kind, given[i]));
    console.log(JSON.stringify(plain(result, CALLED[name](...values))));
}
