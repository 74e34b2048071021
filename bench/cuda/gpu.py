#!/usr/bin/env python3
"""Checks and times what bundle.py built, on a machine with a GPU: see gpu.sh."""
import argparse
import concurrent.futures
import importlib.util
import json
import os
import platform
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

import cases
import judge
import report
from peers import BUILDING, READY, WAITING, Peers

# Where each part must end, as a share of all the time; what is left over goes to those behind it.
PARTS = [("vectors", 0.17), ("checks", 0.30), ("mnist", 0.38), ("sanitizer", 0.48), ("models", 0.82),
         ("contractions", 0.94), ("profiles", 0.99)]
# GB that PyTorch may take at a time beside ours, and for one row: eager, compiled, captured (0: not at this size).
PEER_GIGABYTES = {"gpt2_b4": (8, 9, 9), "gpt2_b32": (25, 45, 0), "resnet50": (5, 9, 9), "mobilenet_v2": (5, 10, 10)}
PEERS_BUILT_AT_ONCE = 8
OVERRUN = 15  # seconds that a row may take beyond the end of its part
MODES = ("eager", "compiled", "captured")


class Failure(Exception):
    """A command that failed, with the last line that it printed."""


class Late(Failure):
    """A command that took longer than it had."""


class Skipped(Exception):
    """A part that lacks something."""


class Run:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.begin = time.monotonic()
        self.results = {"started": time.strftime("%Y-%m-%d %H:%M:%S"), "parts": {}, "models": [], "contractions": []}
        self.lock = threading.Lock()
        self.children = set()
        self.peers = None
        self.rows = []

    # ---- small things ----------------------------------------------------------------------------

    def elapsed(self):
        return time.monotonic() - self.begin

    def say(self, text):
        print(f"[{self.elapsed():5.0f} s] {text}", flush=True)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def save(self):
        """What is known so far: the call may be cut."""
        with self.lock:
            self.results["seconds"] = round(self.elapsed(), 1)
            self.results["targets"] = report.targets(self.results)
            for name, text in (("results.json", json.dumps(self.results, indent=1)),
                               ("results.md", report.markdown(self.results))):
                path = os.path.join(self.options.out, name)
                with open(path + ".new", "w") as file:
                    file.write(text)
                os.replace(path + ".new", path)

    def call(self, command, timeout, cwd=None):
        """Standard output of a command that is ended after so many seconds."""
        if timeout <= 0:
            raise Late("no time is left for it")
        child = subprocess.Popen(command, cwd=cwd or self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.children.add(child)
        try:
            out, error = child.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
            raise Late(f"{os.path.basename(command[0])} was ended after {timeout:.0f} s") from None
        finally:
            self.children.discard(child)
        if child.returncode != 0:
            lines = (error.strip() or out.strip() or "it printed nothing").splitlines()
            raise Failure(f"{os.path.basename(command[0])}: status {child.returncode}: {lines[-1][:300]}")
        return out

    def entries(self, kind):
        return [entry for entry in self.manifest["entries"] if entry["kind"] == kind]

    # ---- parts -----------------------------------------------------------------------------------

    def part(self, name, share):
        """Runs self.NAME(end) and notes what became of it: a line that says it, and what is wrong."""
        if self.options.parts and name not in self.options.parts:
            return
        start, end = self.elapsed(), share * self.options.seconds
        self.say(f"{name}: until {end:.0f} s at most")
        found = {"state": "failed"}
        try:
            found["says"], found["wrong"] = getattr(self, name)(end)
            found["state"] = "FAILED" if found["wrong"] else "good"
        except Skipped as why:
            found.update(state="skipped", says=str(why))
        except Exception as error:  # the next part may do better
            found.update(state="FAILED", says=f"{type(error).__name__}: {error}"[:400])
        found["seconds"] = round(self.elapsed() - start, 1)
        self.results["parts"][name] = found
        self.say(f"{name}: {found['state']}: {found['says']}")
        for line in found.get("wrong", [])[:10]:
            self.say(f"  {line}")
        self.save()

    def each(self, entries, check, end, allows_late=False):
        """check(entry) for each, side by side: counts, and what is wrong. After `end` none is begun."""
        wrong, good, late = [], 0, 0

        def one(entry):
            name = f"{entry['name']} {entry['type']}{' loops' * entry.get('loops', False)}"
            if "failed" in entry:
                return None if entry.get("left_out") else [f"{name}: not built: {entry['failed']}"]
            if self.elapsed() > end:
                return None
            try:
                return [f"{name}: {text}" for text in check(entry)]
            except Late as late:
                return None if allows_late else [f"{name}: {late}"]
            except Failure as failure:
                return [f"{name}: {failure}"]
            except Exception as error:
                return [f"{name}: {type(error).__name__}: {error}"[:300]]

        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            for found in pool.map(one, entries):
                late += found is None
                good += found == []
                wrong += found or []
        return good, late, wrong

    # ---- the library's vectors -------------------------------------------------------------------

    def vectors(self, end):
        entries = self.entries("vectors")
        if not entries:
            raise Skipped("the bundle has none")
        compared = [0]
        good, late, wrong = self.each(entries, lambda entry: self.check_vectors(entry, compared), end)
        return f"{good} of {len(entries)} groups agree, {late} had no time; {compared[0]} tensors", wrong

    def check_vectors(self, entry, compared):
        expected = judge.TensorFile(self.path(entry["expected"]))
        steps = len(expected.values("=loss")) if "=loss" in expected else 1
        program, place, kind = self.path(entry["program"]), self.path(entry["place"]), entry["type"]
        out = self.call([program, "step", "--inputs", f"inputs.{kind}", "--init", f"start.{kind}",
                         "--steps", str(steps), "--seed", "7", "--quiet", "result"], 120, place)
        losses = [float(json.loads(line)["loss"]) for line in out.splitlines()[:steps]]
        predictions = {}
        if any(name[0] == ">" for name in expected.names()):
            with open(os.path.join(place, "input.csv"), "w") as file:
                file.write("0\n")
            predict = [program, "predict", "--init", "result", "--quiet", "input.csv"]
            predictions = json.loads(self.call(predict, 60, place))
        tolerance = judge.vector_tolerance(expected.metadata, kind, entry["own_type"])
        result = judge.TensorFile(os.path.join(place, "result"))
        count, wrong = judge.judge_vectors(expected, result, losses, predictions, tolerance)
        compared[0] += count
        return [f"{name} differs by {worst:.3g} (at most {tolerance:.3g})" for name, worst in wrong]

    # ---- contractions, convolutions, attention ---------------------------------------------------

    def checks(self, end):
        if judge.np is None:
            raise Skipped("it needs NumPy")
        entries = [entry for kind in judge.CHECKS for entry in self.entries(kind)]
        if not entries:
            raise Skipped("the bundle has none")
        self.results["errors"] = {}
        good, late, wrong = self.each(entries, self.check_small, end)
        return f"{good} of {len(entries)} modules are right, {late} had no time", wrong

    def check_small(self, entry):
        with tempfile.TemporaryDirectory(dir=self.folder) as work:
            inputs = os.path.join(work, "inputs")
            with open(inputs, "wb") as file:  # no tensors
                file.write(struct.pack("<Q", 2) + b"{}")
            result = os.path.join(work, "result")
            self.call([self.path(entry["program"]), "step", result, "--steps", "1", "--inputs", inputs, "--quiet"], 120)
            errors = judge.CHECKS[entry["kind"]](judge.TensorFile(result), entry)
        self.results["errors"][f"{entry['kind']} {entry['name']} {entry['type']}"] = errors
        limit = cases.TOLERANCE[entry["type"]] * (cases.ATTENTION_FACTOR if entry["kind"] == "attention" else 1)
        return [f"{entry['kind']}: {name} is off by {error:.3g} (at most {limit:.3g})"
                for name, error in errors.items() if not error <= limit]

    # ---- mnist -----------------------------------------------------------------------------------

    def mnist(self, end):
        """Trains here and on the processors, compares, and goes on from the other's checkpoint."""
        programs = {entry["target"]: entry for entry in self.entries("mnist")}
        for target in ("cuda", "c"):
            if "program" not in programs.get(target, {}):
                raise Skipped(f"not built for {target}: {programs.get(target, {}).get('failed', 'not in the bundle')}")
        work, tiny = self.path("mnist"), self.manifest["tiny"]
        os.makedirs(work)
        count = ["--train", "300", "--test", "50"] if tiny else []
        self.call([self.path("tools/nnc-digits"), work, *count], 120)
        train = lambda target, out, *words: self.call(
            [self.path(programs[target]["program"]), "train", "--data", ".", "--out", out, "--quiet", *words],
            end - self.elapsed(), work)
        log = lambda out: [json.loads(line) for line in open(os.path.join(work, out, "log.jsonl"))]
        file = lambda out: judge.TensorFile(os.path.join(work, out, "checkpoint.safetensors"))
        wrong, steps = [], (5, 8) if tiny else (50, 60)
        train("c", "start", "--epochs", "0")
        for target, out in (("cuda", "here"), ("cuda", "again"), ("c", "there")):
            train(target, out, "--steps", str(steps[0]))
        if bytes(file("here").data) != bytes(file("again").data):
            wrong.append("two runs on this GPU write different checkpoints")
        off, name = judge.distance(file("here"), file("there"), file("start"))
        losses = [log(out)[-1]["train/loss"] for out in ("here", "there")]
        if not off <= 0.02 or not abs(losses[0] - losses[1]) <= 1e-3 * abs(losses[1]):
            wrong.append(f"after {steps[0]} steps {name} is off by {off:.3g} of its way, "
                         f"loss {losses[0]} for {losses[1]}")
        ends = {}
        for from_ in ("here", "there"):
            for target in ("cuda", "c"):
                out = f"{from_}_{target}"
                shutil.copytree(os.path.join(work, from_), os.path.join(work, out))
                train(target, out, "--resume", "--steps", str(steps[1]))
                ends[out] = log(out)[-1]["train/loss"]
        if max(ends.values()) - min(ends.values()) > 1e-2 * abs(losses[1]):
            wrong.append(f"going on from each other's checkpoint gives these losses: {ends}")
        epochs = "1" if tiny else "5"
        final = {}
        for target in ("cuda", "c"):
            train(target, "whole_" + target, "--epochs", epochs)
            final[target] = log("whole_" + target)[-1]
        mine, theirs = (final[target]["test/accuracy"] for target in ("cuda", "c"))
        if mine < theirs - (0.1 if tiny else 0.005) or (not tiny and mine < 0.97):
            wrong.append(f"accuracy {mine} after {epochs} epochs, on the processors {theirs}")
        self.results["mnist"] = {"off": off, "losses": losses, "ends": ends, "final": final}
        return (f"accuracy {mine:.4f} in {final['cuda']['seconds']:.2f} s, on the processors {theirs:.4f} in "
                f"{final['c']['seconds']:.2f} s; after {steps[0]} steps {off:.2g} apart"), wrong

    # ---- the sanitizer ---------------------------------------------------------------------------

    def sanitizer(self, end):
        tool = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
        if not os.path.exists(tool):
            raise Skipped("there is no compute-sanitizer")
        programs = [entry for kind in ("mnist", "vectors") for entry in self.entries(kind)
                    if "program" in entry and entry.get("target") != "c"]
        if not programs:
            raise Skipped("the bundle has no program for it")
        jobs = [dict(entry, tool=name, type=f"{entry.get('type', '')} {name}".strip())
                for entry in programs for name in ("memcheck", "racecheck", "synccheck")]
        good, late, wrong = self.each(jobs, lambda entry: self.sanitize(tool, entry, end), end, True)
        return f"{good} of {len(jobs)} runs are clean, {late} had no time", wrong

    def sanitize(self, tool, entry, end):
        command = [tool, "--tool", entry["tool"], "--error-exitcode", "9", self.path(entry["program"])]
        if entry["kind"] == "mnist":
            words, place = ["bench", "--steps", "2", "--warmup", "0"], self.folder
        else:
            place = self.path(entry["place"])
            words = ["step", "--inputs", f"inputs.{entry['type'].split()[0]}", "--init",
                     f"start.{entry['type'].split()[0]}", "--steps", "1", "--quiet", f"result.{entry['tool']}"]
        self.call(command + words, min(60, end + 10 - self.elapsed()), place)
        return []

    # ---- training steps beside PyTorch -----------------------------------------------------------

    def begin_peers(self):
        """All that will be timed, in the order of its importance; they are built from now on."""
        self.rows = [dict(entry, peers={}) for entry in self.entries("model") if not entry.get("left_out")]
        if self.options.parts and not {"models", "contractions"} & set(self.options.parts):
            return
        if importlib.util.find_spec("torch") is None:
            return
        total = self.gpu_gigabytes()
        log = open(os.path.join(self.options.out, "peers.log"), "w")
        self.peers = Peers(total * 0.6 if total else None, self.options.peers, log)
        self.products = self.peers.add(["contractions"], 4)
        for row in self.rows:
            sizes = PEER_GIGABYTES.get(row["name"], (1, 1, 1))
            for mode, gigabytes in zip(MODES, sizes):
                if gigabytes and "program" in row:
                    words = ["model", row["file"], row["type"], mode, json.dumps(row["defines"])]
                    row["peers"][mode] = self.peers.add(words, gigabytes * (1 if row["type"] == "bf16" else 1.6))
        self.peers.start()

    def gpu_gigabytes(self):
        try:
            out = self.call(["nvidia-smi", "--query-gpu=memory.total", "--format=csv,noheader,nounits"], 30)
            return float(out.split()[0]) / 1024
        except (Failure, OSError, ValueError, IndexError):
            return None

    def models(self, end):
        waiting = list(self.rows)
        if not waiting:
            raise Skipped("the bundle has none")
        while waiting and self.elapsed() < end:
            row = self.next_row(waiting, end)
            if row is None:
                time.sleep(0.1)
                continue
            waiting.remove(row)
            self.time_row(row, end)
        for row in waiting:
            self.results["models"].append({"name": row["name"], "type": row["type"], "peers": {},
                                           "notes": {"all": "no time was left"}})
        timed = sum("ours" in row for row in self.results["models"])
        beside = sum("ours" in row and bool(row["peers"]) for row in self.results["models"])
        wrong = [f"{row['name']} {row['type']}: {row['notes']['ours']}" for row in self.results["models"]
                 if "ours" in row["notes"]]
        return f"{timed} of {len(self.rows)} timed, {beside} of them beside PyTorch", wrong

    def next_row(self, waiting, end):
        """The first whose peers are all built or given up; when the time grows short, the first that has one."""
        is_settled = lambda row: all(peer.state not in (WAITING, BUILDING) for peer in row["peers"].values())
        settled = next((row for row in waiting if is_settled(row)), None)
        if settled or end - self.elapsed() > self.options.row_seconds * len(waiting):
            return settled
        some = next((row for row in waiting if any(peer.state == READY for peer in row["peers"].values())), None)
        return some or (waiting[0] if end - self.elapsed() < self.options.row_seconds else None)

    def time_row(self, row, end):
        found = {"name": row["name"], "type": row["type"], "peers": {}, "notes": {}}
        if "instead_of" in row:
            found["notes"]["type"] = f"nnc has no {row['instead_of']} here yet"
        if self.peers:
            self.peers.pause()
        else:
            found["notes"]["PyTorch"] = "it is not installed"
        try:
            self.time_sides(row, found, end)
        except Failure as failure:
            found["notes"]["ours"] = str(failure)
        if self.peers:
            for peer in row["peers"].values():
                peer.end()
            self.peers.go_on()
        self.results["models"].append(found)
        said = [f"ours {found['ours']['median']:.3g}" if "ours" in found else "ours failed"]
        said += [f"{mode} {peer['median']:.3g}" for mode, peer in found["peers"].items()]
        self.say(f"  {row['name']} {row['type']}, ms: {', '.join(said)}")
        for side, why in found["notes"].items():
            self.say(f"    {side}: {why}")
        self.save()

    def bench(self, program, steps, timeout):
        out = self.call([program, "bench", "--ahead", "--all", "--warmup", "3", "--steps", str(steps)], timeout)
        return json.loads(out)

    def steps_for(self, ms):
        return max(3, min(5000, int(1e3 * self.options.round_seconds / max(ms, 1e-3))))

    def time_sides(self, row, found, end):
        """In turn, round after round: ours, then each that is ready."""
        if "failed" in row:
            raise Failure("not built: " + row["failed"])
        program = self.path(row["program"])
        left = lambda: min(60, end + OVERRUN - self.elapsed())
        first = self.bench(program, 3, left())
        steps = self.steps_for(min(first["all_ms"]))
        ready = {mode: peer for mode, peer in row["peers"].items() if peer.state == READY}
        for mode, peer in row["peers"].items():
            if mode not in ready:
                found["notes"][mode] = peer.reason or peer.state
        times = {side: [] for side in ("ours", *ready)}
        said = {}
        for _ in range(self.options.rounds):
            try:
                result = self.bench(program, steps, left())
            except Failure as failure:  # what was measured before counts
                found["notes"]["ours"] = str(failure)
                break
            times["ours"] += result["all_ms"]
            for mode, peer in ready.items():
                reply = peer.ask({"steps": self.steps_for(peer.first["ms"])}, left())
                if reply:
                    times[mode] += reply["ms"]
                    said[mode] = reply
            if self.elapsed() > end:
                break
        for side, ms in times.items():
            if ms:
                measured = {"least": min(ms), "median": statistics.median(ms)}
                if side == "ours":
                    found["ours"] = dict(measured, bytes=result["arena_bytes"], product_gflop=result["product_gflop"])
                else:
                    more = {key: said[side][key] for key in ("allocated", "reserved") if key in said[side]}
                    found["peers"][side] = dict(measured, layout=ready[side].first["layout"], **more)
            else:
                found["notes"].setdefault(side, "gave no answer")

    # ---- contractions beside cuBLAS --------------------------------------------------------------

    def contractions(self, end):
        entries = [entry for entry in self.entries("contraction") if not entry.get("left_out")]
        if not entries:
            raise Skipped("the bundle has none")
        order = sorted(entries, key=lambda entry: cases.TYPES.index(entry["type"]))
        if self.peers:
            self.peers.pause()
        done = 0
        for entry in order:
            if self.elapsed() > end:
                break
            self.results["contractions"].append(self.time_contraction(entry))
            done += 1
            self.save()
        share = report.geometric_mean(report.shares(self.results))
        beside = f"{share:.3g} of cuBLAS in geometric mean" if share else "not beside cuBLAS"
        wrong = [f"{row['name']} {row['type']}: {row['note']}" for row in self.results["contractions"]
                 if row.get("note")]
        return f"{done} of {len(order)}, {beside}", wrong

    def time_contraction(self, entry):
        """Milliseconds of one product, the median of all groups of steps."""
        row = {key: entry.get(key) for key in ("name", "whose", "type", "sizes", "repeats")}
        ours, theirs = [], []
        try:
            if "failed" in entry:
                raise Failure("not built: " + entry["failed"])
            program, steps = self.path(entry["program"]), 3
            for number in range(1 + self.options.rounds):
                ms = self.bench(program, steps, 40)["all_ms"]
                if number == 0:
                    steps = max(3, int(self.steps_for(min(ms)) / 4))
                    continue
                ours += ms
                if self.peers:
                    request = {"sizes": entry["sizes"], "type": entry["type"], "repeats": entry["repeats"],
                               "seconds": self.options.round_seconds / 4}
                    theirs += (self.products.ask(request, 40) or {}).get("ms", [])
        except Failure as failure:
            row["note"] = str(failure)
        for side, ms in (("ours", ours), ("theirs", theirs)):
            if ms:
                row[side] = statistics.median(ms) / entry["repeats"]
        said = ", ".join(f"{side} {row[side]:.4g}" for side in ("ours", "theirs") if side in row)
        self.say(f"  {row['name']} {row['type']}, ms: {said or row.get('note', 'nothing')}")
        return row

    # ---- where the time goes ---------------------------------------------------------------------

    def profiles(self, end):
        """What `profile` says of each model, into profiles.json: what to make faster next."""
        found = {}
        for entry in self.entries("model"):
            if "program" not in entry or self.elapsed() > end:
                continue
            try:
                words = ["profile", "--json", "--all", "--steps", "6", "--warmup", "2"]
                out = self.call([self.path(entry["program"]), *words], min(40, end + 10 - self.elapsed()))
            except Failure as failure:
                found[f"{entry['name']} {entry['type']}"] = str(failure)
                continue
            result = json.loads(out)
            result["instances"] = result["instances"][:60]
            found[f"{entry['name']} {entry['type']}"] = result
        with open(os.path.join(self.options.out, "profiles.json"), "w") as file:
            json.dump(found, file)
        wrong = [f"{name}: {what}" for name, what in found.items() if isinstance(what, str)]
        return f"{len(found) - len(wrong)} models, in profiles.json", wrong

    # ---- all -------------------------------------------------------------------------------------

    def describe(self):
        with open(self.path("manifest.json")) as file:
            self.manifest = json.load(file)
        for key in ("revision", "arch", "lacking", "compile_seconds"):
            if key in self.manifest:
                self.results[key] = self.manifest[key]
        if self.manifest["emulator"] or self.manifest["tiny"]:
            self.results["rehearsal"] = "tiny sizes, or no GPU: the numbers mean nothing"
        self.results["python"] = platform.python_version()
        try:
            out = self.call(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], 30)
            self.results["device"], self.results["driver"] = (word.strip() for word in out.splitlines()[0].split(","))
        except (Failure, OSError, ValueError, IndexError) as error:
            self.say(f"nvidia-smi: {error}")
        program = next((entry["program"] for entry in self.manifest["entries"]
                        if "program" in entry and entry.get("target") != "c"), None)
        if program:
            info = json.loads(self.call([self.path(program), "info", "--json"], 60))
            self.results.setdefault("device", info.get("device"))
            self.say(info.get("device_text", "no device"))
            if "device_text" in info and info["device"] is None:
                raise Failure(info["device_text"])

    def run(self):
        with tarfile.open(os.path.join(self.options.bundle, "bundle.tar.xz")) as archive:
            archive.extractall(self.folder)
        self.describe()
        self.save()
        self.begin_peers()
        watch = threading.Timer(max(0, self.options.seconds + OVERRUN - self.elapsed()), self.close)
        watch.daemon = True
        watch.start()  # what hangs then is ended, and the report written
        for name, share in PARTS:
            self.part(name, share)
        if self.peers:
            first = next((peer.first for peer in self.peers.all if peer.first and "torch" in peer.first), {})
            self.results["torch"] = first.get("torch")
        picture = report.plot(self.results, self.options.out, self.options.svg)
        self.save()
        self.say(f"{picture or 'no plot'}; results.md and results.json in {self.options.out}")

    def close(self):
        if self.peers:
            self.peers.close()
        for child in list(self.children):
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bundle", metavar="DIR")
    parser.add_argument("out", metavar="OUT")
    parser.add_argument("--seconds", type=float, default=560, help="for all parts together")
    parser.add_argument("--parts", type=lambda text: text.split(","), help=",".join(name for name, _ in PARTS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--round-seconds", type=float, default=0.5, help="of each side in a round")
    parser.add_argument("--row-seconds", type=float, default=14, help="of a row, as the waiting for PyTorch plans")
    parser.add_argument("--jobs", type=int, default=4, help="checks side by side")
    parser.add_argument("--peers", type=int, default=PEERS_BUILT_AT_ONCE, help="of PyTorch, built side by side")
    parser.add_argument("--svg", action="store_true", help="draw the plot without matplotlib")
    options = parser.parse_args()
    known = [name for name, _ in PARTS]
    if set(options.parts or []) - set(known):
        parser.error(f"the parts are {', '.join(known)}")
    options.out = os.path.abspath(options.out)
    return options


def stop(number, _):
    raise SystemExit(128 + number)


def main():
    options = parse_options()
    signal.signal(signal.SIGTERM, stop)
    os.makedirs(options.out, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        run = Run(options, folder)
        try:
            run.run()
        except Failure as failure:
            sys.exit(f"gpu.py: {failure}")
        finally:
            run.close()
    print(open(os.path.join(options.out, "results.md")).read())
    sys.exit(any(part["state"] == "FAILED" for part in run.results["parts"].values()))


if __name__ == "__main__":
    main()
