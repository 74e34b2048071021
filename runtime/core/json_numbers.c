/* Numbers of JSON objects: see json_numbers.h. */
#include "core/json_numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool nnc_json_number(const nnc_json *value, double *number) {
  static const char *const names[] = {"NaN", "Infinity", "-Infinity"};
  const double numbers[] = {NAN, HUGE_VAL, -HUGE_VAL};
  if (value->kind == NNC_JSON_NUMBER) {
    *number = strtod(value->text, NULL);
    return true;
  }
  for (int i = 0; value->kind == NNC_JSON_STRING && i < 3; i++)
    if (strcmp(value->text, names[i]) == 0) return *number = numbers[i], true;
  return false;
}

typedef struct Visit {
  const nnc_json_document *document;
  nnc_json_number_sink *sink;
  void *context;
  char name[NNC_JSON_NAME];
} Visit;

/* The first `at` bytes of the name are those of the objects around. */
static bool visit(Visit *to, const nnc_json *object, size_t at) {
  const nnc_json *child = NULL;
  double number;
  while ((child = nnc_json_next(to->document, object, child))) {
    size_t length = strlen(child->key);
    if (at + length + 2 > sizeof to->name) return false;
    memcpy(to->name + at, child->key, length + 1);
    if (nnc_json_number(child, &number) && !to->sink(to->context, to->name, number)) return false;
    if (child->kind != NNC_JSON_OBJECT) continue;
    to->name[at + length] = '/';
    if (!visit(to, child, at + length + 1)) return false;
  }
  return true;
}

bool nnc_json_numbers(const nnc_json_document *document, nnc_json_number_sink *sink,
                      void *context) {
  Visit to = {.document = document, .sink = sink, .context = context};
  return document->values->kind == NNC_JSON_OBJECT && visit(&to, document->values, 0);
}
