/* The numbers of a JSON object by name: what a line of a log holds. */
#ifndef NNC_JSON_NUMBERS_H
#define NNC_JSON_NUMBERS_H

#include "core/json.h"

/* A number, or what nnc_json_put_number writes for NaN and infinities; false: it is neither. */
bool nnc_json_number(const nnc_json *value, double *number);

/* Gives every number of the object to the sink, those of objects in it as "options/lr"; lists are left out. False: a name
 * is too long, or the sink says so, and then the rest is not visited. */
enum { NNC_JSON_NAME = 512 };
typedef bool nnc_json_number_sink(void *context, const char *name, double number);
bool nnc_json_numbers(const nnc_json_document *document, nnc_json_number_sink *sink, void *context);

#endif
