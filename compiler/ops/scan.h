/* The scan: a loop of the running program over a body graph.
 *
 * Operands are the carries' initial values, then sequences [length, ...], then invariants. The body
 * is a graph that reads operand `index` by an `argument` leaf: a carry's present value, the step's
 * element of a sequence, an invariant as it is. Its outputs are the carries' next values, then
 * what the step yields. It reads nothing else, so a body can be copied, differentiated and
 * written out anywhere; random numbers come as a sequence.
 *
 * The scan node itself is a token (f64[], the number of steps). Its results are `scan_result`
 * nodes: the final carries first, then each yield stacked to [length, ...]. With `reverse` the
 * steps run from the last element to the first; what step t yields still lies at t. */
#ifndef NNC_OPS_SCAN_H
#define NNC_OPS_SCAN_H

#include "ops/infer.h"
#include "ops/make.h"

typedef struct ScanShape {
  int carries, sequences;
  int64_t length;
  bool reverse;
  bool recomputes; /* of a step its gradient is given the carries alone; it stays a loop */
} ScanShape;

ScanShape scan_shape(const Node *scan);
bool scan_is_sequence(const ScanShape *shape, int operand);
/* Of results: final carries and yields. */
int scan_result_count(const Node *scan);
/* The type of operand `i` inside the body. */
Type scan_argument_type(const ScanShape *shape, const Node *operand, int i);
/* Clause of type rules (ops/infer.h): the arguments of a body, or of a rule, all of whose operands count as
 * carries, have the types of the operands. */
bool scan_infer_arguments(Inference *in, const ScanShape *shape);
Type scan_result_type(const ScanShape *shape, const Graph *body, int i);

Node *make_scan(const Maker *maker, const Graph *body, ScanShape shape, int operand_count,
                Node *const *operands);
enum { SCAN_SAVES_NOTHING = -1 };
/* One whose body yields from result `saved` on the carries' values before each step. */
Node *make_saving_scan(const Maker *maker, const Graph *body, ScanShape shape, int saved,
                       int operand_count, Node *const *operands);
Node *make_scan_result(const Maker *maker, Node *scan, int index);
Node *make_argument(const Maker *maker, Type type, int index);
/* The argument leaves of a body by their index; NULL where it does not read one. */
Node **scan_arguments(Arena *arena, const Graph *body, int operand_count);

#endif
