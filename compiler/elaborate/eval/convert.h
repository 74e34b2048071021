/* Values as what is wanted of them: nodes, numbers, shapes, axes. */
#ifndef NNC_ELABORATE_CONVERT_H
#define NNC_ELABORATE_CONVERT_H

#include "elaborate/core/value.h"

/* A value as a node of the current graph: tensors, numbers (as `dtype`), nested lists of numbers,
 * schedules, quantities. NULL after an error. */
Node *convert_tensor(Elaborator *e, Value value, DType dtype, Span at);
/* Of a host scalar: what it is computed from in a type that the host does not compute in; NULL: nothing. */
const Node *convert_find_foreign(Elaborator *e, Value value);
/* The same of an element of a list, where host scalars adapt as numbers do. */
Node *convert_element(Elaborator *e, Value value, DType dtype, Span at);
/* True, and reported, of several tensors under one name, which would be stacked unasked. */
bool convert_refuse_results(Elaborator *e, Value value, Span at);
/* The same where a tensor keeps its own type; numbers become the default float, i32 or bool. */
Node *convert_any_tensor(Elaborator *e, Value value, Span at);
/* The dtype that a value becomes there. */
DType convert_own_dtype(Elaborator *e, Value value);
/* Whether it is a list of numbers, truth values and host scalars alone. */
bool convert_is_weak_list(Value value);
/* As the type of a variable: weak numbers and host scalars adapt, shapes broadcast. */
Node *convert_to_type(Elaborator *e, Value value, Type type, Span at, const char *what);
/* Whether a number is representable; else reports. */
bool convert_fits(Elaborator *e, Value number, DType dtype, Span at);
/* Quantities and schedules become what arithmetic knows. */
Value convert_plain(Elaborator *e, Value value, Span at);
/* Whether it is computed of options alone, so that it is one number in the whole run. */
bool convert_is_of_options(const Elaborator *e, Value value);
bool convert_int(Elaborator *e, Value value, Span at, const char *what, int64_t *result);
bool convert_number(Elaborator *e, Value value, Span at, const char *what, double *result);
/* A shape: an integer or a sequence of integers; `allow_negative` admits one -1. */
bool convert_shape(Elaborator *e, Value value, Span at, const char *what, bool allow_negative,
                   Shape *shape);
/* Axes in [0, rank), sorted and unique; none gives all. */
bool convert_axes(Elaborator *e, Value value, Span at, int rank, int *count, int64_t *axes);
bool convert_axis(Elaborator *e, Value value, Span at, int rank, int *axis);

#endif
