/* Values of flags, as the command line has them: each is read or refused with a message that says what the flag wants. */
#ifndef NNC_FLAG_VALUE_H
#define NNC_FLAG_VALUE_H

#include <stdbool.h>
#include <stdint.h>

/* --save-every: one of them at most is not 0. */
typedef struct nnc_interval {
  int64_t steps, epochs, minutes;
} nnc_interval;

enum nnc_whole { NNC_WHOLE, NNC_NOT_WHOLE, NNC_TOO_LARGE };

/* Digits alone; too large is what 64 bits do not hold. */
enum nnc_whole nnc_read_whole(const char *text, uint64_t *number);

/* A whole number from `least` to `most`. */
bool nnc_flag_whole(const char *flag, const char *text, uint64_t least, uint64_t most,
                    uint64_t *number);
/* yes or no, as 1 or 0 */
bool nnc_flag_yes(const char *flag, const char *text, int64_t *value);
/* "500", "500steps", "2 epochs", "10minutes" */
bool nnc_flag_interval(const char *flag, const char *text, nnc_interval *every);
/* A finite number that is not negative. */
bool nnc_flag_number(const char *flag, const char *text, double *number);
/* The name of a file or folder (`kind` FILE or DIR) is not empty. */
bool nnc_flag_path(const char *flag, const char *text, const char *kind);

#endif
