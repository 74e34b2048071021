/* einsum: up to six operands, by diagonals, sums, a contraction for each operand, and a transpose.
 *
 * The axes that "..." stands for have letters of their own, the characters 1, 2, ... from the last
 * axis on, so that operands of different ranks are aligned at it. */
#include <string.h>
#include "elaborate/builtins/builtins.h"
#include "elaborate/core/emit.h"
#include "elaborate/core/report.h"
#include "elaborate/eval/convert.h"
#include "elaborate/eval/operate.h"

enum { MAX_OPERANDS = 6, ELLIPSIS = '.' };

/* A tensor whose axes have letters. */
typedef struct Lettered {
  Node *node;
  char letters[MAX_RANK + 2]; /* with a place for ELLIPSIS until it is written out */
} Lettered;

static bool has_letter(const char *letters, char letter) { return strchr(letters, letter) != NULL; }

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static bool fail(Elaborator *e, const Bound *bound, const char *why) {
  return diag_help(
      report_error(e, bound->spans[0], "the formula \"%s\" %s", bound->values[0].string, why),
      "a formula reads \"ij,jk->ik\": a letter for each axis");
}

static bool add_letter(Elaborator *e, const Bound *bound, char *part, char letter, bool in_result) {
  size_t length = strlen(part);
  if (length == MAX_RANK + (size_t)has_letter(part, ELLIPSIS))
    return fail(e, bound, "has too many letters for one tensor");
  if (has_letter(part, letter) && letter == ELLIPSIS)
    return fail(e, bound, "repeats \"...\" in one tensor");
  if (has_letter(part, letter) && in_result)
    return fail(e, bound, "repeats a letter in the result");
  part[length] = letter;
  part[length + 1] = 0;
  return true;
}

/* "bm,bnm->bn" into its parts; spaces are ignored. */
static bool parse_formula(Elaborator *e, const Bound *bound, int count, Lettered *operands,
                          char *result) {
  char *part = operands[0].letters;
  int operand = 0;
  bool in_result = false;
  for (const char *at = bound->values[0].string; *at; at++) {
    if (*at == ' ') continue;
    if (*at == ',' && !in_result && operand + 1 < count) {
      part = operands[++operand].letters;
    } else if (at[0] == '-' && at[1] == '>' && !in_result) {
      at++;
      part = result;
      in_result = true;
    } else if (is_letter(*at) || strncmp(at, "...", 3) == 0) {
      if (!add_letter(e, bound, part, *at, in_result)) return false;
      if (*at == ELLIPSIS) at += 2;
    } else {
      return fail(e, bound,
                  *at == ',' ? "has more parts than there are tensors"
                             : "has a character that is no letter");
    }
  }
  if (!in_result) return fail(e, bound, "lacks \"->\" and the letters of the result");
  if (operand + 1 < count) return fail(e, bound, "has fewer parts than there are tensors");
  return true;
}

/* "..." as so many axes. */
static void write_out(char *letters, int axes) {
  char *at = strchr(letters, ELLIPSIS);
  if (!at) return;
  memmove(at + axes, at + 1, strlen(at));
  for (int i = 0; i < axes; i++) at[i] = (char)(axes - i);
}

static bool write_out_all(Elaborator *e, const Bound *bound, int count, Lettered *operands,
                          char *result) {
  int most = 0;
  for (int i = 0; i < count; i++) {
    Node *node = operands[i].node;
    bool is_open = has_letter(operands[i].letters, ELLIPSIS);
    int named = (int)strlen(operands[i].letters) - is_open;
    int more = node->type.shape.rank - named;
    if (is_open ? more < 0 : more != 0)
      return report_note_tensor(e,
                                report_error(e, bound->spans[i + 1],
                                             "the formula names %d axes, found %s", named,
                                             type_text(e->arena, node->type)),
                                "the tensor", node);
    write_out(operands[i].letters, more);
    if (more > most) most = more;
  }
  if (has_letter(result, ELLIPSIS) && strlen(result) - 1 + (size_t)most > MAX_RANK)
    return fail(e, bound, "has too many axes in the result");
  write_out(result, most);
  return true;
}

static bool report_extents(Elaborator *e, const Bound *bound, int count, const Lettered *operands,
                           char letter, const int64_t extents[2]) {
  const char *what =
      is_letter(letter) ? arena_printf(e->arena, "the letter '%c'", letter) : "an axis of \"...\"";
  Diagnostic *d = report_error(e, bound->call, "%s stands for %lld and for %lld", what,
                               (long long)extents[0], (long long)extents[1]);
  for (int o = 0; o < count; o++)
    report_note_tensor(e, d, arena_printf(e->arena, "tensor %d", o + 1), operands[o].node);
  return false;
}

/* Extents agree with the letters; axes of "..." may also have the extent 1, as in broadcasting. */
static bool find_extents(Elaborator *e, const Bound *bound, int count, const Lettered *operands,
                         const char *result, int64_t *extent) {
  for (int i = 0; i < 128; i++) extent[i] = -1;
  for (int i = 0; i < count; i++)
    for (int k = 0; operands[i].letters[k]; k++) {
      char letter = operands[i].letters[k];
      int64_t *known = &extent[(int)letter], found = operands[i].node->type.shape.dim[k];
      if (!is_letter(letter) && found == 1 && *known >= 0) continue;
      if (*known >= 0 && *known != found && (is_letter(letter) || *known != 1))
        return report_extents(e, bound, count, operands, letter, (int64_t[]){*known, found});
      *known = found;
    }
  for (const char *at = result; *at; at++)
    if (extent[(int)*at] < 0)
      return fail(e, bound, "has a letter in the result that no tensor has");
  return true;
}

static void remove_letter(Lettered *x, int at) {
  memmove(x->letters + at, x->letters + at + 1, strlen(x->letters + at));
}

/* Axes of "..." that repeat vanish: the product with the others broadcasts them. */
static void drop_repeated(Elaborator *e, Lettered *x, const int64_t *extent) {
  Shape shape = x->node->type.shape;
  for (int i = shape.rank - 1; i >= 0; i--) {
    if (is_letter(x->letters[i]) || shape.dim[i] == extent[(int)x->letters[i]]) continue;
    remove_letter(x, i);
    for (int k = i; k + 1 < shape.rank; k++) shape.dim[k] = shape.dim[k + 1];
    shape.dim[--shape.rank] = 0;
  }
  x->node = emit_reshape(e, x->node, shape);
}

/* A letter twice: what lies off the diagonal becomes 0, and one of the axes is summed. */
static bool take_diagonals(Elaborator *e, Lettered *x) {
  for (int i = 0; x->letters[i]; i++) {
    const char *again = strchr(x->letters + i + 1, x->letters[i]);
    if (!again) continue;
    int64_t axes[] = {i, again - x->letters};
    bool is_wide = x->node->type.shape.dim[i] > INT32_MAX;
    Type type = type_make(is_wide ? DTYPE_I64 : DTYPE_I32, x->node->type.shape);
    Node *index[] = {emit_iota(e, type, i), emit_iota(e, type, (int)axes[1])};
    Node *off = emit_constant(e, 0, x->node->type);
    Node *operands[] = {emit_binary(e, OP_EQ, index[0], index[1]), x->node, off};
    x->node = emit_node(e, OP_WHERE, 3, operands, 0, NULL);
    x->node = emit_reduce(e, OP_REDUCE_SUM, x->node, 1, &axes[1]);
    if (!x->node) return false;
    remove_letter(x, (int)axes[1]);
    i--; /* a letter may stand there three times */
  }
  return true;
}

/* Sums over the letters that nothing else wants. */
static bool sum_unwanted(Elaborator *e, Lettered *x, const char *wanted) {
  int64_t axes[MAX_RANK];
  int count = 0, kept = 0;
  char letters[MAX_RANK + 2] = "";
  for (int i = 0; x->letters[i]; i++) {
    if (has_letter(wanted, x->letters[i])) letters[kept++] = x->letters[i];
    else axes[count++] = i;
  }
  letters[kept] = 0;
  x->node = emit_reduce(e, OP_REDUCE_SUM, x->node, count, axes);
  memcpy(x->letters, letters, sizeof letters);
  return x->node != NULL;
}

/* a with b: letters of both are paired, summed where `wanted` lacks them. */
static bool contract(Elaborator *e, Lettered *a, const Lettered *b, const char *wanted) {
  int64_t axes[4][MAX_RANK]; /* batch left, batch right, sum left, sum right */
  int batch = 0, sum = 0, count = 0;
  char letters[2 * MAX_RANK + 1] = "";
  for (int i = 0; a->letters[i]; i++) {
    const char *other = strchr(b->letters, a->letters[i]);
    if (!other) continue;
    bool is_batch = has_letter(wanted, a->letters[i]);
    int *at = is_batch ? &batch : &sum;
    axes[is_batch ? 0 : 2][*at] = i;
    axes[is_batch ? 1 : 3][(*at)++] = other - b->letters;
    if (is_batch) letters[count++] = a->letters[i];
  }
  for (int i = 0; a->letters[i]; i++)
    if (!has_letter(b->letters, a->letters[i])) letters[count++] = a->letters[i];
  for (int i = 0; b->letters[i]; i++)
    if (!has_letter(a->letters, b->letters[i])) letters[count++] = b->letters[i];
  letters[count] = 0;
  if (count > MAX_RANK)
    return report_failure(e, e->at, "the product would have %d axes; the limit is %d", count,
                          MAX_RANK);
  Attribute attributes[] = {attr_make_ints(ATTR_BATCH_LEFT, batch, axes[0]),
                            attr_make_ints(ATTR_BATCH_RIGHT, batch, axes[1]),
                            attr_make_ints(ATTR_SUM_LEFT, sum, axes[2]),
                            attr_make_ints(ATTR_SUM_RIGHT, sum, axes[3])};
  a->node = emit_node(e, OP_CONTRACT, 2, (Node *[]){a->node, b->node}, 4, attributes);
  memcpy(a->letters, letters, (size_t)count + 1);
  return a->node != NULL;
}

/* Operand `last` and those before it are made i64 where i32 and i64 meet. */
static void widen_operands(Elaborator *e, Lettered *operands, int last) {
  for (int i = 0; i < last; i++)
    if (operands[i].node && operands[last].node)
      operate_widen(e, &operands[i].node, &operands[last].node);
}

static bool read_operands(Elaborator *e, const Bound *bound, int count, Lettered *operands) {
  for (int i = 0; i < count; i++) {
    Node *node = convert_any_tensor(e, bound->values[i + 1], bound->spans[i + 1]);
    if (!node) return false;
    operands[i].node = node;
    DType dtype = node->type.dtype;
    if (i > 0) widen_operands(e, operands, i);
    if (!operands[i].node || !operands[0].node) return false;
    dtype = operands[i].node->type.dtype;
    if (operate_has_product(dtype) && dtype == operands[0].node->type.dtype) continue;
    Diagnostic *d =
        report_error(e, bound->spans[i + 1], "'einsum' of %s", dtype_name(node->type.dtype));
    report_note_tensor(e, d, "the tensor", node);
    return diag_help(d, "all must be floats of one type, or of i32 and i64: f32(x) converts");
  }
  return true;
}

/* What the result and operands from `first` on, but `besides`, have. */
static void collect_wanted(char *wanted, const char *result, int first, int count, int besides,
                           const Lettered *operands) {
  strcpy(wanted, result);
  for (int k = first; k < count; k++)
    if (k != besides) strcat(wanted, operands[k].letters);
}

Value builtins_einsum(Elaborator *e, const Bound *bound) {
  Lettered operands[MAX_OPERANDS] = {0};
  char result[MAX_RANK + 2] = "", wanted[(MAX_OPERANDS + 1) * (MAX_RANK + 1) + 1];
  int64_t extent[128];
  int count = 1;
  while (count < MAX_OPERANDS && bound->given[count + 1]) count++;
  if (!read_operands(e, bound, count, operands) ||
      !parse_formula(e, bound, count, operands, result) ||
      !write_out_all(e, bound, count, operands, result) ||
      !find_extents(e, bound, count, operands, result, extent))
    return value_error();
  for (int i = 0; i < count; i++) {
    drop_repeated(e, &operands[i], extent);
    if (!operands[i].node || !take_diagonals(e, &operands[i])) return value_error();
  }
  for (int i = 0; i < count; i++) {
    collect_wanted(wanted, result, 0, count, i, operands);
    if (!sum_unwanted(e, &operands[i], wanted)) return value_error();
  }
  for (int i = 1; i < count; i++) {
    collect_wanted(wanted, result, i + 1, count, -1, operands);
    if (!contract(e, &operands[0], &operands[i], wanted)) return value_error();
  }
  int permutation[MAX_RANK];
  for (int i = 0; result[i]; i++)
    permutation[i] = (int)(strchr(operands[0].letters, result[i]) - operands[0].letters);
  return value_tensor(e, emit_transpose(e, operands[0].node, permutation));
}
