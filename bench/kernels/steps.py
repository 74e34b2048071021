#!/usr/bin/env python3
"""Times every step of an entry of an emitted C file on one thread: the least of many repetitions, each
with the caches as the step before left them. Contractions also in GFLOP/s and as a share of the fastest
multiply-adds that the run saw.

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
static const double flop[] = {FLOP 0};
static double peak(void) {
  enum { CHAINS = NNC_PICK(24, 12, 12), STEPS = 20000 };
  nnc_vec_f32 sum[CHAINS], x = nnc_splat_f32(1.000001f), y = nnc_splat_f32(1e-7f);
  for (int i = 0; i < CHAINS; i++) sum[i] = nnc_splat_f32((float)i);
  double best = 1e30;
  for (int repeat = 0; repeat < 100; repeat++) {
    const double start = now();
    for (int i = 0; i < STEPS; i++)
      NNC_UNROLL for (int c = 0; c < CHAINS; c++) sum[c] = sum[c] * x + y;
    best = fmin(best, now() - start);
  }
  volatile float sink = 0;
  for (int i = 0; i < CHAINS; i++) sink += sum[i][0];
  return 2.0 * CHAINS * NNC_LANES_f32 * STEPS / best;
}
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
  const double most = peak();
  for (int i = 0; i < STEP_COUNT; i++) {
    printf("%9.1f us %5.1f %%  ", least[i] * 1e6, 100 * least[i] / total);
    if (flop[i] > 0) printf("%6.1f GFLOP/s %3.0f %%  ", flop[i] / least[i] * 1e-9, 100 * flop[i] / least[i] / most);
    printf("%s\n", names[i]);
  }
  printf("%9.1f us          sum, one thread\n", total * 1e6);
  return 0;
}
"""


def flop_of(text):
    """Name of each contraction: its flop and its extents."""
    found = {}
    for name, body in re.findall(r"^NNC_KERNEL void (net_\w+)\(.*?\)\n\{\n(.*?)^\}", text, re.S | re.M):
        extents = re.search(r"enum \{ M = (\d+), N = (\d+), K = (\d+)", body)
        tasks = re.search(r"M_BLOCKS = (\d+), N_BLOCKS = (\d+), TASKS = (\d+)", body)
        if not extents or not tasks: continue
        m, n, k = map(int, extents.groups())
        row_blocks, column_blocks, all_tasks = map(int, tasks.groups())
        batch = all_tasks // (row_blocks * column_blocks)
        found[name] = 2.0 * batch * m * n * k, "  %s%d x %d x %d" % ("%d of " % batch if batch > 1 else "", m, k, n)
    return found


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
    kernels = [re.match(r"\w+", call).group(0) for call in calls]
    work = flop_of(text)
    names = "".join('"%s%s", ' % (kernel, work.get(kernel, (0, ""))[1]) for kernel in kernels)
    flop = "".join("%r, " % work.get(kernel, (0, ""))[0] for kernel in kernels)
    text = re.sub(r'#include "nnc_data.h"', "", text)
    text = re.sub(r"&nnc_(source|stage)_\w+", "NULL", text)
    program = text + MAIN.replace("STEP_COUNT", str(len(calls))).replace("NAMES", names).replace("FLOP ", flop) \
        .replace("BODY", timed).replace("REPEAT", str(arguments.repeat))
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "steps.c")
        open(source, "w").write(program)
        subprocess.check_call([arguments.cc, "-std=gnu11", "-O3", "-march=" + arguments.arch, "-fno-math-errno",
                               "-fno-trapping-math", "-I", arguments.include, source, "-o", folder + "/steps", "-lm"])
        subprocess.check_call([folder + "/steps"])


main()
