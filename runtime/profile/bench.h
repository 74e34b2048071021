/* The bench command. */
#ifndef NNC_BENCH_H
#define NNC_BENCH_H

#include "core/options.h"

int nnc_bench_command(const nnc_options *options); /* an nnc_exit */

#endif
