"""Lines, distributions, Markdown and the picture of a sweep."""
import json
import math
import os
import statistics

import report
from report import best_peer, geometric_mean, limit, ratio
from sweep_svg import picture

WORST = 10
LARGE = 4e6  # bytes
NOTICEABLE = 1e5  # ns of the best peer from which calls of Python are no part of the ratio


def team_of(row):
    """Of a row of a CPU, its threads; a GPU's rows have none."""
    return f"{row['threads']}T " if row["threads"] else ""


def is_wrong(row):
    """Beyond the tolerance, and beyond the errors of all peers, whose sums are as long."""
    peers = [e for name, e in row["errors"].items() if name != "tcompile" and name not in report.mistaken(row)]
    return row["errors"]["tcompile"] > max([1, *peers]) or row["fallbacks"] or not row["hits"]


def line(row):
    them = ", ".join(f"{n} {t * 1e-6:.3f}" for n, t in report.peers(row).items())
    notes = "".join(f"; {n}: {why[:60]}" for n, why in row["failed"].items() if why != "no time")
    notes += "".join(f"; {n} is off by {e:.0f} tolerances" for n, e in report.mistaken(row).items())
    notes += f"; WRONG by {row['errors']['tcompile']:.1f} tolerances, {row['fallbacks']} fallbacks" if is_wrong(row) else ""
    return (f"{row['row']['index']:4} {team_of(row)}{row['label']:60s} {row['times']['tcompile']['median'] * 1e-6:9.3f} ms "
            f"{ratio(row):5.2f}x of best ({them}); {report.shares(row)}{notes}")


def memory_bound(row):
    """Does moving bytes limit it, and are they more than the caches of a core hold?"""
    return limit(row)[1] in ("read", "copy") and row["bytes"] >= LARGE


def quantile(values, q):
    """Of a sorted list, by linear interpolation."""
    at = q * (len(values) - 1)
    low = int(at)
    return values[low] + (at - low) * (values[min(low + 1, len(values) - 1)] - values[low])


def distribution(values):
    """least, 5th percentile, median, geometric mean"""
    values = sorted(v for v in values if math.isfinite(v))
    if not values:
        return "none"
    return (f"{len(values)} rows: least {values[0]:.2f}, 5th percentile {quantile(values, 0.05):.2f}, median {statistics.median(values):.2f}, "
            f"geometric mean {geometric_mean(values):.2f}")


def distributions(rows):
    """(title, values) of all rows and of groups."""
    groups = [("ratio, all rows", [ratio(r) for r in rows]),
              (f"ratio, rows of at least {NOTICEABLE * 1e-6:.1f} ms of the best peer", [ratio(r) for r in rows if best_peer(r)[1] >= NOTICEABLE]),
              (f"share of the bandwidth, rows that memory bounds, of at least {LARGE * 1e-6:.0f} MB", [limit(r)[0] for r in rows if memory_bound(r)]),
              ("share of the arithmetic peak, rows that it bounds", [limit(r)[0] for r in rows if limit(r)[1] not in ("read", "copy")])]
    for key, name in (("dtype", ""), ("threads", " thread(s)")):
        groups += [(f"ratio, {value}{name}", [ratio(r) for r in rows if r[key] == value]) for value in sorted({r[key] for r in rows if r[key]})]
    for kind in ("columns", "offset"):
        groups.append((f"ratio, operands: {kind}", [ratio(r) for r in rows if kind in [v[0] for v in r["row"]["layout"].values()]]))
    for family in sorted({r["family"] for r in rows}):
        groups.append((f"ratio, {family}", [ratio(r) for r in rows if r["family"] == family]))
    return groups


def named(r):
    return f"#{r['row']['index']} {team_of(r)}{r['label']}: {ratio(r):.2f}x of {best_peer(r)[0]}, {report.shares(r)}, {r['times']['tcompile']['median'] * 1e-6:.3f} ms"


def worst_rows(rows):
    by_ratio = sorted((r for r in rows if math.isfinite(ratio(r))), key=ratio)
    by_share = sorted((r for r in rows if memory_bound(r)), key=lambda r: limit(r)[0])
    return [(f"{WORST} least ratios", [named(r) for r in by_ratio[:WORST]]),
            (f"{WORST} least shares of the bandwidth", [named(r) for r in by_share[:WORST]])]


def summary(result):
    rows = result["rows"]
    lines = [f"seed {result['seed']}, {len(rows)} rows in {result['seconds']:.0f} s, behind the best peer {sum(ratio(r) < 1 for r in rows)}, "
             f"wrong {sum(bool(is_wrong(r)) for r in rows)}, failed peers {sum(why != 'no time' for r in rows for why in r['failed'].values())}, "
             f"mistaken peers {sum(len(report.mistaken(r)) for r in rows)}, "
             f"peers without time {sum(why == 'no time' for r in rows for why in r['failed'].values())}"]
    lines += [f"  {title}: {distribution(values)}" for title, values in distributions(rows) if values]
    for title, names in worst_rows(rows):
        lines += [title] + [f"  {name}" for name in names]
    return "\n".join(lines)


def markdown(result):
    out = [f"# Sweep, {result['date']}", "", f"{result['cpu']}; " + ", ".join(f"{k} {v}" for k, v in result["versions"].items() if v), "",
           "![ratio over the work of a row](sweep.svg)", "", "```", summary(result), "```", ""]
    names = sorted({n for r in result["rows"] for n in report.peers(r)})
    out += ["Median ms; ratio: best peer / tcompile; share of the ceiling: of the best, and of the median, of what was measured between the row's rounds.", "",
            "| # | row | threads | tcompile | " + " | ".join(names) + " | ratio | ceiling | error / tolerance |", "|---|---|---|---|" + "---|" * len(names) + "---|---|---|"]
    for r in sorted(result["rows"], key=lambda r: (r["family"], r["row"]["index"])):
        cells = [f"{r['times'][n]['median'] * 1e-6:.3f}" if n in r["times"] else "" if r["failed"].get(n) == "no time" else "failed" for n in names]
        out.append(f"| {r['row']['index']} | {r['label']} | {r['threads'] or ''} | {r['times']['tcompile']['median'] * 1e-6:.3f} | " + " | ".join(cells)
                   + f" | {ratio(r):.2f} | {report.shares(r)} | {r['errors']['tcompile']:.2f} |")
    return "\n".join(out) + "\n"


def write(folder, result):
    os.makedirs(folder, exist_ok=True)
    files = {"sweep.json": json.dumps(result, indent=1), "sweep.md": markdown(result), "sweep.svg": picture(result["rows"])}
    for name, text in files.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)
