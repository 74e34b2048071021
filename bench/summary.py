#!/usr/bin/env python3
"""All bars in one table, from the JSON files that bench/peers.sh leaves in a folder.

    bench/summary.py FOLDER [--threads N]

A line is a bar: what is wanted, what was found, and the rows that miss it. What was not measured is said, and counts as
missed; what has no bar on this machine counts as neither. Ratios are of least times on N threads (default 2).
Status: 0 all bars met, 1 one is missed or was not measured, 2 no such folder."""
import argparse
import collections
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[1:1] = [os.path.join(HERE, "kernels")]
import judge    # noqa: E402
import memory   # noqa: E402
import predict  # noqa: E402
import steps    # noqa: E402

Bar = collections.namedtuple("Bar", "name wanted found good rows")


def read(folder, name):
    """The findings of a program, or None."""
    path = os.path.join(folder, name + ".json")
    if not os.path.exists(path):
        return None
    with open(path) as file:
        return json.load(file)


def not_measured(name):
    return Bar(name, "", "not measured", False, [])


def kernels(found, threads, name="kernels"):
    if found is None:
        return [not_measured(name)]
    machine = {int(count): limits for count, limits in found["machine"].items()}
    findings = [each for each in found["findings"] if each["threads"] == threads]
    bars = []
    for group, _, count, mean, least, mean_bar in judge.groups(findings):
        own = [each for each in findings if each["group"] == group]
        missed = [judge.label(each) for each in own if not judge.is_met(each, machine)]
        text = "%.2f, least %.2f, of %d rows" % (mean, least, count)
        shares = [share for each in own if each["of_peak"] for share in [judge.of_bound(each, machine)] if share]
        if shares:
            text += "; cubes %.0f %% of the peak or more" % (100 * min(shares))
        each_bar = judge.BARS[group][0]
        wanted = "mean %.2f" % mean_bar + (", each %.2f" % each_bar if each_bar else "")
        bars.append(Bar(group, wanted, text, mean >= mean_bar and not missed, missed))
    return bars


def step_bars(found):
    if found is None:
        return [not_measured("steps, f32")]
    findings, peaks = found["findings"], found["machine"]
    measured = [each for each in findings if "failure" not in each]
    missed = [each["model"] for each in findings if "failure" in each or steps.ratio(each) < steps.bar_of(each)]
    mean = steps.mean_ratio(findings)
    worst = min(measured, key=lambda each: steps.ratio(each) / steps.bar_of(each))
    bars = [Bar("steps, f32", "mean %.2f, each %.2f" % (steps.MEAN_BAR, steps.BAR),
                "%.2f, nearest to its bar %s %.2f, of %d models" % (mean, worst["model"], steps.ratio(worst), len(findings)),
                mean >= steps.MEAN_BAR and not missed, missed)]
    for each in measured:
        if each["model"] in steps.OWN_BARS:
            bar = steps.OWN_BARS[each["model"]]
            bars.append(Bar("step of %s" % each["model"], "%.2f" % bar,
                            "%.2f beside %s" % (steps.ratio(each), steps.best(each)), steps.ratio(each) >= bar, []))
    for each in measured:
        peak = peaks.get(str(each["threads"]), {}).get("fma_gflops")
        if each["model"] in steps.BOUNDS and peak:
            times = each["ours"]["least"] * peak / (1e3 * each["gflop"])
            most = steps.BOUNDS[each["model"]]
            bars.append(Bar("%s by its flop bound" % each["model"], "at most %.2f" % most, "%.2f" % times, times <= most, []))
    return bars


def precision_bars(found, precision):
    if found is None:
        return [not_measured("steps, " + precision)]
    findings = [each for each in found["findings"] if "failure" not in each]
    failed = [each["model"] for each in found["findings"] if "failure" in each]
    missed = [each["model"] for each in findings
              if steps.ratio(each) < steps.bar_of(each) or steps.gain(each) < steps.gain_bar(each)]
    wanted = "of f32 " + ", ".join("%s %.1f" % (each["model"], steps.gain_bar(each)) for each in findings)
    text = ", ".join("%s %.2f (peers %.2f)" % (each["model"], steps.gain(each), steps.ratio(each)) for each in findings)
    tiles = "on tiles" if steps.has_tiles() else "without tiles"
    if not any(map(steps.gain_bar, findings)):  # products of f32 as three of bf16 gain nothing without tiles
        return [Bar("steps, %s, %s" % (precision, tiles), "no bar", text, False if failed else None, failed)]
    return [Bar("steps, %s, %s" % (precision, tiles), wanted, text, not missed and not failed, missed + failed)]


def predictions(found, threads):
    rows = [each for each in found or [] if each["threads"] == threads]
    if not rows:
        return [not_measured("predictions")]
    return [Bar("prediction of %s" % each["model"], "%.1f" % predict.BAR, "%.2f, by the medians %.2f" % (
        each["ratio"], each["median_ratio"]), each["ratio"] >= predict.BAR, []) for each in rows]


def memory_bars(found):
    if found is None:
        return [not_measured("memory")]
    findings = [each for each in found["findings"] if "failure" in each or memory.counts(each)]
    missed = ["%s %s" % (each["model"], "not measured" if "failure" in each else "%.2f" % memory.share(each))
              for each in findings if not memory.is_met(each)]
    return [Bar("memory of a step", "at most %.1f" % memory.BAR,
                "%d of %d models" % (len(findings) - len(missed), len(findings)), not missed, missed)]


def compiles(found):
    if found is None:
        return [not_measured("compile time")]
    slowest = max(found, key=lambda each: each["now"]["seconds"] / each["bar"])
    missed = [each["model"] for each in found if not each["good"]]
    return [Bar("compile time", "at most %.1f s" % slowest["bar"], "%.1f s, %s; of %d models" % (
        slowest["now"]["seconds"], slowest["model"], len(found)), not missed, missed)]


def bars_of(folder, threads):
    return [*kernels(read(folder, "kernels"), threads),
            *kernels(read(folder, "kernels-direct"), threads, "direct convolutions"), *step_bars(read(folder, "steps")),
            *precision_bars(read(folder, "steps-bf16"), "bf16"), *precision_bars(read(folder, "steps-bf16x3"), "bf16x3"),
            *predictions(read(folder, "predict"), threads), *memory_bars(read(folder, "memory")),
            *compiles(read(folder, "compile"))]


def show(bar):
    text = "%-28s %-26s %s%s" % (bar.name, bar.wanted, bar.found, "  MISSED" if bar.good is False else "")
    return text + "".join("\n%-28s %-26s   missed: %s" % ("", "", row) for row in bar.rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="FOLDER")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    if not os.path.isdir(options.folder):
        parser.error("no folder %s" % options.folder)
    bars = bars_of(options.folder, options.threads)
    print("\n".join(map(show, bars)))
    judged = [bar for bar in bars if bar.good is not None]
    missed = sum(not bar.good for bar in judged)
    print("%d of %d bars met" % (len(judged) - missed, len(judged)))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
