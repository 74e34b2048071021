/* x86-64 and 64-bit Arm switch by storing the registers that a call keeps; other machines by
 * ucontext. */
#include "fiber.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { STACK = 256 * 1024, GUARD = 4096 };

static char *stacks;

static char *stack_end(int stack) {
  if (!stacks) {
    stacks = mmap(NULL, (size_t)MOST_FIBERS * STACK, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks == MAP_FAILED) {
      perror("nnc emulator: memory for stacks");
      exit(1);
    }
    for (int i = 0; i < MOST_FIBERS; i++) mprotect(stacks + (size_t)i * STACK, GUARD, PROT_NONE);
  }
  /* Tops at different distances from a page's end, so that they do not share lines of the cache. */
  return stacks + (size_t)(stack + 1) * STACK - (stack % 56 + 1) * 64;
}

bool fiber_owns(const void *address) {
  return stacks && (uintptr_t)address - (uintptr_t)stacks < (size_t)MOST_FIBERS * STACK;
}

bool fiber_guards(const void *address) {
  return fiber_owns(address) && ((uintptr_t)address - (uintptr_t)stacks) % STACK < GUARD;
}

#if defined __x86_64__ || defined __aarch64__

void nnc_fiber_switch(void **from, void *to);

#ifdef __x86_64__
__asm__(".text\n.globl nnc_fiber_switch\n.hidden nnc_fiber_switch\nnnc_fiber_switch:\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp, (%rdi)\n  movq %rsi, %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n  ret\n");

void fiber_begin(Fiber *fiber, int stack, void (*run)(void)) {
  void **top = (void **)stack_end(stack);
  *--top = NULL; /* where `run` would return to */
  *--top = (void *)run;
  top -= 6;
  memset(top, 0, 6 * sizeof *top);
  fiber->context = top;
}
#else
__asm__(".text\n.globl nnc_fiber_switch\n.hidden nnc_fiber_switch\nnnc_fiber_switch:\n"
        "  sub sp, sp, #160\n"
        "  stp x19, x20, [sp]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n"
        "  stp x25, x26, [sp, #48]\n  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
        "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n"
        "  stp d14, d15, [sp, #144]\n"
        "  mov x2, sp\n  str x2, [x0]\n  mov sp, x1\n"
        "  ldp x19, x20, [sp]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n"
        "  ldp x25, x26, [sp, #48]\n  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
        "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n"
        "  ldp d14, d15, [sp, #144]\n"
        "  add sp, sp, #160\n  ret\n");

void fiber_begin(Fiber *fiber, int stack, void (*run)(void)) {
  void **top = (void **)stack_end(stack) - 20;
  memset(top, 0, 20 * sizeof *top);
  top[11] = (void *)run; /* x30 */
  fiber->context = top;
}
#endif

void fiber_switch(Fiber *from, Fiber *to) { nnc_fiber_switch(&from->context, to->context); }

#else
#include <ucontext.h>

/* A context a stack, and those of whoever switches to the first fiber. */
void fiber_begin(Fiber *fiber, int stack, void (*run)(void)) {
  static ucontext_t contexts[MOST_FIBERS];
  ucontext_t *context = &contexts[stack];
  getcontext(context);
  context->uc_stack.ss_sp = stacks ? stacks + (size_t)stack * STACK + GUARD : NULL;
  if (!stacks) {
    stack_end(stack);
    context->uc_stack.ss_sp = stacks + (size_t)stack * STACK + GUARD;
  }
  context->uc_stack.ss_size = STACK - GUARD;
  context->uc_link = NULL;
  makecontext(context, run, 0);
  fiber->context = context;
}

void fiber_switch(Fiber *from, Fiber *to) {
  static ucontext_t outside;
  if (!from->context) from->context = &outside;
  swapcontext(from->context, to->context);
}
#endif
