"""What bench/kernels.py found, judged: ratios, bars, the table, the plot.

A finding is a row with one number of threads, as JSON keeps it: the row's fields, `threads`, `ours` and each way of
`peers` with `least`, `median` (ms) and `samples`, or `failure`. Its ratio is the fastest way's time by ours: above 1
ours is faster. Bounds are those of the whole run (`machine`: threads: what bench/limits.c found)."""
import math
import os
import sys

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import bars          # noqa: E402
import convolutions  # noqa: E402

DIRECT = "direct "  # convolutions without Winograd's filtering
# Group: what each row's ratio of least times shall be, and their geometric mean.
BARS = {"contraction": (0.85, 1.0), "small contraction": (0.85, 1.0)}
for _direction in (convolutions.FORWARD, convolutions.INPUT, convolutions.WEIGHT):
    BARS["convolution " + _direction] = 0.85, 1.15
    BARS["small convolution " + _direction] = 0.85, 1.15
    BARS[DIRECT + "convolution " + _direction] = 0, 0.95
    BARS["depthwise " + _direction] = 1.2, 1.2
BARS["elementwise"] = 1.0, 1.3  # and reductions
HEAD = "%-44s %s %10s %10s %8s %6s %10s %-18s %6s %7s %5s" % (
    "", "t", "ours ms", "median", "G/s", "bound", "peer ms", "", "ratio", "median", "bar")


def best_way(finding, kind="least"):
    return min(finding["peers"], key=lambda way: finding["peers"][way][kind])


def ratio(finding, kind="least"):
    if "failure" in finding:
        return None
    return finding["peers"][best_way(finding, kind)][kind] / max(finding["ours"][kind], 1e-6)


def bound_ms(finding, machine):
    """The least that the machine needs: for the flops, else for the bytes; None where that was not measured."""
    limits = machine.get(finding["threads"], {})
    if finding["flop"]:
        peak = limits.get("fma_gflops")
        return finding["flop"] / peak * 1e-6 if peak else None
    speed = limits.get("read_gbs" if finding["is_read_only"] else "copy_gbs")
    return finding["bytes"] / speed * 1e-6 if speed else None


def of_bound(finding, machine):
    bound = bound_ms(finding, machine)
    return bound / max(finding["ours"]["least"], 1e-6) if bound and "ours" in finding else None


def let_idle(finding, earlier):
    """A peer may leave processors idle: its ways on fewer threads (`earlier`, of the same row) count as well."""
    if "peers" in finding:
        finding["peers"].update({"%s, %d t" % (way, other["threads"]): times for other in earlier
                                 for way, times in other.get("peers", {}).items() if "," not in way})


def is_met(finding, machine):
    if "failure" in finding:
        return False
    share = of_bound(finding, machine)
    return ratio(finding) >= BARS[finding["group"]][0] and not (share and share < finding["of_peak"])


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def groups(findings):
    """(group, threads, rows, mean, least, the mean's bar), in the order of BARS."""
    found = []
    for group, (_, mean_bar) in BARS.items():
        for threads in sorted({each["threads"] for each in findings}):
            ratios = [ratio(each) for each in findings
                      if each["group"] == group and each["threads"] == threads and "failure" not in each]
            if ratios:
                found.append((group, threads, len(ratios), geometric_mean(ratios), min(ratios), mean_bar))
    return found


def is_good(findings, machine):
    return all(is_met(each, machine) for each in findings) and all(mean >= bar for *_, mean, _, bar in groups(findings))


# ---- the table ---------------------------------------------------------------------------------

def marked(line, good, is_coloured):
    if good:
        return line
    return "\033[31m%s\033[0m" % line if is_coloured else line + " MISSED"


def number(value, form):
    return "" if value is None else form % value


def label(finding):
    return finding["name"] + (" " + finding["dtype"] if finding["group"] == "elementwise" else "")


def line(finding, machine, is_coloured):
    row_bar = BARS[finding["group"]][0]
    start = "%-44s %d " % (label(finding)[:44], finding["threads"])
    if "failure" in finding:
        return marked(start + "not measured: " + finding["failure"].replace("\n", " ")[:300], False, is_coloured)
    ours, way = finding["ours"], best_way(finding)
    share, speed = of_bound(finding, machine), (finding["flop"] or finding["bytes"]) / ours["least"] * 1e-6
    text = start + "%10.4f %10.4f %8s %6s %10.4f %-18s %6.2f %7.2f %5.2f" % (
        ours["least"], ours["median"], "%.1f" % speed,
        number(share and 100 * share, "%.0f %%"), finding["peers"][way]["least"], way, ratio(finding),
        ratio(finding, "median"), row_bar)
    return marked(text, is_met(finding, machine), is_coloured)


def summary(findings, machine, is_coloured):
    lines = ["", "%-30s %s %5s %15s %5s %10s %5s %7s" % ("group", "t", "rows", "geometric mean", "bar", "least", "bar",
                                                        "missed")]
    for group, threads, count, mean, least, mean_bar in groups(findings):
        row_bar = BARS[group][0]
        own = [each for each in findings if each["group"] == group and each["threads"] == threads]
        missed = sum(not is_met(each, machine) for each in own)
        text = "%-30s %d %5d %15.2f %5.2f %10.2f %5.2f %7d" % (group, threads, count, mean, mean_bar, least, row_bar,
                                                              missed)
        lines.append(marked(text, mean >= mean_bar and not missed, is_coloured))
    for threads, limits in sorted(machine.items()):
        lines.append("%d thread%s: " % (threads, "s"[:threads != 1]) + ", ".join(
            "%s %.1f" % (key.replace("_", " "), value) for key, value in limits.items() if key != "threads"))
    return lines


# ---- the plot ----------------------------------------------------------------------------------

def plot(findings, path, plain=False):
    """The file's name; None where nothing was measured. A suffix .png or .svg of the path says nothing."""
    rows = []
    for group, threads, _, mean, _, mean_bar in groups(findings):
        rows.append(("%s, %d t: mean" % (group.upper(), threads), mean, mean_bar))
        own = [each for each in findings if each["group"] == group and each["threads"] == threads]
        own = sorted((each for each in own if "failure" not in each), key=ratio)
        rows += [(label(each)[:38] + " %d" % threads, ratio(each), BARS[group][0]) for each in own]
    stem = path[:-4] if path.endswith((".png", ".svg")) else path
    return bars.plot(rows, "times as fast as the best peer", stem, plain) if rows else None
