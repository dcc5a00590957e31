"""tools/bench sweep: rows drawn at random from families of functions, against PyTorch and JAX in one run.

Sizes, dtypes, layouts of operands, numbers of threads, and whether annotations have symbols or numbers are drawn; a seed gives
the same rows everywhere.  Every result is compared with float64 first.  A row takes about 8 seconds with its peers on 2 cores,
150 rows at most 25 minutes: operands and results have at most 2^24 elements, products 2^31 multiply-adds, and a peer is begun
only while --seconds of its row are left.  The best peer is the best mode that ran.
"""
import argparse
import contextlib
import dataclasses
import json
import os
import tempfile
import time

import report
import sweep_report
from contenders import (CEILINGS, Contender, ceiling, cpu_model, largest_error, measure, peer_environment, reference_of, spread,
                        start_peer, versions, write_inputs)
from families import ITEM
from sweep_draw import add_row_options, chosen_rows, list_of, print_rows
from sweep_source import build, code_key, named

# In this order, as far as the time of a row goes.
PEERS = ("torch-eager", "jax", "torch-default", "torch-max-autotune")
DEFAULT_PEERS = PEERS[:3]


def write_layout(row, folder):
    with open(f"{folder}/layout", "w", encoding="utf-8") as f:
        for operand, (kind, left, right) in row.layout.items():
            f.write(f"{operand} {kind} {left} {right}\n")


class Team:
    """Contenders of a number of threads: the compiled functions, the ceilings, peers."""

    def __init__(self, options, program, before, threads):
        self.options = options
        environment = {"TC_ISA": options.isa} if options.isa else {}

        def runs(name, path):
            return Contender(name, [path], threads, options.first_cpu, environment)

        self.ours, self.meter = runs("tcompile", program), runs("ceilings", program)
        self.before = [runs("before", before)] if before else []
        theirs = peer_environment(threads, options.isa)
        self.peers = [start_peer(name, options.python, threads, options.first_cpu, theirs) for name in options.peers]
        for c in self.all():
            c.ask("ready")

    def all(self):
        return [self.ours, self.meter, *self.before, *self.peers]

    def quit(self):
        for c in self.all():
            c.quit()

    def load(self, row, name, sets, folder):
        """{contender: error in tolerances}, {contender's name: reason} of those that cannot run or had no time."""
        form, errors, failed, begun = row.form(), {}, {}, time.monotonic()
        reference, operands = reference_of(form, row.dtype, folder)
        team = [*((c, name) for c in (self.ours, *self.before)), *((c, form.peer) for c in self.peers)]
        for pair in (team[i:i + 2] for i in range(0, len(team), 2)):  # which compile side by side
            if time.monotonic() - begun > self.options.seconds:
                failed.update({c.name: "no time" for c, _ in pair})
                continue
            for c, family in pair:
                c.pin()
                c.tell(f"load {family} {row.dtype} {sets} {folder}")
            for c, _ in pair:
                try:
                    c.answer()
                    c.ask(f"save {folder}/out.npy")
                    errors[c] = largest_error(form, row.dtype, folder, reference, operands)
                except RuntimeError as error:
                    failed[c.name] = str(error)
        return errors, failed


def run_row(team, row, name, options):
    form = row.form()
    with tempfile.TemporaryDirectory() as folder:
        sets = write_inputs(form, row.size, ITEM[row.dtype], folder)
        write_layout(row, folder)
        errors, failed = team.load(row, name, sets, folder)
        if team.ours not in errors:
            raise SystemExit(f"{row.label()}: {failed['tcompile']}")
        team.ours.ask("counters")
        limits = report.limits(form.streams, row.dtype, form.product)
        times, ceilings = measure(list(errors), team.meter, options.rounds, limits)
        hits, fallbacks, mallocs, faults = map(int, team.ours.ask("counters"))
    return {"row": dataclasses.asdict(row), "label": row.label(), "family": row.family, "dtype": row.dtype, "threads": row.threads,
            "times": times, "ceilings": ceilings, "errors": {c.name: e for c, e in errors.items()}, "failed": failed,
            "hits": hits, "fallbacks": fallbacks, "mallocs": mallocs, "page_faults": faults,
            "bytes": form.bytes(row.size, ITEM[row.dtype]), "flops": form.flops(row.size), "streams": form.streams,
            "product": form.product}


def options_of():
    p = argparse.ArgumentParser(prog="tools/bench sweep", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", required=True, help=argparse.SUPPRESS)
    p.add_argument("--root", required=True, help=argparse.SUPPRESS)
    p.add_argument("--python", default="", help=argparse.SUPPRESS)
    p.add_argument("--out", required=True, help=argparse.SUPPRESS)
    add_row_options(p)
    p.add_argument("--threads", type=list_of(int), default=[1, 2])
    p.add_argument("--peers", type=list_of(str), default=list(DEFAULT_PEERS), help="of " + ", ".join(PEERS) + "; an empty list: none")
    p.add_argument("--before", metavar="PLUGIN", default="", help="the only peer is what another libtcplugin.so makes of the same functions")
    p.add_argument("--seconds", type=float, default=6, help="of a row, in which peers may begin to compile")
    p.add_argument("--rounds", type=int, default=2)
    p.add_argument("--isa", default="", help="highest level of the CPU to use, such as bf16: without AMX")
    p.add_argument("--first-cpu", type=int, default=0, help="measure on this CPU and the next ones")
    p.add_argument("--clang", default="clang-19")
    p.add_argument("--jobs", type=int, default=os.cpu_count(), help="files compiled side by side")
    p.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="of the plugin")
    options = p.parse_args()
    if options.before:
        options.peers = []
    return options


def main():
    options = options_of()
    rows = chosen_rows(options, options.threads)
    print(f"seed {options.seed}, {len(rows)} rows", flush=True)
    if options.list:
        print_rows(rows)
        return
    begun = time.monotonic()

    def make(folder, plugin=None):
        return build(rows, options.build, options.root, os.path.join(options.out, folder), plugin, options.clang, options.jobs, options.option)

    program, said = make("sweep")
    before = make("before", options.before)[0] if options.before else None
    print(f"compiled in {time.monotonic() - begun:.0f} s" + ("; not as a whole:\n" + said if said else ""), flush=True)
    names = named(rows)
    result = {"cpu": cpu_model(), "date": time.strftime("%Y-%m-%d %H:%M"), "seed": options.seed, "rounds": options.rounds,
              "versions": versions(options.python) if options.peers else {}, "ceilings": {}, "rows": []}
    with contextlib.ExitStack() as stack:
        teams = {}
        for threads in sorted({r.threads for r in rows}):
            teams[threads] = Team(options, program, before, threads)
            stack.callback(teams[threads].quit)
        for threads, team in teams.items():
            result["ceilings"][threads] = spread({c: [ceiling(team.meter, c)] for c in CEILINGS})
            print(report.ceilings(threads, result["ceilings"][threads]), flush=True)
        for row in rows:
            result["rows"].append(run_row(teams[row.threads], row, names[code_key(row)], options))
            print(sweep_report.line(result["rows"][-1]), flush=True)
            result["seconds"] = time.monotonic() - begun
            sweep_report.write(options.out, result)
    print(sweep_report.summary(result))
    if any(sweep_report.is_wrong(r) for r in result["rows"]):
        raise SystemExit("some results are wrong")


if __name__ == "__main__":
    main()
