/* The header of a safetensors file: 8 bytes with its length, then a JSON object with a member for each tensor,
 *
 *     "h1.w": {"dtype": "F32", "shape": [784, 1000], "data_offsets": [0, 3136000]}
 *
 * Nothing else of the file is read, and nothing of it is believed but that. */
#include "driver/parameters.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

enum { LONGEST_HEADER = 100000000, DEEPEST = 64 };

/* What is left to read of the header. */
typedef struct Reader {
  Arena *arena;
  const char *at, *end;
} Reader;

static void skip_blanks(Reader *reader) {
  while (reader->at < reader->end && isspace((unsigned char)*reader->at)) reader->at++;
}

static bool take(Reader *reader, char c) {
  skip_blanks(reader);
  if (reader->at >= reader->end || *reader->at != c) return false;
  reader->at++;
  return true;
}

/* A string as it is written, with its escapes; NULL: there is none. */
static const char *take_string(Reader *reader) {
  if (!take(reader, '"')) return NULL;
  const char *first = reader->at;
  while (reader->at < reader->end && *reader->at != '"')
    reader->at += *reader->at == '\\' && reader->at + 1 < reader->end ? 2 : 1;
  if (reader->at >= reader->end) return NULL;
  return arena_strndup(reader->arena, first, (size_t)(reader->at++ - first));
}

static bool skip_value(Reader *reader, int depth);

static bool skip_list(Reader *reader, char end, bool has_keys, int depth) {
  if (take(reader, end)) return true;
  do {
    if (has_keys && (!take_string(reader) || !take(reader, ':'))) return false;
    if (!skip_value(reader, depth)) return false;
  } while (take(reader, ','));
  return take(reader, end);
}

static bool skip_value(Reader *reader, int depth) {
  skip_blanks(reader);
  if (depth > DEEPEST || reader->at >= reader->end) return false;
  if (*reader->at == '"') return take_string(reader) != NULL;
  if (take(reader, '{')) return skip_list(reader, '}', true, depth + 1);
  if (take(reader, '[')) return skip_list(reader, ']', false, depth + 1);
  const char *first = reader->at;
  while (reader->at < reader->end &&
         (isalnum((unsigned char)*reader->at) || strchr("+-.", *reader->at)))
    reader->at++;
  return reader->at > first;
}

static bool take_shape(Reader *reader, Parameter *parameter) {
  if (!take(reader, '[')) return false;
  if (take(reader, ']')) return true;
  do {
    skip_blanks(reader);
    int64_t extent = 0;
    const char *first = reader->at;
    while (reader->at < reader->end && isdigit((unsigned char)*reader->at) &&
           extent < INT64_MAX / 16)
      extent = extent * 10 + (*reader->at++ - '0');
    if (reader->at == first || parameter->shape.rank == MAX_RANK) return false;
    parameter->shape.dim[parameter->shape.rank++] = extent;
  } while (take(reader, ','));
  return take(reader, ']');
}

static bool take_tensor(Reader *reader, Parameter *parameter) {
  if (!take(reader, '{')) return false;
  do {
    const char *key = take_string(reader);
    if (!key || !take(reader, ':')) return false;
    if (strcmp(key, "shape") == 0) {
      if (!take_shape(reader, parameter)) return false;
    } else if (strcmp(key, "dtype") == 0) {
      const char *name = take_string(reader);
      if (!name) return false;
      char *small = arena_strdup(reader->arena, name);
      for (char *c = small; *c; c++) *c = (char)tolower((unsigned char)*c);
      parameter->dtype = small;
    } else if (!skip_value(reader, 0)) {
      return false;
    }
  } while (take(reader, ','));
  return take(reader, '}') && parameter->dtype;
}

static bool take_header(Reader *reader, Parameters *parameters) {
  if (!take(reader, '{')) return false;
  if (take(reader, '}')) return true;
  do {
    const char *name = take_string(reader);
    if (!name || !take(reader, ':')) return false;
    if (strcmp(name, "__metadata__") == 0) {
      if (!skip_value(reader, 0)) return false;
      continue;
    }
    const char *colon = strchr(name, ':');
    Parameter parameter = {.path = name, .kind = colon ? VARIABLE_OPTIMIZER : VARIABLE_PARAM};
    if (!take_tensor(reader, &parameter)) return false;
    vec_push(reader->arena, &parameters->items, parameter);
  } while (take(reader, ','));
  return take(reader, '}');
}

static bool cannot_read(const char *path, const char *reason) {
  fprintf(stderr, "nnc: cannot read %s: %s\n", path, reason);
  return false;
}

bool parameters_of_checkpoint(Arena *arena, const char *path, Parameters *parameters) {
  unsigned char bytes[8];
  uint64_t length = 0;
  *parameters = (Parameters){.file = path, .is_checkpoint = true};
  FILE *file = fopen(path, "rb");
  if (!file) return cannot_read(path, strerror(errno));
  bool good = fread(bytes, 1, sizeof bytes, file) == sizeof bytes;
  for (int i = 7; good && i >= 0; i--) length = length << 8 | bytes[i];
  good = good && length >= 2 && length <= LONGEST_HEADER;
  char *header = good ? arena_alloc(arena, length + 1) : NULL;
  good = good && fread(header, 1, length, file) == length;
  fclose(file);
  Reader reader = {arena, header, header + (good ? length : 0)};
  if (good && take_header(&reader, parameters)) return true;
  return cannot_read(path, "it is no safetensors file");
}
