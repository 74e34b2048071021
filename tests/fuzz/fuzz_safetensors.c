/* Fuzzing target: safetensors files, and what checkpoints keep in their metadata. */
#include "core/fitted.h"
#include "core/fitted_text.h"
#include "core/safetensors.h"
#include "fuzz_data.h"
#include "train/source_change.h"

static void read_tensors(nnc_safetensors *file) {
  uint64_t total = 0;
  for (int i = 0; i < file->count; i++) {
    const nnc_stored *stored = &file->tensors[i];
    char text[NNC_STORED_TEXT];
    char *into = malloc((size_t)(stored->end - stored->begin) + 1);
    if (!into || !nnc_safetensors_read(file, stored, into)) abort();
    if (nnc_safetensors_find(file, stored->name) != stored) abort();
    if (!*nnc_stored_type_text(text, stored)) abort();
    total += stored->end - stored->begin;
    free(into);
  }
  if (total != file->data_bytes) abort(); /* each byte in exactly one tensor */
}

/* What was read prints to a text that reads back as itself. */
static void read_fitted(const nnc_safetensors *file) {
  const char *text = nnc_safetensors_metadata(file, "fitted");
  char message[NNC_MESSAGE] = "";
  nnc_fitted fitted = {0}, again = {0};
  if (!text) return;
  if (nnc_fitted_parse(&fitted, text, message, sizeof message)) {
    char *once = nnc_fitted_format(&fitted);
    if (!once || !nnc_fitted_parse(&again, once, message, sizeof message)) abort();
    char *twice = nnc_fitted_format(&again);
    if (!twice || strcmp(once, twice) != 0) abort();
    free(once);
    free(twice);
  } else if (!*message) {
    abort();
  }
  nnc_fitted_free(&fitted);
  nnc_fitted_free(&again);
}

static void compare_source(const nnc_safetensors *file) {
  const nnc_model model = {.source = "const batch = 4\nh = linear(x, 3)\n",
                           .definitions = "-D batch=4"};
  nnc_warn_source_change(file, &model);
  if (!nnc_safetensors_metadata(file, "source") && nnc_source_differs(file, &model)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  char path[64];
  int descriptor = fuzz_file(bytes, size, path);
  nnc_safetensors *file = nnc_safetensors_open(path);
  if (file) {
    read_tensors(file);
    read_fitted(file);
    compare_source(file);
    nnc_safetensors_close(file);
  }
  close(descriptor);
  return 0;
}
