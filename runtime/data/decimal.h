/* Decimal numbers from text. */
#ifndef NNC_DATA_DECIMAL_H
#define NNC_DATA_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

/* A decimal number, whatever the locale; nothing may follow. false: it is none. */
bool data_parse_number(const char *text, int64_t length, double *number);

#endif
