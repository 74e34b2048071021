/* Threads of this process. */
#ifndef NNC_THREAD_H
#define NNC_THREAD_H

#include <pthread.h>
#include <stdint.h>

/* Starts a thread that takes no signals: they are for the main thread. `processor`: it stays on that
 * one; -1: it may move. 0, or an error number. */
int nnc_thread_start(pthread_t *thread, int processor, void *(*run)(void *argument),
                     void *argument);

/* Where the calling thread runs just now. */
int nnc_thread_processor(void);

/* Moves the calling thread to a processor; it may leave again. Nothing happens where that is not allowed. */
void nnc_thread_go(int processor);

/* Gives the processor to another thread or process that waits for it. */
void nnc_thread_yield(void);

/* How often the scheduler has taken a processor from a thread of this process that would have gone on, or that gave it
 * up to another. */
int64_t nnc_thread_stops(void);

#endif
