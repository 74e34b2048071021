/* Values of the compile-time language. */
#ifndef NNC_ELABORATE_VALUE_H
#define NNC_ELABORATE_VALUE_H

#include "graph/graph.h"
#include "syntax/ast.h"

typedef enum ValueKind {
  VALUE_ERROR, /* the result of something already reported; silences what follows from it */
  VALUE_NONE,
  VALUE_INT,   /* weak: takes the type of what it meets */
  VALUE_FLOAT, /* weak */
  VALUE_BOOL,
  VALUE_STRING,
  VALUE_TUPLE,
  VALUE_LIST,
  VALUE_RANGE, /* from..to, `to` excluded */
  VALUE_DTYPE,
  VALUE_QUANTITY, /* 5 epochs */
  VALUE_TENSOR,
  VALUE_DEF, /* def, optimizer, init, schedule, extern */
  VALUE_BUILTIN,
  VALUE_LAYER,    /* a call with `_` */
  VALUE_DEFERRED, /* an optimizer, initializer or schedule with its arguments */
  VALUE_FILE,     /* load("weights.npy"): an initial value */
  VALUE_KIND_COUNT
} ValueKind;

typedef struct Elaborator Elaborator;
typedef struct Value Value;
typedef struct Function Function;
typedef struct Builtin Builtin;
typedef struct Layer Layer;
typedef struct Deferred Deferred;

typedef struct ValueList {
  Value *items;
  int count;
} ValueList;

struct Value {
  ValueKind kind;
  union {
    int64_t integer;
    double real;
    bool boolean;
    const char *string;
    ValueList list; /* tuple and list */
    struct {
      int64_t from, to;
    } range;
    DType dtype;
    struct {
      double number;
      bool is_epochs; /* else steps */
    } quantity;
    struct {
      Node *node;
      const Graph *graph; /* the one it belongs to */
      bool is_host;       /* known to the host before the step: t, a schedule's value */
    } tensor;
    Function *function;
    const Builtin *builtin;
    Layer *layer;
    Deferred *deferred;
    struct {
      const char *name;
      const char *entry; /* NULL: none was named */
    } file;
  };
};

Value value_error(void);
Value value_none(void);
Value value_int(int64_t integer);
Value value_float(double real);
Value value_bool(bool boolean);
Value value_string(const char *string);
Value value_dtype(DType dtype);
Value value_list(Arena *arena, int count, const Value *items);
Value value_tuple(Arena *arena, int count, const Value *items);
Value value_shape(Arena *arena, Shape shape);

bool value_is_error(Value value);
bool value_is_number(Value value);   /* int or float */
bool value_is_sequence(Value value); /* tuple, list or range */
bool value_is_tensor(Value value);
bool value_is_tensor_like(Value value); /* tensors, and what may become one */
double value_number(Value value);       /* of an int or float */
int64_t value_sequence_length(Value value);
Value value_sequence_item(Value value, int64_t i);
/* A tensor of the current region; NULL gives an error value. */
Value value_tensor(Elaborator *e, Node *node);
/* Equality of compile-time values; an int equals the float of the same number. */
bool value_equal(Value a, Value b);
/* "an integer", "a tensor f32[3, 4]", "the function relu": for messages. */
const char *value_describe(Arena *arena, Value value);
/* A short text of a compile-time value: 3, 0.5, [1, 2]. */
void value_add_text(Text *text, Value value);

#endif
