/* What the machine that nnc runs on can run. */
#ifndef NNC_DRIVER_MACHINE_H
#define NNC_DRIVER_MACHINE_H

/* Of a level of x86-64 ("v3", "x86-64-v3"): an extension that it has and this machine has not. NULL: there is none, or
 * `arch` is no level. */
const char *machine_lacks(const char *arch);

#endif
