/* What would help a run that waits for its data. */
#ifndef NNC_DATA_ADVICE_H
#define NNC_DATA_ADVICE_H

#include <stddef.h>

#include "data/spent.h"

struct nnc_data;

/* The end of a sentence about a run that waits for its data, from ":" on; nothing where nothing is known. */
void data_advice(const nnc_data_spent *spent, char *text, size_t size);

/* Of the class of a source that decodes files: see nnc_data_advise. */
void data_advise(const struct nnc_data *data, double wait, double seconds);

#endif
