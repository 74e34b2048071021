"""Runs the three parts; see run.sh for the flags."""
import argparse
import os
import sys

sys.dont_write_bytecode = True
from files import Files  # noqa: E402 (before it, no folder of compiled modules is wanted)
from limits import Tally  # noqa: E402
from injections import Injections  # noqa: E402
from programs import Programs  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("work")
    parser.add_argument("--programs", type=int, default=80)
    parser.add_argument("--compiled", type=float, default=0.25)
    parser.add_argument("--files", type=int, default=60)
    parser.add_argument("--no-injections", action="store_true")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--kept")
    options = parser.parse_args()
    kept = options.kept or options.build + "/mutants-findings"
    programs, files, injections = (Tally(what, kept) for what in ("programs", "files", "injections"))
    work = {name: os.path.join(options.work, name) for name in ("programs", "files", "injections")}
    for path in work.values():
        os.makedirs(path)
    if options.programs > 0:
        Programs(options.build, work["programs"], programs, options.seed, options.compiled).run(options.programs, options.jobs)
        programs.report()
    if options.files > 0:
        damaged = Files(options.build, work["files"], files, options.seed)
        damaged.prepare(options.work + "/make_jpeg")
        damaged.run(options.files, options.jobs)
        files.report()
    if not options.no_injections:
        Injections(options.build, work["injections"], injections).run(options.jobs)
        injections.report()
    tallies = (programs, files, injections)
    passed, failed = sum(t.passed for t in tallies), sum(t.failed for t in tallies)
    print("%d passed, %d failed" % (passed, failed))
    return failed > 0 or passed == 0


sys.exit(main())
