/* Loops: the nest is written out in the stages, so there are no slots and no template. */
#include "kernel/class.h"

const KernelClass kernel_class_loop = {0};
