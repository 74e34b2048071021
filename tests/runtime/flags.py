"""Compares the table of flags in docs/executable.md with what `PROGRAM COMMAND --help` lists.  Usage: flags.py PROGRAM PAGE

Rows of "all" and of programs for CUDA alone are left out.
"""
import re
import subprocess
import sys

program, page = sys.argv[1:]


def help_of(*command):
    return subprocess.run([program, *command, "--help"], capture_output=True, text=True, check=True).stdout


commands = re.findall(r"^  ([a-z]+) +[A-Z]", help_of().split("\nCommands")[1], re.M) + ["generate"]
has, told = {}, {}
for command in commands:
    for flag in re.findall(r"^  (?:-., |    )--([a-z-]+)", help_of(command).split("\nOptions of")[0], re.M):
        has.setdefault(flag, set()).add(command)
table = open(page).read().split("\n## Flags\n")[1].split("\n## ")[0]
for flags, who in re.findall(r"^\| (`-.*?`) \| (.*?) \| ", table, re.M):
    for flag in re.findall(r"--([a-z-]+)", flags):
        if who == "all" or "such programs" in who or "--target=cuda" in who:
            has.pop(flag, None)
        else:
            told.setdefault(flag, set()).update(re.findall("[a-z]+", who))
differences = [f"--{flag}: {sorted(has.get(flag, ()))} have it, the page says {sorted(told.get(flag, ()))}"
               for flag in sorted(has | told) if has.get(flag) != told.get(flag)]
print("\n".join(differences))
sys.exit(bool(differences) or len(told) < 40)
