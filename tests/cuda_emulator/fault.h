/* What is wrong with a program under test: one line on stderr, and the process ends with
 * FAULT_STATUS. */
#ifndef FAULT_H
#define FAULT_H

enum { FAULT_STATUS = 86 };

/* Names the kernel, block and thread where one runs. */
_Noreturn void fault(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* From now on, signals of kernels are such faults, on this OS thread too. */
void fault_catch_signals(void);

#endif
