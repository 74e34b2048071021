"""What the parts of this suite share: commands under limits, run side by side, and verdicts."""
import os
import random
import resource
import subprocess
from concurrent.futures import ThreadPoolExecutor

GIGABYTE = 1 << 30


class Outcome:
    """How a command ended: `status` (negative: a signal; None: too late) and what it printed."""

    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err


def run(command, seconds=20, memory=4 * GIGABYTE, folder=None, text=b"", environment=None):
    """Runs a command with a limit of processor time and of address space; the clock ends what hangs."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               cwd=folder, env=environment, preexec_fn=limit, start_new_session=True)
    try:
        out, err = process.communicate(text, timeout=seconds * 4 + 20)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.communicate()
        return Outcome(None, b"", b"")
    return Outcome(process.returncode, out, err)


def complaint(outcome, good=(0, 1)):
    """None, or what is wrong with how a command ended whatever it was given."""
    if outcome.status is None:
        return "hangs"
    if outcome.status < 0:
        return "dies of signal %d" % -outcome.status
    for word in (b"internal error", b"Sanitizer", b"runtime error", b"assertion"):
        if word in outcome.err:
            return "says " + word.decode()
    if outcome.status not in good:
        return "ends with status %d" % outcome.status
    if outcome.status == 1 and b"error" not in outcome.err:
        return "fails without a message"
    return None


class Tally:
    """Counts verdicts, prints the first findings whole and keeps their files."""

    def __init__(self, what, kept):
        self.what, self.kept, self.passed, self.failed, self.notes = what, kept, 0, 0, {}

    def add(self, name, problem, outcome=None, files=()):
        if not problem:
            self.passed += 1
            return
        self.failed += 1
        print("FAIL %s %s: %s" % (self.what, name, problem))
        if outcome and self.failed <= 20:
            print("  " + outcome.err[-600:].decode("utf-8", "replace").replace("\n", "\n  "))
        for path, content in files:
            os.makedirs(self.kept, exist_ok=True)
            with open(os.path.join(self.kept, "%s-%s" % (name, os.path.basename(path))), "wb") as file:
                file.write(content)

    def note(self, what):
        self.notes[what] = self.notes.get(what, 0) + 1

    def report(self):
        notes = ", ".join("%d %s" % (count, what) for what, count in sorted(self.notes.items()))
        print("%s: %d passed, %d failed%s" % (self.what, self.passed, self.failed, ": " + notes if notes else ""))


def side_by_side(jobs, count, task):
    """task(0) ... task(count - 1), `jobs` at a time."""
    with ThreadPoolExecutor(jobs) as pool:
        for _ in pool.map(task, range(count)):
            pass


def generator(*key):
    return random.Random(" ".join(str(part) for part in key))
