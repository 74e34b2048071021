#!/usr/bin/env python3
"""The memory that a training step needs for activations and workspace, here and in today's PyTorch.

    bench/memory.py [MODEL...] [--within] [--threads N] [--ways WAY;...] [--build DIR] [--peers DIR] [--folder DIR]
                    [--json FILE]

Models, shapes and PyTorch's ways are those of steps.py. Of both sides counts what a step needs beside parameters, their
optimizer's state, states of layers and the batch.
- Here: the program's plan, which is exact: the arena less those, with the workspaces of the threads, which lie in it
  where a phase leaves it free.
- PyTorch: how far resident memory grows, to its peak, in a step after the first ones, whose gradients were given back.
  Memory that is freed goes back to the system at once, so nothing that an earlier step left is used unseen.
The share is ours by the least of PyTorch's ways. The bar, at most .6, is for models whose step has a GFLOP or more.

--within also makes, of each model above the bar, a program that the bar limits (--memory-limit) and times steps of it
and of the first, in turn: what memory costs in time. A model whose limit cannot be met says so.

--folder keeps the executables and what torch.compile made; that of steps.py may be used.
Status: 0 all bars met, 1 one is missed or could not be measured, 2 wrong usage or nothing to measure with."""
import json
import math
import os
import signal
import statistics
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[1:1] = [os.path.join(HERE, "kernels"), os.path.join(HERE, "steps")]
import sides                # noqa: E402
import steps                # noqa: E402
from sizes import SIZES     # noqa: E402

BAR, LEAST_GFLOP = 0.6, 1.0
ROUNDS, SECONDS = 4, 0.5  # of each side, with --within
PAGE = 4096  # resident memory is counted in these: a small step may not grow at all
GIVE_BACK = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "0", "MALLOC_TOP_PAD_": "0", "GLIBC_TUNABLES": "",
             "MKL_DISABLE_FAST_MM": "1"}  # by which MKL keeps no workspace, either
ELEMENT = {"u8": 1, "i32": 4, "f32": 4, "f64": 8, "bf16": 2, "f16": 2}


def uncounted(info):
    """Bytes of what counts on neither side."""
    batch = sum(ELEMENT[entry["dtype"]] * math.prod(entry["shape"]) for entry in info["inputs"])
    return info["parameter_bytes"] + info["optimizer_bytes"] + info["state_bytes"] + batch


def planned(info, threads):
    """Bytes of our activations and workspace."""
    ends = [space["at"] + threads * space["bytes"] for space in info["workspaces"]]
    return max([info["arena_bytes"], *ends]) - uncounted(info)


def within(bench, whole, name, edits, most):
    """The program that needs at most `most` bytes, and what its step takes by that of `whole`, in turn."""
    limit = uncounted(whole.info) + int(most)
    limited = steps.Ours(bench.options, bench.cpus, name, edits, "f32", limit)
    found = {side: [] for side in (whole, limited)}
    for _ in range(ROUNDS):
        for side in found:
            found[side] += side.time(SECONDS)
    ratio = [kind(found[limited]) / kind(found[whole]) for kind in (min, statistics.median)]
    return {"bytes": planned(limited.info, bench.options.threads), "slower": ratio[0], "slower_median": ratio[1]}


def measure(bench, name):
    ours, peers = bench.load(name)
    ours["f32"].run(1, 0)  # for its flop
    finding = {"model": name, "gflop": ours["f32"].gflop, "ours": planned(ours["f32"].info, bench.options.threads),
               "peers": {}, "failed": {}}
    for peer, loaded in peers:
        finding["peers"].update(peer.ask(do="memory")["bytes"])
        finding["failed"].update(loaded["failed"])
        edits = peer.ask(do="twin", model=name)["edits"]
        peer.close()
    if bench.options.within and counts(finding) and share(finding) > BAR:
        try:
            finding["within"] = within(bench, ours["f32"], name, edits, BAR * min(finding["peers"].values()))
        except sides.Failure as failure:
            finding["within"] = {"failure": str(failure)}
    return finding


def share(finding):
    return finding["ours"] / max(PAGE, min(finding["peers"].values()))


def counts(finding):
    return "failure" not in finding and finding["gflop"] >= LEAST_GFLOP


def is_met(finding):
    return "failure" not in finding and (not counts(finding) or share(finding) <= BAR)


def line(finding):
    if "failure" in finding:
        return "%-14s not measured: %s MISSED" % (finding["model"], finding["failure"].replace("\n", " ")[:300])
    peers = "  ".join("%s %.1f" % (way, size / 1e6) for way, size in finding["peers"].items())
    return "%-14s %9.2f %9.1f %6.2f %5s  %s%s%s" % (
        finding["model"], finding["gflop"], finding["ours"] / 1e6, share(finding), BAR if counts(finding) else "-",
        peers, "" if is_met(finding) else " MISSED", within_text(finding.get("within")))


def within_text(found):
    if found is None:
        return ""
    if "failure" in found:
        return "; within the bar: not possible (%s)" % found["failure"].replace("\n", " ")[:200]
    return "; within the bar: %.1f MB, a step takes %.2f (%.2f) times as long" % (
        found["bytes"] / 1e6, found["slower"], found["slower_median"])


def parse_options():
    parser = steps.shared_options(__doc__)
    parser.add_argument("--within", action="store_true", help="also steps within the bar")
    options = steps.parse_shared(parser)
    options.models, options.cpus = options.models or list(SIZES), []
    options.precision, options.others = "f32", False
    return options


def main():
    options = parse_options()
    if not os.path.exists(os.path.join(options.build, "bin/nnc")):
        sides.stop("no %s/bin/nnc; --build tells where it is" % options.build)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # folders go
    sides.KEEP_MEMORY = GIVE_BACK
    findings = []
    with tempfile.TemporaryDirectory() as folder:
        options.folder = os.path.abspath(options.folder or folder)
        os.makedirs(options.folder, exist_ok=True)
        bench = steps.Bench(options)
        print("%d threads, f32, a step\n%-14s %9s %9s %6s %5s  PyTorch, MB" % (
            options.threads, "model", "GFLOP", "nnc MB", "share", "bar"), flush=True)
        for name in options.models:
            try:
                finding = measure(bench, name)
            except sides.Failure as failure:
                finding = {"model": name, "failure": str(failure)}
            findings.append(finding)
            print(line(finding), flush=True)
    missed = sum(not is_met(each) for each in findings)
    print("%d of %d bars missed; torch %s" % (missed, sum(map(counts, findings)), bench.versions.get("torch")))
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"versions": bench.versions, "findings": findings}, file, indent=1)
    return 0 if not missed else 1


if __name__ == "__main__":
    sys.exit(main())
