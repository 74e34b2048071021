#!/usr/bin/env python3
"""Times every step of an entry of an emitted C file on one thread: the least of many repetitions, each
with the caches as the step before left them.

    nnc model.net --emit=c -o model.c
    bench/kernels/steps.py model.c [--entry train] [--repeat 60] [--cc clang] [--arch native]

The network computes on whatever is in the arena (small random numbers): times, not results."""
import argparse, os, re, subprocess, tempfile

MAIN = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <sys/mman.h>
void nnc_barrier(nnc_worker *worker) { (void)worker; }
void nnc_mark_now(nnc_worker *worker, int number) { (void)worker, (void)number; }
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static double least[STEP_COUNT + 1];
static const char *const names[] = {NAMES 0};
static void timed(nnc_worker *worker) {
  char *const arena = worker->arena;
  double start;
BODY
}
int main(void) {
  const size_t huge = 2 << 20;
  size_t bytes = ((size_t)nnc_the_model.arena_bytes + huge - 1) / huge * huge;
  size_t scratch = ((size_t)nnc_the_model.worker_bytes + huge) / huge * huge;
  char *arena = aligned_alloc(huge, bytes);
  madvise(arena, bytes, MADV_HUGEPAGE);
  for (size_t i = 0; i < bytes / 4; i++) ((float *)arena)[i] = (float)(rand() % 2000 - 1000) * 1e-4f;
  double scalars[64];
  for (int i = 0; i < 64; i++) scalars[i] = 1e-3;
  nnc_worker worker = {.index = 0, .count = 1, .arena = arena, .scratch = aligned_alloc(huge, scratch),
                       .scalars = scalars, .seed = 1, .step = 1};
  for (int i = 0; i < STEP_COUNT; i++) least[i] = 1e30;
  for (int i = 0; i < REPEAT; i++) timed(&worker);
  double total = 0;
  for (int i = 0; i < STEP_COUNT; i++) total += least[i];
  for (int i = 0; i < STEP_COUNT; i++)
    printf("%9.1f us %5.1f %%  %s\n", least[i] * 1e6, 100 * least[i] / total, names[i]);
  printf("%9.1f us          sum, one thread\n", total * 1e6);
  return 0;
}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--entry", default="train")
    parser.add_argument("--repeat", type=int, default=60)
    parser.add_argument("--cc", default="clang")
    parser.add_argument("--arch", default="native")
    parser.add_argument("--include", default=os.path.join(os.path.dirname(__file__), "../../runtime"))
    arguments = parser.parse_args()
    text = open(arguments.file).read()
    body = re.search(r"static void %s_run\(nnc_worker \*worker\)\n\{\n(.*?)\n\}\n" % arguments.entry, text, re.S).group(1)
    calls = re.findall(r"^  ((?:net_|nnc_copy).*?\);)", body, re.S | re.M)
    timed = ""
    for number, call in enumerate(calls):
        timed += "  start = now(); %s\n  start = now() - start;\n" % call
        timed += "  if (start < least[%d]) least[%d] = start;\n" % (number, number)
    names = "".join('"%s", ' % re.match(r"\w+", call).group(0) for call in calls)
    text = re.sub(r'#include "nnc_data.h"', "", text)
    text = re.sub(r"&nnc_(source|stage)_\w+", "NULL", text)
    program = text + MAIN.replace("STEP_COUNT", str(len(calls))).replace("NAMES", names) \
        .replace("BODY", timed).replace("REPEAT", str(arguments.repeat))
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "steps.c")
        open(source, "w").write(program)
        subprocess.check_call([arguments.cc, "-std=gnu11", "-O3", "-march=" + arguments.arch, "-fno-math-errno",
                               "-fno-trapping-math", "-I", arguments.include, source, "-o", folder + "/steps", "-lm"])
        subprocess.check_call([folder + "/steps"])


main()
