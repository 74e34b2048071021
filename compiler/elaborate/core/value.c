/* Compile-time values: constructors, sequences, equality, descriptions for messages. */
#include "elaborate/core/function.h"
#include "elaborate/core/value.h"
#include "graph/module.h"
#include "support/panic.h"

Value value_error(void) { return (Value){.kind = VALUE_ERROR}; }

Value value_none(void) { return (Value){.kind = VALUE_NONE}; }

Value value_int(int64_t integer) { return (Value){.kind = VALUE_INT, .integer = integer}; }

Value value_float(double real) { return (Value){.kind = VALUE_FLOAT, .real = real}; }

Value value_bool(bool boolean) { return (Value){.kind = VALUE_BOOL, .boolean = boolean}; }

Value value_string(const char *string) { return (Value){.kind = VALUE_STRING, .string = string}; }

Value value_dtype(DType dtype) { return (Value){.kind = VALUE_DTYPE, .dtype = dtype}; }

static Value value_items(Arena *arena, ValueKind kind, int count, const Value *items) {
  Value value = {.kind = kind};
  value.list.count = count;
  value.list.items = count > 0 ? arena_copy(arena, items, sizeof *items * (size_t)count) : NULL;
  return value;
}

Value value_list(Arena *arena, int count, const Value *items) {
  return value_items(arena, VALUE_LIST, count, items);
}

Value value_tuple(Arena *arena, int count, const Value *items) {
  return value_items(arena, VALUE_TUPLE, count, items);
}

Value value_shape(Arena *arena, Shape shape) {
  Value items[MAX_RANK];
  for (int i = 0; i < shape.rank; i++) items[i] = value_int(shape.dim[i]);
  return value_list(arena, shape.rank, items);
}

bool value_is_error(Value value) { return value.kind == VALUE_ERROR; }

bool value_is_number(Value value) { return value.kind == VALUE_INT || value.kind == VALUE_FLOAT; }

bool value_is_sequence(Value value) {
  return value.kind == VALUE_TUPLE || value.kind == VALUE_LIST || value.kind == VALUE_RANGE;
}

bool value_is_tensor(Value value) { return value.kind == VALUE_TENSOR; }

bool value_is_tensor_like(Value value) {
  return value_is_tensor(value) || value_is_number(value) || value.kind == VALUE_BOOL ||
         value_is_sequence(value);
}

double value_number(Value value) {
  CHECK(value_is_number(value));
  return value.kind == VALUE_INT ? (double)value.integer : value.real;
}

int64_t value_sequence_length(Value value) {
  CHECK(value_is_sequence(value));
  if (value.kind != VALUE_RANGE) return value.list.count;
  return value.range.to > value.range.from ? value.range.to - value.range.from : 0;
}

Value value_sequence_item(Value value, int64_t i) {
  CHECK(i >= 0 && i < value_sequence_length(value));
  return value.kind == VALUE_RANGE ? value_int(value.range.from + i) : value.list.items[i];
}

static bool value_equal_sequences(Value a, Value b) {
  int64_t length = value_sequence_length(a);
  if (length != value_sequence_length(b)) return false;
  for (int64_t i = 0; i < length; i++)
    if (!value_equal(value_sequence_item(a, i), value_sequence_item(b, i))) return false;
  return true;
}

bool value_equal(Value a, Value b) {
  if (a.kind == VALUE_INT && b.kind == VALUE_INT) return a.integer == b.integer;
  if (value_is_number(a) && value_is_number(b)) return value_number(a) == value_number(b);
  if (value_is_sequence(a) && value_is_sequence(b)) return value_equal_sequences(a, b);
  if (a.kind != b.kind) return false;
  switch (a.kind) {
  case VALUE_NONE: return true;
  case VALUE_BOOL: return a.boolean == b.boolean;
  case VALUE_STRING: return a.string == b.string;
  case VALUE_DTYPE: return a.dtype == b.dtype;
  case VALUE_QUANTITY:
    return a.quantity.number == b.quantity.number && a.quantity.is_epochs == b.quantity.is_epochs;
  case VALUE_TENSOR: return a.tensor.node == b.tensor.node;
  case VALUE_DEF: return a.function == b.function;
  case VALUE_BUILTIN: return a.builtin == b.builtin;
  case VALUE_LAYER: return a.layer == b.layer;
  case VALUE_DEFERRED: return a.deferred == b.deferred;
  case VALUE_FILE: return a.file.name == b.file.name && a.file.entry == b.file.entry;
  default: return false;
  }
}

/* ---- text --------------------------------------------------------------------------------- */

static const char *const kind_descriptions[VALUE_KIND_COUNT] = {
    [VALUE_ERROR] = "an error",
    [VALUE_NONE] = "none",
    [VALUE_INT] = "an integer",
    [VALUE_FLOAT] = "a number with a fraction",
    [VALUE_BOOL] = "a truth value",
    [VALUE_STRING] = "a string",
    [VALUE_TUPLE] = "a tuple",
    [VALUE_LIST] = "a list",
    [VALUE_RANGE] = "a range",
    [VALUE_DTYPE] = "a type",
    [VALUE_QUANTITY] = "a quantity",
    [VALUE_TENSOR] = "a tensor",
    [VALUE_DEF] = "a function",
    [VALUE_BUILTIN] = "a function",
    [VALUE_LAYER] = "a layer",
    [VALUE_DEFERRED] = "a definer with arguments",
    [VALUE_FILE] = "the contents of a file",
};

static const char *value_name(Value value) {
  switch (value.kind) {
  case VALUE_DEF: return value.function->name;
  case VALUE_BUILTIN: return value.builtin->name;
  case VALUE_DEFERRED: return value.deferred->function->name;
  default: return NULL;
  }
}

const char *value_describe(Arena *arena, Value value) {
  const char *kind = kind_descriptions[value.kind];
  Text text = {0};
  text_add(&text, kind);
  const Node *leaf = value.kind == VALUE_TENSOR ? value.tensor.node : NULL;
  const char *option =
      leaf && leaf->op == OP_SCALAR ? module_option_name(node_string(leaf, ATTR_NAME)) : NULL;
  if (option) {
    text.length = 0;
    text_printf(&text, "the option '%s'", option);
  } else if (value.kind == VALUE_TENSOR) {
    text_add_char(&text, ' ');
    text_add_type(&text, value.tensor.node->type);
  } else if (value.kind == VALUE_DEF || value.kind == VALUE_DEFERRED) {
    const Function *function = value.kind == VALUE_DEF ? value.function : value.deferred->function;
    text.length = 0;
    const char *word = ast_stmt_kind_text(function->stmt->kind);
    text_printf(&text, "the %s '%s'", function->stmt->kind == AST_DEF ? "function" : word,
                function->name);
  } else if (value_name(value)) {
    text.length = 0;
    text_printf(&text, "the function '%s'", value_name(value));
  } else if (value_is_number(value) || value.kind == VALUE_STRING || value.kind == VALUE_BOOL ||
             value.kind == VALUE_DTYPE || value.kind == VALUE_QUANTITY) {
    text_add_char(&text, ' ');
    value_add_text(&text, value);
  }
  return text_take(&text, arena);
}

static void text_add_values(Text *text, Value value, const char *open, const char *close) {
  enum { SHOWN = 12 };
  int64_t length = value_sequence_length(value);
  text_add(text, open);
  for (int64_t i = 0; i < length && i < SHOWN; i++) {
    if (i > 0) text_add(text, ", ");
    value_add_text(text, value_sequence_item(value, i));
  }
  if (length > SHOWN) text_add(text, ", ...");
  text_add(text, close);
}

void value_add_text(Text *text, Value value) {
  switch (value.kind) {
  case VALUE_INT: text_printf(text, "%lld", (long long)value.integer); return;
  case VALUE_FLOAT: text_add_double(text, value.real); return;
  case VALUE_BOOL: text_add(text, value.boolean ? "true" : "false"); return;
  case VALUE_STRING: text_add_quoted(text, value.string); return;
  case VALUE_TUPLE: text_add_values(text, value, "(", ")"); return;
  case VALUE_LIST: text_add_values(text, value, "[", "]"); return;
  case VALUE_RANGE:
    text_printf(text, "%lld..%lld", (long long)value.range.from, (long long)value.range.to);
    return;
  case VALUE_DTYPE: text_add(text, dtype_name(value.dtype)); return;
  case VALUE_QUANTITY:
    text_printf(text, "%g %s", value.quantity.number,
                value.quantity.is_epochs ? "epochs" : "steps");
    return;
  case VALUE_TENSOR: text_add_type(text, value.tensor.node->type); return;
  default: text_add(text, value_name(value) ? value_name(value) : kind_descriptions[value.kind]);
  }
}
