/* What the stages of data learnt from the training set, as `info --out DIR` tells it. */
#ifndef NNC_INFO_FITTED_H
#define NNC_INFO_FITTED_H

#include "core/fitted.h"
#include "core/options.h"

/* Of the checkpoint in --out, where that is given; false after a message. */
bool nnc_info_read_fitted(nnc_fitted *fitted, const nnc_options *options);
/* A line a value, or in JSON "fitted":{"x.standardize":[0.5,2],...}. */
void nnc_info_print_fitted(const nnc_fitted *fitted);
void nnc_info_put_fitted(const nnc_fitted *fitted);

#endif
