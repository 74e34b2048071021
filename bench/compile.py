#!/usr/bin/env python3
"""Cold compiles of the models at their own constants: seconds on two cores, the least of some, and the executable.

    bench/compile.py [MODEL...] [--build DIR] [--base DIR] [--rounds N] [--jobs N] [--json FILE]

Nothing is taken from nnc's cache. `cpu` are the processor seconds of the whole, which a machine's other work
disturbs less than the time by the clock. `front` is nnc alone, which writes the C to nowhere. With --base another build
compiles in turn, and an executable may be at most 1.2 times as large as its. The bars of time are 15 s, and 1.2 s
for mnist; a row that misses ends with MISSED. Status: 0 all bars met, 1 one is missed or a compile failed."""
import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BAR, OWN_BARS, SIZE_BAR = 15.0, {"mnist": 1.2}, 1.2


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def seconds(command):
    """By the clock, and of processors."""
    start, used = time.monotonic(), processor_seconds()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start, processor_seconds() - used


def compile_cold(build, name, jobs, folder):
    """Seconds of the whole, by the clock and of processors, and the executable's bytes."""
    output = os.path.join(folder, "executable")
    command = [os.path.join(build, "bin/nnc"), os.path.join(ROOT, "models", name + ".net"), "--no-cache"]
    taken, used = seconds([*command, "--jobs=%d" % jobs, "-o", output])
    return taken, used, os.path.getsize(output)


def measure(options, name, folder):
    builds = {"now": options.build, **({"base": options.base} if options.base else {})}
    row = {"model": name, "bar": OWN_BARS.get(name, BAR)}
    for _ in range(options.rounds):
        for key, build in builds.items():
            taken, used, size = compile_cold(build, name, options.jobs, folder)
            least = row.get(key, {"seconds": math.inf, "cpu": math.inf})
            row[key] = {"seconds": min(taken, least["seconds"]), "cpu": min(used, least["cpu"]), "bytes": size}
    front = [os.path.join(options.build, "bin/nnc"), os.path.join(ROOT, "models", name + ".net"), "--emit=c"]
    row["front"] = min(seconds(front)[1] for _ in range(options.rounds))
    row["good"] = row["now"]["seconds"] <= row["bar"]
    if options.base:
        row["good"] = row["good"] and row["now"]["bytes"] <= SIZE_BAR * row["base"]["bytes"]
    return row


def show(row):
    def figures(which):
        return "%6.2f s  cpu %6.2f s  %6.0f KB" % (which["seconds"], which["cpu"], which["bytes"] / 1e3)

    line = "%-14s %s  front %5.2f s" % (row["model"], figures(row["now"]), row["front"])
    if "base" in row:
        line += "   base %s" % figures(row["base"])
    print(line + ("" if row["good"] else "  MISSED"), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    models = sorted(name[:-4] for name in os.listdir(os.path.join(ROOT, "models")) if name.endswith(".net"))
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--base")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json")
    options = parser.parse_args()
    unknown = [name for name in options.models if name not in models]
    if unknown or options.rounds < 1:
        parser.error("no models/%s.net" % unknown[0] if unknown else "--rounds: at least 1")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.models or models:
            rows.append(measure(options, name, folder))
            show(rows[-1])
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)
    return 0 if all(row["good"] for row in rows) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        print("bench/compile.py: %s: status %d" % (" ".join(error.cmd), error.returncode), file=sys.stderr)
        sys.exit(1)
