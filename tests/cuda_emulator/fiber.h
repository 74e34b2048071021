/* Stacks and switches between them, for the threads of a block. */
#ifndef FIBER_H
#define FIBER_H

#include <stdbool.h>

enum { MOST_FIBERS = 1024 };

typedef struct Fiber {
  void *context;
} Fiber;

/* Makes `fiber` begin in `run`, which must not return, on stack number `stack` when it is first
 * switched to. */
void fiber_begin(Fiber *fiber, int stack, void (*run)(void));
void fiber_switch(Fiber *from, Fiber *to);
/* Whether the address is on a stack; or in the page below one, which nothing may touch. */
bool fiber_owns(const void *address);
bool fiber_guards(const void *address);

#endif
