/* Products that a group of four warps begins and waits for (wgmma). */
#ifndef GROUPS_H
#define GROUPS_H

#include "nnc_emulated_interface.h"

void groups_begin_block(void);
void groups_end_block(int threads);
void groups_registers(int count, int is_more, const char *file, int line);
void groups_do(int what, int left, const char *file, int line);
void groups_multiply(const nnc_emulated_product *product, const char *file, int line);

#endif
