/* Copies of this program that run a function of their own, side by side. */
#ifndef NNC_PROCESS_H
#define NNC_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct nnc_process {
  int id;       /* 0: none runs */
  int messages; /* where its messages, what it writes to stderr, are read; -1: none */
} nnc_process;

/* Starts a copy that ends with the status that `run` gives. It reads nothing, what it prints is dropped, a terminal's
 * interrupts do not reach it, and it is interrupted when this program ends. False after a message. */
bool nnc_process_start(nnc_process *process, int (*run)(void *context), void *context);

/* Waits until one of the processes has something to say, ends, or `seconds` have passed. */
void nnc_process_poll(int count, const nnc_process *const *processes, double seconds);

/* Bytes of its messages that are there now; 0: none; -1: it has closed them, which it does when it ends. */
int nnc_process_read(nnc_process *process, char *bytes, int most);

/* As SIGTERM does. */
void nnc_process_interrupt(const nnc_process *process);

/* Waits for its end: its status, or 128 and the number of the signal that ended it. */
int nnc_process_finish(nnc_process *process);

#endif
