/* einsum: one, two or three operands, by sums, one contraction for each pair, and a transpose. */
#include <string.h>
#include "elaborate/elaborator.h"

enum { MAX_OPERANDS = 3 };

/* A tensor whose axes have letters. */
typedef struct Lettered {
  Node *node;
  char letters[MAX_RANK + 1];
} Lettered;

static bool has_letter(const char *letters, char letter) { return strchr(letters, letter) != NULL; }

static bool fail(Elaborator *e, const Bound *bound, const char *why) {
  Diagnostic *d = report_error(e, bound->spans[0], "the formula \"%s\" %s",
                               bound->values[0].string, why);
  diag_help(d, "a formula reads \"ij,jk->ik\": a letter for each axis");
  return false;
}

/* "bm,bnm->bn" into its parts; spaces are ignored. */
static bool parse_formula(Elaborator *e, const Bound *bound, int count, Lettered *operands,
                          char *result) {
  const char *at = bound->values[0].string;
  char *part = operands[0].letters;
  int operand = 0, length = 0;
  bool in_result = false;
  for (; *at; at++) {
    if (*at == ' ') continue;
    if (*at == ',' && !in_result && operand + 1 < count) {
      part = operands[++operand].letters;
      length = 0;
    } else if (at[0] == '-' && at[1] == '>' && !in_result) {
      at++;
      part = result;
      length = 0;
      in_result = true;
    } else if ((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z')) {
      if (length == MAX_RANK) return fail(e, bound, "has too many letters for one tensor");
      if (has_letter(part, *at)) return fail(e, bound, "repeats a letter in one tensor");
      part[length++] = *at;
    } else {
      return fail(e, bound, *at == ',' ? "has more parts than there are tensors"
                                       : "has a character that is no letter");
    }
  }
  if (!in_result) return fail(e, bound, "lacks \"->\" and the letters of the result");
  if (operand + 1 < count) return fail(e, bound, "has fewer parts than there are tensors");
  return true;
}

/* Ranks and extents agree with the letters. */
static bool check_extents(Elaborator *e, const Bound *bound, int count, const Lettered *operands,
                          const char *result) {
  int64_t extent[128] = {0};
  bool seen[128] = {false};
  for (int i = 0; i < count; i++) {
    Shape shape = operands[i].node->type.shape;
    if (shape.rank != (int)strlen(operands[i].letters)) {
      Diagnostic *d = report_error(e, bound->spans[i + 1], "the formula names %zu axes, found %s",
                                   strlen(operands[i].letters),
                                   type_text(e->arena, operands[i].node->type));
      report_note_tensor(e, d, "the tensor", operands[i].node);
      return false;
    }
    for (int k = 0; k < shape.rank; k++) {
      int letter = operands[i].letters[k];
      if (seen[letter] && extent[letter] != shape.dim[k]) {
        Diagnostic *d = report_error(e, bound->call, "the letter '%c' stands for %lld and for %lld",
                                     letter, (long long)extent[letter], (long long)shape.dim[k]);
        for (int o = 0; o < count; o++)
          report_note_tensor(e, d, arena_printf(e->arena, "tensor %d", o + 1), operands[o].node);
        return false;
      }
      seen[letter] = true;
      extent[letter] = shape.dim[k];
    }
  }
  for (const char *at = result; *at; at++)
    if (!seen[(int)*at]) return fail(e, bound, "has a letter in the result that no tensor has");
  return true;
}

/* Sums over the letters that nothing else wants. */
static bool sum_unwanted(Elaborator *e, Lettered *x, const char *wanted) {
  int64_t axes[MAX_RANK];
  int count = 0, kept = 0;
  char letters[MAX_RANK + 1] = "";
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
  if (count > MAX_RANK) {
    report_error(e, e->at, "the product would have %d axes; the limit is %d", count, MAX_RANK);
    return false;
  }
  Attribute attributes[] = {
    attr_make_ints(ATTR_BATCH_LEFT, batch, axes[0]),
    attr_make_ints(ATTR_BATCH_RIGHT, batch, axes[1]),
    attr_make_ints(ATTR_SUM_LEFT, sum, axes[2]),
    attr_make_ints(ATTR_SUM_RIGHT, sum, axes[3])};
  a->node = emit(e, OP_CONTRACT, 2, (Node *[]){a->node, b->node}, 4, attributes);
  memcpy(a->letters, letters, (size_t)count + 1);
  return a->node != NULL;
}

static bool read_operands(Elaborator *e, const Bound *bound, int count, Lettered *operands) {
  for (int i = 0; i < count; i++) {
    Node *node = convert_any_tensor(e, bound->values[i + 1], bound->spans[i + 1]);
    if (!node) return false;
    operands[i].node = node;
    DType dtype = node->type.dtype;
    if (dtype_is_float(dtype) && dtype == operands[0].node->type.dtype) continue;
    Diagnostic *d = report_error(e, bound->spans[i + 1], "'einsum' of %s",
                                 dtype_name(node->type.dtype));
    report_note_tensor(e, d, "the tensor", node);
    diag_help(d, "all must be of the same float type: f32(x) converts");
    return false;
  }
  return true;
}

Value builtin_einsum(Elaborator *e, const Bound *bound) {
  Lettered operands[MAX_OPERANDS] = {0};
  char result[MAX_RANK + 1] = "";
  int count = 1;
  while (count < MAX_OPERANDS && bound->given[count + 1]) count++;
  if (!read_operands(e, bound, count, operands) ||
      !parse_formula(e, bound, count, operands, result) ||
      !check_extents(e, bound, count, operands, result))
    return value_error();
  for (int i = 0; i < count; i++) {
    char wanted[(MAX_OPERANDS + 1) * MAX_RANK + 1] = "";
    strcat(wanted, result);
    for (int k = 0; k < count; k++)
      if (k != i) strcat(wanted, operands[k].letters);
    if (!sum_unwanted(e, &operands[i], wanted)) return value_error();
  }
  for (int i = 1; i < count; i++) {
    char wanted[(MAX_OPERANDS + 1) * MAX_RANK + 1] = "";
    strcat(wanted, result);
    for (int k = i + 1; k < count; k++) strcat(wanted, operands[k].letters);
    if (!contract(e, &operands[0], &operands[i], wanted)) return value_error();
  }
  int permutation[MAX_RANK];
  for (int i = 0; result[i]; i++)
    permutation[i] = (int)(strchr(operands[0].letters, result[i]) - operands[0].letters);
  return value_tensor(e, emit_transpose(e, operands[0].node, permutation));
}
