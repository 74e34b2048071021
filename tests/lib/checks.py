"""Checks of a test written in Python: counted, and told when they fail; check.sh is the same for shell scripts."""
import pathlib
import re
import subprocess
import sys

passed = failed = 0


def check(name, good, detail=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"FAIL {name}{': ' if str(detail) else ''}{str(detail)[:1500]}")
    return bool(good)


def run(*words):
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)


def expect(name, status, pattern, *words):
    child = run(*words)
    text = child.stdout + child.stderr
    return check(name, child.returncode == status and re.search(pattern, text), f"{child.returncode}: {text}")


def answer(*words):
    """The status, what it printed, and its messages."""
    done = run(*words)
    return done.returncode, done.stdout, done.stderr.strip()


def write(name, content):
    pathlib.Path(name).write_bytes(content)


def compiled(nnc, name, text):
    """Whether the text compiles, as `name`; that is a check, too."""
    write(f"{name}.net", text.encode())
    status, _, message = answer(nnc, f"{name}.net", "--cflags=-O0", "--units=1", "-o", name)
    return check(f"{name}.net compiles", status == 0, message)


def refused(nnc, top, line, pattern):
    """`nnc check` refuses `data train { line }` after the text `top`, with a place and a message that has the pattern."""
    write("refused.net", f"{top}data train {{ {line} }}\n".encode())
    child = run(nnc, "check", "refused.net")
    return check(f"{line}: {pattern}", child.returncode == 1 and pattern in child.stderr and "^" in child.stderr, child.stderr)


def summary():
    """Prints the counts; ends with status 1 when one failed, or none was made."""
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0 or passed == 0)
