/* Threads of this process. */
#ifndef NNC_THREAD_H
#define NNC_THREAD_H

#include <pthread.h>

/* Starts a thread that takes no signals: they are for the main thread. `processor`: it stays on that
 * one; -1: it may move. 0, or an error number. */
int nnc_thread_start(pthread_t *thread, int processor, void *(*run)(void *argument),
                     void *argument);

/* Where the calling thread runs just now. */
int nnc_thread_processor(void);

/* Moves the calling thread to a processor; it may leave again. Nothing happens where that is not allowed. */
void nnc_thread_go(int processor);

#endif
