#!/usr/bin/env python3
"""Checks what `OUT profile --json --trace TRACE` wrote.

    check.py PROFILE.json TRACE.json    structure: the rows of each table sum to the step, every step of the
                                        entries appears once, each worker's events leave no gap
    check.py --difference PROFILE.json  prints how far the rows are from a step without marks, in percent, beyond what marks may cost
    check.py --updates PROFILE.json     prints the share, in percent, of the launches other than contractions
                                        that store optimizer states, then how many contractions store some
"""
import json
import sys


def load(path):
    with open(path) as file:
        return json.load(file)


def total(rows, key):
    return sum(row[key] for row in rows)


def check_tables(profile):
    step = profile["step_ms"]
    for name in "classes", "operators", "instances":
        rows = profile[name]
        assert abs(total(rows, "ms") - step) <= 1e-6 * step, f"{name}: {total(rows, 'ms')} ms of {step}"
        assert abs(total(rows, "share") - 1) <= 1e-6, f"{name}: shares sum to {total(rows, 'share')}"
        assert all(row["ms"] >= 0 for row in rows), f"{name}: a negative time"
        times = [row["ms"] for row in rows]
        assert times == sorted(times, reverse=True), f"{name}: not sorted"
        assert total(rows, "calls") == total(profile["classes"], "calls"), f"{name}: calls"
    marks = total((row for row in profile["instances"] if "step" in row or row["class"] == "start"), "calls")
    cost = profile["marked_step_ms"] - step
    rounding = 1e-7 * step
    assert -rounding <= cost <= marks * profile["mark_ns"] * 1e-6 + rounding, f"{cost} ms for {marks} marks"
    assert profile["peak_gflops_16_bits"] >= profile["peak_gflops_tf32"] >= profile["peak_gflops"]
    assert profile["peak_gflops"] > 0 and profile["peak_gbs"] > 0 and profile["mark_ns"] > 0


def check_instances(profile):
    last = "predict" if any(row["entry"] == "predict" for row in profile["instances"]) else "train"
    for entry in last, "accumulate":
        numbers = sorted(row["step"] for row in profile["instances"] if row["entry"] == entry)
        assert numbers == list(range(len(numbers))), f"steps of {entry}: {numbers}"
        assert numbers or entry != last, f"no step of the {last} entry"


def check_trace(profile, trace):
    spans = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    names = [event for event in trace["traceEvents"] if event["ph"] == "M"]
    steps = [span for span in spans if span["cat"] == "step"]
    assert len(names) == profile["threads"], f"{len(names)} tracks"
    assert len(steps) == min(5, profile["steps"]), f"{len(steps)} steps"
    tracks = {}
    for span in spans:
        assert span["dur"] >= 0, span
        if span["cat"] not in ("step", "data"):
            tracks.setdefault(span["tid"], []).append(span)
    assert len(tracks) == profile["threads"], f"events on {len(tracks)} tracks"
    calls = total((row for row in profile["instances"] if row["class"] not in ("host", "data")), "calls")
    for track in tracks.values():
        assert len(track) == calls * len(steps), f"{len(track)} events, {calls} a step expected"
        for before, after in zip(track, track[1:]):
            gap = after["ts"] - before["ts"] - before["dur"]
            is_run = after["cat"] == "start"
            assert gap >= -0.01 if is_run else abs(gap) <= 0.01, f"{before} {after}"


def difference(profile):
    """What is known of a mark is its cost between others; in a step it may be half as much again, or half."""
    unknown = total(profile["instances"], "calls") * profile["mark_ns"] * 0.5e-6
    apart = abs(total(profile["instances"], "ms") - profile["unmarked_step_ms"])
    return max(apart - unknown, 0) / profile["unmarked_step_ms"] * 100


def updates(profile):
    rows = [row for row in profile["instances"] if ":" in row.get("stores", "")]
    own = [row for row in rows if row["class"] != "contraction"]
    return total(own, "share") * 100, len(rows) - len(own)


def main(arguments):
    if arguments[0] == "--difference":
        print(f"{difference(load(arguments[1])):.3f}")
    elif arguments[0] == "--updates":
        print("{:.3f} {}".format(*updates(load(arguments[1]))))
    else:
        profile, trace = load(arguments[0]), load(arguments[1])
        check_tables(profile)
        check_instances(profile)
        check_trace(profile, trace)


main(sys.argv[1:])
