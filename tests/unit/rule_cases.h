/* Golden pairs for the rules of simplify: a graph before and after.
 *
 * One node a line, in the textual form but shorter: `%0 = x` reads the input of that name (the
 * table below), `%1 : f32[3] = 2.0` is a constant.  A scan's line ends with '{', and its body, two
 * blanks in, is in full but for the paths.  The last node is the result.  The rule named
 * must fit some node of the first graph; the whole pass must turn the first into the second; NULL
 * there means that nothing may change, and then no rule is named. */
#ifndef NNC_TESTS_UNIT_RULE_CASES_H
#define NNC_TESTS_UNIT_RULE_CASES_H

typedef struct RuleInput {
  const char *name, *type;
} RuleInput;

static const RuleInput rule_inputs[] = {
    {"x", "f32[2, 3]"},       {"y", "f32[2, 3]"},    {"z", "f32[2, 3]"},
    {"d", "f64[2, 3]"},       {"i", "i32[2, 3]"},    {"j", "i32[2, 3]"},
    {"l", "i64[2, 3]"},       {"k", "u8[2, 3]"},     {"b", "bool[2, 3]"},
    {"c", "bool[2, 3]"},      {"s", "f32[]"},        {"t", "f32[]"},
    {"v", "f32[3]"},          {"u", "f32[1, 3]"},    {"w", "f32[2, 1, 3]"},
    {"h", "f16[4]"},          {"e", "f32[2, 3, 1]"}, {"q", "f32[2, 5, 4, 3]"},
    {"r", "f32[2, 5, 4, 3]"}, {"g", "f32[2, 3, 6]"}, {"o", "f32[2, 3, 6]"},
    {"m", "f32[2, 3, 3]"},    {"n", "f32[2, 6, 3]"},
};

typedef struct RuleCase {
  const char *rule;
  Op op; /* of the rule's line; OP_COUNT for any */
  const char *before, *after;
} RuleCase;

static const RuleCase rule_cases[] = {
#include "rule_cases_elementwise.inc"
#include "rule_cases_movement.inc"
#include "rule_cases_scan.inc"
#include "rule_cases_pool.inc"
};

#endif
