/* What the data tests share: writing a model's tables as they stand in a .net file, and files to
 * read. */
#ifndef TESTS_DATA_SUPPORT_H
#define TESTS_DATA_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/fitted.h"
#include "data/loader.h"
#include "data/open.h"
#include "data/read.h"
#include "nnc_data.h"

#define COUNT(type, ...) (int)(sizeof((type[]){__VA_ARGS__}) / sizeof(type))
#define NUM(x) ((nnc_value){.kind = NNC_NUMBER, .number = (x)})
#define STR(s) ((nnc_value){.kind = NNC_STRING, .string = (s)})
#define NAME(s) ((nnc_value){.kind = NNC_FIELD, .string = (s)})
#define TRUTH(b) ((nnc_value){.kind = NNC_BOOLEAN, .number = (b)})
#define LIST(...)                                                                                  \
  ((nnc_value){.kind = NNC_LIST,                                                                   \
               .count = COUNT(nnc_value, __VA_ARGS__),                                             \
               .items = (const nnc_value[]){__VA_ARGS__}})
#define ARG(formal, value) ((nnc_argument){formal, value})
#define CALL(member, class, function_name, ...)                                                    \
  ((nnc_call){.function = function_name,                                                           \
              .member = &class,                                                                    \
              .argument_count = COUNT(nnc_argument, __VA_ARGS__),                                  \
              .arguments = (const nnc_argument[]){__VA_ARGS__},                                    \
              .line = 3,                                                                           \
              .column = 9})
#define SOURCE(name, ...) CALL(source, nnc_source_##name, #name, __VA_ARGS__)
#define STAGE(name, ...) CALL(stage, nnc_stage_##name, #name, __VA_ARGS__)
#define STAGE0(name)                                                                               \
  ((nnc_call){.function = #name, .stage = &nnc_stage_##name, .line = 3, .column = 9})
#define FIELDS(...) ((Names){COUNT(const char *, __VA_ARGS__), (const char *const[]){__VA_ARGS__}})
#define PIPELINE(fields, ...)                                                                      \
  make_pipeline(fields, COUNT(nnc_call, __VA_ARGS__), (const nnc_call[]){__VA_ARGS__})
#define SET(set_name, ...)                                                                         \
  ((nnc_data_set){.name = set_name,                                                                \
                  .pipeline_count = COUNT(nnc_pipeline, __VA_ARGS__),                              \
                  .pipelines = (const nnc_pipeline[]){__VA_ARGS__}})
#define MODEL(batch_size, ...)                                                                     \
  ((nnc_model){.file = "test.net",                                                                 \
               .batch = batch_size,                                                                \
               .seed = 1,                                                                          \
               .data_set_count = COUNT(nnc_data_set, __VA_ARGS__),                                 \
               .data_sets = (const nnc_data_set[]){__VA_ARGS__}})
#define DIMS(...)                                                                                  \
  COUNT(int64_t, __VA_ARGS__), { __VA_ARGS__ }
#define INPUT(input_name, type, ...) ((nnc_tensor){input_name, type, DIMS(__VA_ARGS__), 0})
#define ENTRY(batch_size, ...)                                                                     \
  ((nnc_entry){.batch = batch_size,                                                                \
               .input_count = COUNT(nnc_tensor, __VA_ARGS__),                                      \
               .inputs = (const nnc_tensor[]){__VA_ARGS__},                                        \
               .input_is_batched = (const unsigned char[]){1, 1, 1, 1, 1, 1}})

typedef struct Names {
  int count;
  const char *const *names;
} Names;

static inline nnc_pipeline make_pipeline(Names fields, int calls, const nnc_call *call) {
  return (nnc_pipeline){fields.count, fields.names, calls, call};
}

/* A directory of its own, removed by leave. */
int enter(void **state);
int leave(void **state);
const char *directory(void);
void write_file(const char *name, const void *bytes, size_t size);
void write_text(const char *name, const char *text);
void write_gzip(const char *name, const void *bytes, size_t size);

/* Opens `set`, expecting success: the message is the failure. */
nnc_data *open_well(const nnc_model *model, const char *set, const nnc_entry *entry,
                    nnc_fitted *fitted);
/* nnc_data_read, expecting success. */
void read_well(const nnc_data *data, int64_t first, int64_t count, void *const *inputs);
/* Opens `set`, expecting failure with exactly this message; $ stands for the directory. */
void expect_failure(const nnc_model *model, const char *set, const nnc_entry *entry,
                    const char *message);

#endif
