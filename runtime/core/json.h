/* JSON (RFC 8259): a strict reader for file headers and small writers for output.
 *
 * A document is a flat array of values in reading order; the children of a value are linked by
 * index. Strings are unescaped in place, so the text must be writable and outlive the document. */
#ifndef NNC_JSON_H
#define NNC_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum nnc_json_kind {
  NNC_JSON_NULL,
  NNC_JSON_FALSE,
  NNC_JSON_TRUE,
  NNC_JSON_NUMBER,
  NNC_JSON_STRING,
  NNC_JSON_ARRAY,
  NNC_JSON_OBJECT
};

typedef struct nnc_json {
  int kind;
  const char *key;  /* of a member of an object, else NULL */
  const char *text; /* a string's characters; where a number starts */
  int length;       /* of `text` */
  int count;        /* children */
  int first, next;  /* indices of the first child and of the next sibling; -1: none */
} nnc_json;

typedef struct nnc_json_document {
  nnc_json *values; /* values[0] is the root */
  int count;
} nnc_json_document;

/* False with a message that gives the position.  text[length] must be writable too: it is the
 * end mark. */
bool nnc_json_parse(nnc_json_document *document, char *text, size_t length, char *message,
                    size_t message_size);
void nnc_json_free(nnc_json_document *document);

/* The member of an object, NULL when there is none. */
const nnc_json *nnc_json_member(const nnc_json_document *document, const nnc_json *object,
                                const char *key);
/* The child after `child`, the first with NULL; NULL: there is none. */
const nnc_json *nnc_json_next(const nnc_json_document *document, const nnc_json *parent,
                              const nnc_json *child);
/* A number without sign, fraction and exponent that fits. */
bool nnc_json_unsigned(const nnc_json *value, uint64_t *number);

/* Bytes that are not UTF-8 become U+FFFD. */
void nnc_json_put_string(FILE *file, const char *string);
/* JSON has no number for NaN and infinities: "NaN", "Infinity", "-Infinity" as strings. */
void nnc_json_put_number(FILE *file, double number);

#endif
