/* The bench command. */
#ifndef NNC_BENCH_H
#define NNC_BENCH_H

#include "core/options.h"
#include "core/session.h"

/* --data-only: minibatches of training are loaded, and nothing else is done. */
bool nnc_bench_data(nnc_session *session);

int nnc_bench_command(const nnc_options *options); /* an nnc_exit */

#endif
