/* Values of flags: see flag_value.h. */
#include "core/flag_value.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "os/message.h"

enum nnc_whole nnc_read_whole(const char *text, uint64_t *number) {
  *number = 0;
  if (!*text || strspn(text, "0123456789") != strlen(text)) return NNC_NOT_WHOLE;
  errno = 0;
  *number = strtoull(text, NULL, 10);
  return errno == 0 ? NNC_WHOLE : NNC_TOO_LARGE;
}

bool nnc_flag_whole(const char *flag, const char *text, uint64_t least, uint64_t most,
                    uint64_t *number) {
  enum nnc_whole read = nnc_read_whole(text, number);
  if (read == NNC_TOO_LARGE || (read == NNC_WHOLE && *number > most)) {
    nnc_error("--%s wants a whole number from %" PRIu64 " to %" PRIu64 ", not %s", flag, least,
              most, text);
    return false;
  }
  if (read == NNC_WHOLE && *number >= least) return true;
  nnc_error("--%s wants a whole number of at least %" PRIu64 ", not '%s'", flag, least, text);
  return false;
}

bool nnc_flag_yes(const char *flag, const char *text, int64_t *value) {
  *value = strcmp(text, "yes") == 0;
  if (*value || strcmp(text, "no") == 0) return true;
  nnc_error("--%s wants yes or no, not '%s'", flag, text);
  return false;
}

bool nnc_flag_interval(const char *flag, const char *text, nnc_interval *every) {
  static const char *const units[] = {"", "step", "steps", "epoch", "epochs", "minute", "minutes"};
  int64_t *const counts[] = {&every->steps, &every->epochs, &every->minutes};
  const char *end = text + strspn(text, "0123456789");
  errno = 0;
  long long number = end > text ? strtoll(text, NULL, 10) : 0;
  if (*end == ' ') end++;
  for (size_t i = 0; number >= 1 && i < sizeof units / sizeof *units; i++) {
    if (strcmp(end, units[i]) != 0) continue;
    if (errno || number > INT32_MAX) {
      nnc_error("--%s: at most %d%s, not %s", flag, INT32_MAX, units[i], text);
      return false;
    }
    *every = (nnc_interval){0};
    *counts[i == 0 ? 0 : (i - 1) / 2] = number;
    return true;
  }
  nnc_error("--%s wants steps, epochs or minutes, as 500, 2epochs or 10minutes, not '%s'", flag,
            text);
  return false;
}

bool nnc_flag_number(const char *flag, const char *text, double *number) {
  char *end;
  double value = strtod(text, &end);
  bool is_good = end > text && !*end && isfinite(value) && value >= 0;
  if (is_good) *number = value;
  else nnc_error("--%s wants a number of at least 0, not '%s'", flag, text);
  return is_good;
}

bool nnc_flag_path(const char *flag, const char *text, const char *kind) {
  if (*text) return true;
  nnc_error("--%s wants the name of a %s, not ''", flag,
            strcmp(kind, "DIR") == 0 ? "folder" : "file");
  return false;
}
