/* Signals: an address outside of all memory (guard pages, memory.c), a trap of the compiler's
 * checks. What is no kernel's doing goes to whoever handled it before. */
#include "fault.h"

#include "execute.h"
#include "fiber.h"
#include "memory.h"
#include "module.h"

#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

_Noreturn void fault(const char *format, ...) {
  char where[512] = "", what[2048];
  va_list list;
  va_start(list, format);
  vsnprintf(what, sizeof what, format, list);
  va_end(list);
  execute_describe(where, sizeof where);
  fflush(stdout);
  fprintf(stderr, "nnc emulator: %s%s\n", where, what);
  fflush(stderr);
  _exit(FAULT_STATUS);
}

static struct sigaction earlier[65];

static const void *code_of(const ucontext_t *context) {
#if defined __x86_64__
  return (const void *)context->uc_mcontext.gregs[REG_RIP];
#elif defined __aarch64__
  return (const void *)context->uc_mcontext.pc;
#else
  return NULL;
#endif
}

static void describe_address(char *to, size_t size, const void *address) {
  if (fiber_guards(address)) snprintf(to, size, "the stack of a thread is too small");
  else memory_describe(to, size, address);
}

static void on_signal(int number, siginfo_t *info, void *context) {
  char what[1024] = "", place[512] = "";
  if (execute_is_running()) {
    module_locate(place, sizeof place, code_of(context));
    if (number == SIGSEGV || number == SIGBUS) {
      describe_address(what, sizeof what, info->si_addr);
      fault("access to %p: %s%s", info->si_addr, what, place);
    }
    fault("%s%s",
          number == SIGFPE ? "an integer division by zero"
                           : "an index outside of its array, or an address that is not a "
                             "multiple of its type's alignment",
          place);
  }
  if (memory_is_device(info->si_addr) && number == SIGSEGV) {
    memory_describe(what, sizeof what, info->si_addr);
    fault("the host touched memory of the device at %p: %s", info->si_addr, what);
  }
  sigaction(number, &earlier[number], NULL); /* and the instruction faults again */
}

void fault_catch_signals(void) {
  static bool is_caught;
  static _Thread_local bool has_stack;
  static const int numbers[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE};
  enum { SIZE = 128 * 1024 };
  if (!has_stack) { /* of the thread for good: signals of fibers come on it */
    stack_t stack = {.ss_sp = malloc(SIZE), .ss_size = SIZE};
    sigaltstack(&stack, NULL);
    has_stack = true;
  }
  if (is_caught) return;
  is_caught = true;
  struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
  action.sa_sigaction = on_signal;
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    sigaction(numbers[i], &action, &earlier[numbers[i]]);
  }
}
