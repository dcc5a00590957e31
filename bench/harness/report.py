"""Rows, summary and Markdown of a benchmark run."""
import math


def ceilings(threads, c):
    def both(name, digits):
        return f"{c[name]['best']:.{digits}f} ({c[name]['median']:.{digits}f})"

    return (f"ceilings, {threads} thread(s), best (median): f32 FMA {both('fma_f32', 0)} GFLOP/s, bf16 dot {both('dot_bf16', 0)}, "
            f"AMX bf16 {both('amx_bf16', 0)}; read {both('read', 1)} GB/s, copy {both('copy', 1)}, triad {both('triad', 1)}")


MISTAKEN = 10  # tolerances: a long sum is not as far off, something else than the row says is


def mistaken(row):
    """Peers that computed something else, by their errors in tolerances: they are not compared with."""
    return {name: e for name, e in row["errors"].items() if name != "tcompile" and not e <= MISTAKEN}


def peers(row):
    wrong = mistaken(row)
    return {name: t["median"] for name, t in row["times"].items() if name != "tcompile" and name not in wrong}


def best_peer(row):
    return min(peers(row).items(), key=lambda item: item[1], default=(None, math.nan))


def ratio(row):
    return best_peer(row)[1] / row["times"]["tcompile"]["median"]


def limits(streams, dtype, product=None):
    """The names of the ceilings of a row: of a stream, if it has one, and of the units that compute."""
    product = streams is None if product is None else product
    units = ["amx_bf16", "dot_bf16", "fma_f32"] if product and dtype == "bf16" else ["fma_f32"]
    return [streams, *units] if streams else units


def arithmetic(row):
    """The name of the arithmetic ceiling: that which the row names, or the fastest unit that a matrix product of this dtype can use."""
    if row.get("unit"):
        return row["unit"]
    units = [name for name in limits(row["streams"], row["dtype"], row.get("product")) if name != row["streams"]]
    return next(unit for unit in units if row["ceilings"][unit]["best"])


def limit(row, statistic="best"):
    """(share of the ceiling, its name): of the bandwidth for the least bytes where moving them takes
    longer than the least arithmetic does, else of the arithmetic peak.  The row's time is a median; against
    the median of the ceiling's runs, not the best, it says how much of the distance is the machine's."""
    seconds = row["times"]["tcompile"]["median"] * 1e-9
    unit, c = arithmetic(row), {name: v[statistic] for name, v in row["ceilings"].items()}
    move, compute = (row["bytes"] * 1e-9 / c[row["streams"]] if row["streams"] else 0), row["flops"] * 1e-9 / c[unit]
    return (move / seconds, row["streams"]) if move > compute else (compute / seconds, unit)


def shares(row):
    share, name = limit(row)
    median, other = limit(row, "median")
    return f"{share:.0%} of {name} ({median:.0%} of the median{'' if other == name else ' ' + other})"


def label(row):
    return f"{row['family']} {row['dtype']} {'x'.join(map(str, row['size']))}"


def row(r):
    them = ", ".join(f"{n} {t * 1e-6:.3f}" for n, t in peers(r).items())
    notes = "".join(f"; {n} failed" for n in r["failed"])
    notes += "".join(f"; {n} off by {e:.0f} tolerances" for n, e in r["errors"].items() if e > 1 and n != "tcompile")
    if r["errors"]["tcompile"] > 1:
        notes += f"; WRONG by {r['errors']['tcompile']:.1f} tolerances"
    if r["fallbacks"]:
        notes += f"; {r['fallbacks']} fallbacks"
    if r["memory"]:
        notes += "; MB grown " + ", ".join(f"{n} {b * 1e-6:.1f}" for n, b in r["memory"].items())
    return (f"{r['threads']}T {label(r):34s} {r['times']['tcompile']['median'] * 1e-6:9.3f} ms "
            f"{ratio(r):5.2f}x of best ({them}); {shares(r)}; "
            f"{r['mallocs']} mallocs {r['page_faults']} faults{notes}")


def geometric_mean(values):
    values = [v for v in values if v > 0 and math.isfinite(v)]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def summary(result):
    rows = result["rows"]
    lines = [f"rows {len(rows)}, behind the best peer {sum(ratio(r) < 1 for r in rows)}, "
             f"wrong {sum(r['errors']['tcompile'] > 1 for r in rows)}, "
             f"geometric mean {geometric_mean([ratio(r) for r in rows]):.2f}x"]
    for key in sorted({(r["family"], r["dtype"], r["threads"]) for r in rows}):
        mean = geometric_mean([ratio(r) for r in rows if (r["family"], r["dtype"], r["threads"]) == key])
        lines.append(f"  {key[0]} {key[1]} {key[2]}T: {mean:.2f}x")
    return "\n".join(lines + acceptance(rows))


def acceptance(rows):
    """One line for each condition on speed, with the rows that miss it."""
    def verdict(text, missing):
        return f"{'holds' if not missing else 'MISSED'}: {text}" + "".join(f"\n    {m}" for m in missing)

    if all(set(peers(r)) == {"constant"} for r in rows):  # --symbolic
        return [verdict("symbolic sizes take at most 1.1x the time of constant ones",
                        [f"{r['threads']}T {label(r)}: {1 / ratio(r):.2f}x" for r in rows if ratio(r) < 1 / 1.1])]
    if all(set(peers(r)) == {"before"} for r in rows):
        return [verdict("no row takes more than 1.03x the time of the build before",
                        [f"{r['threads']}T {label(r)}: {1 / ratio(r):.2f}x" for r in rows if ratio(r) < 1 / 1.03])]
    training = [r for r in rows if r["group"] == "training"]
    networks = [r for r in rows if r["group"] in ("networks", "models")]
    fused = [r for r in rows if r["family"] != "matmul" and r not in training and r not in networks]
    products = [r for r in rows if r["family"] == "matmul"]

    def named(r):
        return f"{r['threads']}T {label(r)}: {ratio(r):.2f}x of {best_peer(r)[0]}, {shares(r)}"

    lines = []
    if training:
        mean = geometric_mean([ratio(r) for r in training])
        lines += [verdict("every training row is ahead of the best peer", [named(r) for r in training if ratio(r) <= 1]),
                  verdict(f"their geometric mean is at least 1.4x: {mean:.2f}x", [] if mean >= 1.4 else ["it is below"]),
                  verdict("none of the peers takes less memory in calls",
                          [f"{r['threads']}T {label(r)}: {memory_cell(r)}" for r in training
                           if min(r["memory"].values(), default=0) < r["memory"].get("tcompile", 0)])]
    if networks:
        mean = geometric_mean([ratio(r) for r in networks])
        lines += [verdict("every row of networks and models is ahead of the best peer", [named(r) for r in networks if ratio(r) <= 1]),
                  verdict(f"their geometric mean is at least 1.5x: {mean:.2f}x", [] if mean >= 1.5 else ["it is below"])]
    if fused:
        mean = geometric_mean([ratio(r) for r in fused])
        lines += [verdict("every fused row is ahead of the best peer", [named(r) for r in fused if ratio(r) <= 1]),
                  verdict(f"their geometric mean is at least 1.4x: {mean:.2f}x", [] if mean >= 1.4 else ["it is below"]),
                  verdict("memory-bound rows reach 75 % of the bandwidth",
                          [named(r) for r in fused if limit(r)[1] in ("read", "copy") and limit(r)[0] < 0.75])]
    if products:
        large = [r for r in products if min(r["size"]) >= 512]
        need = {"f32": 0.85, "bf16": 0.75}

        def rate(r):  # of the vector units' peak, also where AMX is faster
            peak = next(unit for unit in limits(None, r["dtype"]) if unit != "amx_bf16" and r["ceilings"][unit]["best"])
            return r["flops"] / r["times"]["tcompile"]["median"] / r["ceilings"][peak]["best"]

        lines += [verdict("matrix products from 512 reach 85 % of the FMA peak (f32) and 75 % of the vdpbf16ps peak (bf16)",
                          [named(r) for r in large if rate(r) < need[r["dtype"]]]),
                  verdict("smaller and odd ones are ahead of the best peer",
                          [named(r) for r in products if r not in large and ratio(r) < 1])]
    return lines


def memory_cell(row):
    """MB by which the process grows in calls at most; of the peers the least and what it is of."""
    them = {n: b for n, b in row["memory"].items() if n != "tcompile"}
    if "tcompile" not in row["memory"]:
        return ""
    ours = f"{row['memory']['tcompile'] * 1e-6:.1f}"
    return ours + "".join(f", {n} {b * 1e-6:.1f}" for n, b in sorted(them.items(), key=lambda t: t[1])[:1])


def markdown(result):
    out = [f"# CPU benchmark, {result['date']}", "", f"{result['cpu']}; " + ", ".join(
        f"{k} {v}" for k, v in result["versions"].items() if v), ""]
    for threads, c in result["ceilings"].items():
        out += [f"- before the rows: {ceilings(threads, c)}"]
    names = sorted({n for r in result["rows"] for n in peers(r)})
    out += ["", "Median ms (tcompile with p10-p90); ratio: best peer / tcompile; share of the ceiling: of the best of what was measured between "
            "the row's rounds, and of the median, as the row's own time is one.", "",
            "Memory, of rows of training: MB by which a process grows in calls at most, ours and the least of a peer.", "",
            "| row | threads | tcompile | " + " | ".join(names) + " | ratio | ceiling | error / tolerance | memory |",
            "|---|---|---|" + "---|" * len(names) + "---|---|---|---|"]
    for r in result["rows"]:
        t = r["times"]["tcompile"]
        cells = [f"{r['times'][n]['median'] * 1e-6:.3f}" if n in r["times"] else "failed" if n in r["failed"] else "" for n in names]
        out.append(f"| {label(r)} | {r['threads']} | {t['median'] * 1e-6:.3f} ({t['p10'] * 1e-6:.3f}-{t['p90'] * 1e-6:.3f}) | "
                   + " | ".join(cells) + f" | {ratio(r):.2f} | {shares(r)} | {r['errors']['tcompile']:.2f} | {memory_cell(r)} |")
    out += ["", "```", summary(result), "```", ""]
    return "\n".join(out)
