/* What would help a run that waits for its data. */
#ifndef NNC_DATA_ADVICE_H
#define NNC_DATA_ADVICE_H

#include <stddef.h>

#include "data/spent.h"

struct nnc_data;

/* The end of a sentence about a run that waits for its data, from ":" on; nothing where nothing is known. */
typedef void DataAdvice(const nnc_data_spent *spent, char *text, size_t size);
/* Of sources of pictures, which --cache may help; and of others. */
DataAdvice data_advice, data_advice_plain;
/* The same with a part of the sentence about what helps. */
void data_advice_with(const nnc_data_spent *spent, const char *help, char *text, size_t size);
/* What took most of the time. */
enum nnc_data_work data_most_work(const nnc_data_spent *spent);

/* Tells it once, where the wait is long: see nnc_data_advise. */
void data_advise_by(const struct nnc_data *data, double wait, double seconds, DataAdvice *advice);
/* Of the class of a source that decodes files. */
void data_advise(const struct nnc_data *data, double wait, double seconds);

#endif
