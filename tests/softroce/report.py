"""The table, the JSON and the JUnit file of a lab's outcomes."""
import dataclasses
import json
import xml.etree.ElementTree as ElementTree

MODES = ("direct", "transparent", "proxied")
SMALLER_IS_BETTER = ("s", "us")


def ratio(proxied, transparent, unit):
    """How much better the proxies are than the bare distance; None if one of them is not known."""
    if not proxied or not transparent:
        return None
    return transparent / proxied if unit in SMALLER_IS_BETTER else proxied / transparent


def number(value):
    """Three digits that matter."""
    if value is None:
        return "-"
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:.{digits}f}"


def aligned(rows):
    """Lines of text; the first column to the left, the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:]))])
            for row in rows]


def table(outcomes):
    """outcomes: (run, mtu, km) -> mode -> Outcome. Counts stand in the order of the modes that ran."""
    modes = [m for m in MODES if any(m in o for o in outcomes.values())]
    head = ["run", "MTU", "km", *modes, "unit", "ratio", "retries", "resent", "NAKs", "repeated",
            "missing", "errors"]
    rows = [head]
    for (run, mtu, km), by_mode in outcomes.items():
        def counts(what):
            return "/".join(str(what(by_mode[m])) if m in by_mode else "-" for m in modes)
        gained = ratio(*(by_mode[m].value if m in by_mode else None for m in ("proxied", "transparent")), run.unit)
        values = [number(by_mode[m].value) if m in by_mode else "-" for m in modes]
        rows.append([run.name, str(mtu), str(km), *values, run.unit, number(gained), counts(lambda o: o.retries),
                     counts(lambda o: o.verdict.resent), counts(lambda o: o.verdict.naks),
                     counts(lambda o: o.verdict.repeated), counts(lambda o: o.verdict.missing),
                     counts(lambda o: len(o.errors))])
    return aligned(rows)


def failures(outcomes, loss):
    """Sentences. Without loss nothing may have been sent twice."""
    out = []
    for (run, mtu, km), by_mode in outcomes.items():
        for mode, o in by_mode.items():
            where = f"{run.name}, MTU {mtu}, {km} km, {mode}"
            out += [f"{where}: {e}" for e in o.errors]
            if not loss and not o.clean:
                v = o.verdict
                out.append(f"{where}: not clean on a clean span: {v.resent} resent, {v.naks} NAKs, "
                           f"{v.repeated} repeated, {v.missing} missing, counters {o.counters}")
    return out


def records(outcomes):
    for (run, mtu, km), by_mode in outcomes.items():
        for mode, o in by_mode.items():
            record = {"run": run.name, "mtu": mtu, "km": km, "mode": mode, "unit": run.unit, "command": run.command}
            fields = dataclasses.asdict(o)
            fields.pop("output")
            yield {**record, **fields}


def write_json(path, document):
    with open(path, "w", encoding="utf-8") as f:
        json.dump(document, f, indent=1, default=sorted)  # sets
        f.write("\n")


def write_junit(path, cases):
    """cases: (name, seconds, failure or None, skip reason or None), as tests/summary.py reads them."""
    suite = ElementTree.Element("testsuite", name="softroce")
    for name, seconds, failure, skip in cases:
        case = ElementTree.SubElement(suite, "testcase", name=name if not skip else f"{name} ({skip})", status="run",
                                      time=f"{seconds:.1f}")
        if skip:
            ElementTree.SubElement(case, "skipped", message=f"SKIP: {skip}")
        elif failure:
            ElementTree.SubElement(case, "failure", message=failure)
    ElementTree.ElementTree(suite).write(path)
