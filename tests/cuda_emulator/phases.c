/* A phase ends when as many threads have arrived as the barrier counts, and no byte is missing that
 * was expected. Who waits for a parity goes on when the phase under way has the other one. What
 * they are is kept here; in the block's memory they are addresses alone. */
#include "phases.h"

#include "execute.h"
#include "fault.h"

#include <stdbool.h>
#include <stddef.h>

enum { MOST = 64, BYTES = 8, MOST_MISSING = (1 << 20) - 1 };

typedef struct Phase {
  const void *at;
  int count, left; /* threads in each phase; that have not arrived */
  int64_t missing; /* bytes */
  uint32_t number; /* of the phase under way */
  bool is_known;   /* to the machine's own means */
} Phase;

static Phase phases[MOST];
static int phase_count;

void phases_begin_block(void) { phase_count = 0; }

static Phase *find(const void *at) {
  for (int i = 0; i < phase_count; i++)
    if (phases[i].at == at) return &phases[i];
  return NULL;
}

static Phase *need(const void *at, const char *file, int line) {
  Phase *phase = find(at);
  if (!phase) fault("a barrier of phases is used that was not begun (%s:%d)", file, line);
  return phase;
}

static void begin(const void *at, int64_t count, const char *file, int line) {
  if ((uintptr_t)at % BYTES || !function_owns(execute_function(), at, BYTES))
    fault("a barrier of phases is not in memory of the block (%s:%d)", file, line);
  if (count < 1 || find(at) || phase_count == MOST)
    fault("a barrier of phases is begun twice, or wrong (%s:%d)", file, line);
  phases[phase_count++] = (Phase){.at = at, .count = (int)count, .left = (int)count};
}

static void end_if_done(Phase *phase) {
  if (phase->left > 0 || phase->missing > 0) return;
  phase->left = phase->count, phase->number++;
  execute_wake_all();
}

static void arrive(Phase *phase, int64_t bytes, const char *file, int line) {
  if (phase->left == 0) fault("more threads arrive than a barrier counts (%s:%d)", file, line);
  phase->missing += bytes, phase->left--;
  if (phase->missing > MOST_MISSING) fault("a barrier counts no such bytes (%s:%d)", file, line);
  end_if_done(phase);
}

static void wait_for(Phase *phase, uint32_t parity, const char *file, int line) {
  while ((phase->number & 1) == (parity & 1)) execute_sleep(file, line);
}

void phases_check(const void *barrier, const char *file, int line) {
  if (!need(barrier, file, line)->is_known)
    fault("a box uses a barrier before it was made known (%s:%d)", file, line);
}

void phases_receive(const void *barrier, int bytes, const char *file, int line) {
  Phase *phase = need(barrier, file, line);
  phase->missing -= bytes;
  if (phase->missing < 0)
    fault("%lld bytes arrive that the barrier does not expect (%s:%d)", (long long)-phase->missing,
          file, line);
  end_if_done(phase);
}

void phases_do(int what, void *barrier, int64_t value, const char *file, int line) {
  if (what == NNC_PHASE_BEGIN) begin(barrier, value, file, line);
  else if (what == NNC_PHASE_BEGUN)
    for (int i = 0; i < phase_count; i++) phases[i].is_known = true;
  else if (what == NNC_PHASE_WAIT) wait_for(need(barrier, file, line), (uint32_t)value, file, line);
  else arrive(need(barrier, file, line), value, file, line);
}
