#!/usr/bin/env python3
"""Single kernels of nnc beside the best of today's libraries, each as a row with its ratio.

    bench/kernels.py [--only PATTERN] [--threads 1,2] [--models resnet18,gpt] [--quick] [--conv direct] [--json FILE]
                     [--plot FILE]

The rows: every distinct contraction and convolution of models/*.net in all three directions, read from the compiler's
own graphs; cubes from 256 to 4096 in every transposition, narrow and batched products; convolutions of layers that no
model has, dilated, grouped and of sounds; elementwise functions and reductions in f32 and f64. Peers: MKL and oneDNN through PyTorch, JAX (products), NumPy, numexpr
(bench/peers/install.sh).

A row is verified first: our result of one step against that of each way a peer has, on the same data. Then rounds
alternate: the machine's peak (bench/limits.c), ours (`OUT bench`), the peer's ways, on the same processors; data are
of the row's own size, and caches are as warm as it leaves them. With two threads the peer may use one. The ratio is
the peer's least time by ours, above 1 ours is faster; that of the medians stands beside it. `G/s` are GFLOP/s of
products, GB/s of other rows, `bound` the time at the machine's peak, or at memory's speed (of reading, for
reductions), by ours.

A row below its bar is red on a terminal, else it ends with MISSED; bars and groups: bench/kernels/judge.py.
--quick: representative rows, some three minutes; all of them take three quarters of an hour. --only: rows whose
name, group or type matches (a regular expression).
--conv direct: convolutions without Winograd's filtering, which have bars of their own.
--plot FILE: FILE.png with matplotlib, else FILE.svg. --list only tells the rows.
Status: 0 all bars met, 1 one is missed or could not be measured, 2 wrong usage or nothing to measure with."""
import argparse
import concurrent.futures
import json
import os
import re
import shutil
import signal
import statistics
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.join(HERE, "kernels"))
import convolutions  # noqa: E402
import elementwise  # noqa: E402
import extract      # noqa: E402
import judge        # noqa: E402
import rows         # noqa: E402
import sides        # noqa: E402

QUICK_MODELS = ["mnist", "gpt", "resnet18", "mobilenet_v2"]
# Of products, and of elementwise functions and reductions: norm of the difference by the norm, the worst element.
TOLERANCES = {(True, "f32"): (3e-5, 1e-3), (False, "f32"): (1e-6, 2e-5), (False, "f64"): (1e-13, 1e-12)}


def chosen(options):
    models = options.models or (QUICK_MODELS if options.quick else extract.model_names())
    found = extract.rows_of_models(options.nnc, models, options.own)
    if options.quick:  # of each model and sort that which has most of the work
        most = {}
        for row in sorted(found, key=lambda row: (row.flop, sum(row.models.values()), row.name)):
            most.update({(model, row.group, row.sort): row for model in row.models})
        found = [row for row in found if row in most.values()]
    known = {row.key(): row for row in found}
    if not options.models:
        for row in rows.made_contractions(options.quick) + convolutions.made(options.quick) + elementwise.made(options.quick):
            known.setdefault(row.key(), row).of_peak = row.of_peak
    if options.conv == "direct":
        known = {key: row for key, row in known.items() if row.group.startswith("convolution ")}
        for row in known.values():
            row.group = judge.DIRECT + row.group
    pattern = re.compile(options.only)
    order = list(judge.BARS)
    matches = lambda row: any(pattern.search(text) for text in (row.name, row.group, row.dtype))
    return sorted(filter(matches, known.values()),
                  key=lambda row: (order.index(row.group), -row.of_peak, row.flop))


class Progress:
    """What is done and about how long the rest takes, on standard error."""

    def __init__(self, weights):
        self.weights, self.done, self.start, self.count = weights, 0, time.time(), 0
        self.is_terminal = sys.stderr.isatty()

    def before(self, name):
        left = ""
        if self.done:
            seconds = (time.time() - self.start) * (sum(self.weights) / self.done - 1)
            left = ", %d:%02d left" % divmod(round(seconds), 60)
        text = "[%d/%d%s] %s" % (self.count, len(self.weights), left, name)
        if self.is_terminal:
            print("\r\033[K" + text, end="", file=sys.stderr, flush=True)
        elif self.count % 20 == 0:
            print(text, file=sys.stderr, flush=True)

    def clear(self):
        if self.is_terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)

    def after(self):
        self.clear()
        self.done += self.weights[self.count]
        self.count += 1


class Bench:
    def __init__(self, options, folder, results):
        self.options, self.folder, self.results = options, folder, results
        allowed = sorted(options.cpus or os.sched_getaffinity(0))
        if max(options.threads) > len(allowed):
            sides.stop("%d threads, but %d processors" % (max(options.threads), len(allowed)))
        self.cpus = {count: allowed[:count] for count in options.threads}
        self.machine = sides.Machine(folder, options.cc)
        python = os.path.join(options.peers, "bin/python")
        if not os.path.exists(python):
            sides.stop("no %s; bench/peers/install.sh makes it, --peers tells where it is" % python)
        self.theirs = {count: sides.Theirs(python, cpus) for count, cpus in self.cpus.items()}
        self.versions = self.theirs[options.threads[0]].ask(do="versions")

    def build(self, chosen_rows):
        """Executables, as many at a time as there are processors, before anything is measured."""
        flags = ["--conv=direct"] * (self.options.conv == "direct")
        all_ours = [sides.Ours(self.options.nnc, self.folder, self.results, i, row, flags)
                    for i, row in enumerate(chosen_rows)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            progress = Progress([1] * len(all_ours))
            for _ in concurrent.futures.as_completed([pool.submit(ours.build) for ours in all_ours]):
                progress.before("compiling")
                progress.after()
        return all_ours

    def measure(self, ours, threads, file):
        """One number of threads: the comparison of the results, then rounds."""
        row, cpus, theirs, all_ms, peers = ours.row, self.cpus[threads], self.theirs[threads], [], {}
        found = theirs.ask(do="load", operation=row.operation, file=file, most=TOLERANCES[bool(row.flop), row.dtype])
        for number in range(self.options.rounds):
            if row.flop:
                self.machine.measure(cpus, "fma")
            elif number == 0:
                self.machine.measure(cpus, "memory")
            all_ms += ours.time(cpus, self.options.seconds)
            for way, ms in theirs.ask(do="time", seconds=self.options.seconds)["ms"].items():
                peers.setdefault(way, []).extend(ms)
        least = lambda ms: {"least": min(ms), "median": statistics.median(ms), "samples": len(ms)}
        return {**found, "ours": least(all_ms), "peers": {way: least(ms) for way, ms in peers.items()}}

    def findings_of(self, ours):
        """One finding for each number of threads. Our result has the same bits for all, so it is computed once."""
        row, file, earlier = ours.row, None, []
        for threads in self.options.threads:
            finding = {"threads": threads, **{key: getattr(row, key) for key in (
                "group", "name", "dtype", "models", "flop", "bytes", "of_peak", "is_read_only")}}
            try:
                file = file or ours.result(self.cpus[max(self.options.threads)])
                finding.update(self.measure(ours, threads, file))
            except sides.Failure as failure:
                finding["failure"] = str(failure)
            judge.let_idle(finding, earlier)
            earlier.append(finding)
            yield finding
        ours.remove()

    def run(self, chosen_rows):
        """Findings, each printed when it is there."""
        all_ours, findings, group = self.build(chosen_rows), [], None
        progress = Progress([1 + row.flop / 2e10 + row.bytes / 1e8 for row in chosen_rows])
        print(judge.HEAD, flush=True)
        for ours in all_ours:
            if ours.row.group != group:
                group = ours.row.group
                print("%s, each at least %.2f" % (group, judge.BARS[group][0]))
            progress.before(ours.row.name)
            for finding in self.findings_of(ours):
                findings.append(finding)
                progress.clear()
                print(judge.line(finding, self.machine.best, sys.stdout.isatty()), flush=True)
            progress.after()
        return findings


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="PATTERN")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--cpus", help="processors to use, the first so many for so many threads; default all allowed")
    parser.add_argument("--models", help="only rows of these models")
    parser.add_argument("--own", action="store_true", help="models at the sizes of their files")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--conv", choices=["auto", "direct"], default="auto")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--seconds", type=float, help="of each side in a round")
    parser.add_argument("--build", default=os.path.join(HERE, "../build"))
    parser.add_argument("--peers", default=os.path.join(HERE, "../build/peers"), help="the folder of install.sh")
    parser.add_argument("--cc", help="for bench/limits.c; default clang, else gcc")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--plot", metavar="FILE")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    options.nnc = os.path.join(options.build, "bin/nnc")
    options.models = options.models.split(",") if options.models else []
    unknown = set(options.models) - set(extract.model_names())
    if unknown:
        parser.error("no models/%s.net" % ", ".join(sorted(unknown)))
    options.threads = sorted({int(count) for count in options.threads.split(",")})
    options.cpus = [int(cpu) for cpu in options.cpus.split(",")] if options.cpus else []
    options.rounds = options.rounds or 3
    options.seconds = options.seconds or (0.06 if options.quick else 0.1)
    return options


def main():
    options = parse_options()
    if not shutil.which(options.nnc):
        sides.stop("no %s; --build tells where it is" % options.nnc)
    chosen_rows = chosen(options)
    if not chosen_rows:
        sides.stop("no such rows")
    if options.list:
        for row in chosen_rows:
            print("%-26s %-44s %s %9.4g MFLOP  %s" % (row.group, row.name, row.dtype, row.flop * 1e-6, " ".join(
                "%s:%d" % pair for pair in row.models.items())))
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # folders go
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory(dir=sides.results_place()) as results:
        bench = Bench(options, folder, results)
        findings = bench.run(chosen_rows)
    machine = bench.machine.best
    print("\n".join(judge.summary(findings, machine, sys.stdout.isatty())))
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"machine": machine, "versions": bench.versions, "rounds": options.rounds,
                       "seconds": options.seconds, "findings": findings}, file, indent=1)
    if options.plot:
        print("plot: %s" % judge.plot(findings, options.plot))
    return 0 if judge.is_good(findings, machine) else 1


if __name__ == "__main__":
    sys.exit(main())
