/* Runs kernels: the blocks of a launch one after the other, the threads of a block as fibers. */
#ifndef EXECUTE_H
#define EXECUTE_H

#include "module.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Launch {
  const Function *function;
  int64_t blocks;
  int threads;
  int shared; /* bytes that are asked for */
  void **arguments;
} Launch;

/* The place of an access in time: two accesses of one launch are in order if they are of one
 * thread, or of one block with a barrier between them, or of one warp with a barrier of the warp
 * between them. */
typedef struct Moment {
  int64_t block;
  int thread;
  uint32_t barriers, warp_barriers; /* how many came before */
} Moment;

void execute_launch(const Launch *launch);
nnc_emulated_machine *execute_machine(void);
bool execute_is_running(void);
/* "kernel NAME, block B, thread T: ", or nothing. */
void execute_describe(char *to, size_t size);
Moment execute_moment(void);
/* When all lanes of the warp have come with the same function and word, it is called once, with what
 * each has brought; then they go on. */
typedef void Together(void *const *arguments, int word);
void execute_together(Together *together, void *argument, int word, const char *file, int line);
const Function *execute_function(void);
/* The thread goes on after others have called execute_wake_all. */
void execute_sleep(const char *file, int line);
void execute_wake_all(void);

#endif
