/* A copy may be done at any time between its begin and the wait for its group.
 *
 * NNC_EMULATOR_COPIES  issue: when it begins, or wait (the default): when it is waited for. Until
 * then
 *                      its place holds bytes 0xff, which are NaN, so that neither what was there
 *                      before nor what will be there can be read by mistake.
 *
 * What is never waited for never arrives. */
#include "copies.h"

#include "execute.h"
#include "fault.h"
#include "memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 1024, MOST_COPIES = 512, BYTES = 16 };

typedef struct Copy {
  char *to;
  const char *from;
  int bytes, group;
} Copy;

typedef struct Queue {
  Copy copies[MOST_COPIES]; /* in their order, from `first`, around the end */
  int first, count;
  int group; /* the number of the one that is not closed */
} Queue;

static Queue queues[MOST_THREADS];

static Queue *own_queue(void) { return &queues[execute_machine()->thread]; }

bool copies_at_once(void) {
  static bool is_known, is_at_once;
  if (is_known) return is_at_once;
  const char *text = getenv("NNC_EMULATOR_COPIES");
  if (text && *text && strcmp(text, "wait") && strcmp(text, "issue"))
    fault("NNC_EMULATOR_COPIES is issue or wait, not %s", text);
  is_known = true, is_at_once = text && !strcmp(text, "issue");
  return is_at_once;
}

void copies_begin_block(void) {
  for (int i = 0; i < MOST_THREADS; i++) queues[i].first = queues[i].count = queues[i].group = 0;
}

static void copy_now(const Copy *copy) {
  memset(copy->to, 0, BYTES);
  if (copy->bytes > 0) memcpy(copy->to, copy->from, (size_t)copy->bytes);
}

static void check(const Copy *copy, const char *file, int line) {
  if ((uintptr_t)copy->to % BYTES || (uintptr_t)copy->from % BYTES)
    fault("a copy from %p to %p: an address is not a multiple of 16 (%s:%d)",
          (const void *)copy->from, (void *)copy->to, file, line);
  if (copy->bytes < 0 || copy->bytes > BYTES)
    fault("a copy reads %d bytes of 16 (%s:%d)", copy->bytes, file, line);
  if (!function_owns(execute_function(), copy->to, BYTES))
    fault("a copy is not to memory of the block (%s:%d)", file, line);
  if (copy->bytes > 0 && !memory_has(copy->from, (size_t)copy->bytes, MEMORY_DEVICE))
    fault("a copy is not from memory of the device (%s:%d)", file, line);
}

void copies_begin(void *to, const void *from, int bytes, const char *file, int line) {
  Queue *queue = own_queue();
  Copy copy = {to, from, bytes, queue->group};
  check(&copy, file, line);
  if (copies_at_once()) {
    copy_now(&copy);
    return;
  }
  if (queue->count == MOST_COPIES) fault("%d copies wait (%s:%d)", MOST_COPIES, file, line);
  memset(to, 0xff, BYTES);
  queue->copies[(queue->first + queue->count++) % MOST_COPIES] = copy;
}

void copies_group(void) { own_queue()->group++; }

void copies_wait(int left) {
  Queue *queue = own_queue();
  while (queue->count > 0 && queue->copies[queue->first].group < queue->group - left) {
    copy_now(&queue->copies[queue->first]);
    queue->first = (queue->first + 1) % MOST_COPIES, queue->count--;
  }
}
