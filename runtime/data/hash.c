/* Stage `hash(field, ..., buckets = COUNT)`: text to class numbers below COUNT, whatever the text: the remainder of
 * its hash of 64 bits (FNV-1a: G. Fowler, L. C. Noll, K.-P. Vo). A missing value is the empty text. */
#include <stdlib.h>

#include "core/dictionary.h"
#include "data/call.h"
#include "data/class.h"
#include "data/columns.h"
#include "data/table.h"
#include "nnc_data.h"

static const char *const formals[] = {"buckets", NULL};

static int buckets_of(const DataContext *context, double *buckets) {
  *buckets = 0;
  if (data_argument_number(context, formals, "buckets", 1, INT32_MAX, buckets) < 0) return -1;
  if (*buckets > 0) return 0;
  return data_fail_call(context, "hash needs the argument 'buckets'");
}

static int fit(const DataContext *context, const DataLine *line, int index, nnc_fitted *fitted) {
  double buckets;
  if (buckets_of(context, &buckets) < 0) return -1;
  return data_fit_numbers(context, &line->tables[0].fields[index], "hash", 1, &buckets, fitted);
}

static int32_t bucket_of(const char *word, uint64_t buckets) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char *c = word; *c; c++) hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
  return (int32_t)(hash % buckets);
}

static int apply(const DataContext *context, DataTable *table, DataField *field,
                 const nnc_fitted *fitted) {
  double stated;
  const double *buckets = data_fitted_numbers(context, field, "hash", 1, fitted);
  if (!buckets || buckets_of(context, &stated) < 0) return -1;
  if (*buckets != stated)
    return data_fail_call(context, "hash(%s): the checkpoint is of a network with %.0f buckets",
                          field->name, *buckets);
  if (!field->dictionaries)
    return data_fail_call(context, "hash(%s): the source delivers numbers, which need none",
                          field->name);
  int32_t *codes = (int32_t *)field->values;
  for (int64_t i = 0; i < table->rows * field->width; i++) {
    const nnc_dictionary *words = &field->dictionaries[i % field->width];
    codes[i] = bucket_of(codes[i] < 0 ? "" : words->words[codes[i]], (uint64_t)stated);
  }
  data_field_free_text(field); /* from here on it holds numbers */
  return 0;
}

const struct nnc_stage_class nnc_stage_hash = {.name = "hash",
                                               .acts_on = DATA_ACTS_ON_hash,
                                               .formals = formals,
                                               .names_fields = true,
                                               .reads_text = true,
                                               .fit = fit,
                                               .apply = apply};
