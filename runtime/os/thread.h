/* Threads of this process. */
#ifndef NNC_THREAD_H
#define NNC_THREAD_H

#include <pthread.h>

/* Starts a thread that takes no signals: they are for the main thread. `processor`: it stays on that
 * one; -1: it may move. 0, or an error number. */
int nnc_thread_start(pthread_t *thread, int processor, void *(*run)(void *argument),
                     void *argument);

#endif
