/* Starting threads: a new one inherits the mask of signals of the thread that starts it. */
#include "os/thread.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "os/message.h"

static int start_masked(pthread_t *thread, const pthread_attr_t *attributes,
                        void *(*run)(void *argument), void *argument) {
  sigset_t all, before;
  sigfillset(&all);
  int error = pthread_sigmask(SIG_SETMASK, &all, &before);
  if (error) return error;
  error = pthread_create(thread, attributes, run, argument);
  errno = pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!errno) return error;
  nnc_error_system("restore", "the mask of signals");
  abort();
}

int nnc_thread_start(pthread_t *thread, int processor, void *(*run)(void *argument),
                     void *argument) {
  pthread_attr_t attributes;
  int error = pthread_attr_init(&attributes);
  if (error) return error;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (processor >= 0) CPU_SET(processor, &set);
  if (processor >= 0) error = pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
  if (!error) error = start_masked(thread, &attributes, run, argument);
  pthread_attr_destroy(&attributes);
  return error;
}

int nnc_thread_processor(void) { return sched_getcpu(); }

void nnc_thread_go(int processor) {
  cpu_set_t before, there;
  CPU_ZERO(&there);
  CPU_SET(processor, &there);
  if (sched_getaffinity(0, sizeof before, &before) != 0) return;
  if (sched_setaffinity(0, sizeof there, &there) == 0) sched_setaffinity(0, sizeof before, &before);
}

void nnc_thread_yield(void) { sched_yield(); }

int64_t nnc_thread_stops(void) {
  struct rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nivcsw : 0;
}
