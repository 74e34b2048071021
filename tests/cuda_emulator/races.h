/* Accesses to memory of a launch that nothing orders, where the kernels tell of each access. */
#ifndef RACES_H
#define RACES_H

#include <stddef.h>

void races_begin_launch(void);
void races_touch(const void *at, size_t bytes, int how, const void *code);

#endif
