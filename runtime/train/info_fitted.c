/* Values of fitted stages for `info`: see info_fitted.h. */
#include "train/info_fitted.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/fitted_text.h"
#include "core/json.h"
#include "core/safetensors.h"
#include "os/message.h"
#include "os/printable.h"
#include "os/replace.h"

enum { MOST_SHOWN = 8 };

static bool read_from(nnc_fitted *fitted, const char *path) {
  char message[NNC_MESSAGE];
  nnc_safetensors *file = nnc_safetensors_open(path);
  const char *text = file ? nnc_safetensors_metadata(file, "fitted") : NULL;
  bool good = file && (!text || nnc_fitted_parse(fitted, text, message, sizeof message));
  if (file && !good) nnc_error("%s: metadata 'fitted': %s", path, message);
  nnc_safetensors_close(file);
  return good;
}

bool nnc_info_read_fitted(nnc_fitted *fitted, const nnc_options *options) {
  *fitted = (nnc_fitted){0};
  if (!options->out) return true;
  char *path = nnc_path_join(options->out, "checkpoint.safetensors");
  bool good = path && read_from(fitted, path);
  free(path);
  return good;
}

void nnc_info_print_fitted(const nnc_fitted *fitted) {
  for (int i = 0; i < fitted->count; i++) {
    const nnc_fitted_value *value = &fitted->values[i];
    printf("fitted %s:", nnc_printable(value->name));
    for (int64_t k = 0; k < value->count && k < MOST_SHOWN; k++) {
      if (value->numbers) printf(" %.9g", value->numbers[k]);
      else printf(" %s", nnc_printable(value->strings[k]));
    }
    if (value->count > MOST_SHOWN) printf(" ... (%lld)", (long long)value->count);
    putchar('\n');
  }
}

void nnc_info_put_fitted(const nnc_fitted *fitted) {
  fputs("\"fitted\":{", stdout);
  for (int i = 0; i < fitted->count; i++) {
    const nnc_fitted_value *value = &fitted->values[i];
    if (i) putchar(',');
    nnc_json_put_string(stdout, value->name);
    fputs(":[", stdout);
    for (int64_t k = 0; k < value->count; k++) {
      if (k) putchar(',');
      if (value->numbers) nnc_json_put_number(stdout, value->numbers[k]);
      else nnc_json_put_string(stdout, value->strings[k]);
    }
    putchar(']');
  }
  fputs("},", stdout);
}
