"""A picture of a sweep: the ratio over the work of a row, a panel for each family."""
import math

from report import limit, ratio

ACROSS, WIDTH, HEIGHT, EDGE = 4, 230, 160, 34
LEAST, MOST = 1 / 4, 32  # ratios; what is beyond stands at the border
COLOURS = {"f32": "#1f77b4", "bf16": "#d62728"}


def work(row):
    """Bytes that are moved, or operations, whichever bounds the row."""
    return row["bytes"] if limit(row)[1] in ("read", "copy") else row["flops"]


def height_of(value):
    value = min(max(value, LEAST), MOST)
    return HEIGHT * (1 - (math.log(value) - math.log(LEAST)) / (math.log(MOST) - math.log(LEAST)))


def text(x, y, what, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="9" {more}>{what}</text>'


def mark(x, y, row):
    """A disc for one thread, a square for more, with the row's label."""
    colour = COLOURS.get(row["dtype"], "#555555")
    shape = (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"' if row["threads"] == 1
             else f'<rect x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6"')
    return f'{shape} fill="{colour}" fill-opacity="0.7"><title>{row["label"]} {row["threads"] or ""}: {ratio(row):.2f}x</title>{"</circle>" if row["threads"] == 1 else "</rect>"}'


def panel(family, rows, left, top):
    low = math.floor(math.log10(min(map(work, rows))))
    high = max(low + 1, math.ceil(math.log10(max(map(work, rows)))))
    out = [f'<rect x="{left}" y="{top}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#999999"/>',
           text(left, top - 4, f"{family} ({len(rows)})", 'font-weight="bold"')]
    for value in (0.5, 1, 2, 4, 8, 16):
        y = top + height_of(value)
        out += [f'<line x1="{left}" x2="{left + WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="{"#000000" if value == 1 else "#dddddd"}"/>',
                text(left - 4, y + 3, f"{value:g}", 'text-anchor="end"')]
    for power in range(low, high + 1):
        x = left + WIDTH * (power - low) / (high - low)
        out.append(text(x, top + HEIGHT + 11, f"1e{power}", 'text-anchor="middle"'))
    for row in rows:
        out.append(mark(left + WIDTH * (math.log10(work(row)) - low) / (high - low), top + height_of(ratio(row)), row))
    return out


def picture(rows):
    """SVG; rows without a peer are not in it."""
    rows = [r for r in rows if math.isfinite(ratio(r))]
    families = sorted({r["family"] for r in rows})
    down = -(-len(families) // ACROSS)
    width, height = ACROSS * (WIDTH + EDGE + 8) + 8, down * (HEIGHT + EDGE + 8) + 30
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif">',
           '<rect width="100%" height="100%" fill="#ffffff"/>',
           text(8, 14, "best peer / tcompile over bytes moved or operations; disc: 1 thread, square: more; "
                + ", ".join(f'<tspan fill="{c}">{d}</tspan>' for d, c in COLOURS.items()))]
    for i, family in enumerate(families):
        left, top = EDGE + i % ACROSS * (WIDTH + EDGE + 8), 36 + i // ACROSS * (HEIGHT + EDGE + 8)
        out += panel(family, [r for r in rows if r["family"] == family], left, top)
    return "\n".join(out + ["</svg>"]) + "\n"
