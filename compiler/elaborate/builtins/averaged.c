/* Layers like others: averaged(layer, average), see variables/follow.c, and evaluated(layer). */
#include "elaborate/builtins/builtins.h"
#include "elaborate/core/path.h"
#include "elaborate/core/report.h"
#include "elaborate/eval/call.h"

static Deferred *average_of(Elaborator *e, Value value, Span at) {
  Deferred *average;
  if (call_is_definer(e, value, AST_OPTIMIZER, at, &average)) return average;
  return report_wrong_kind(e, at, "how 'averaged' averages", "an average such as ema(0.999)",
                           value);
}

static Value apply_averaged(Elaborator *e, const Bound *bound) {
  Value followed = bound->values[0];
  if (followed.kind != VALUE_LAYER)
    return report_kind(e, bound->spans[0], "what is averaged", "a layer, made by a call with '_'",
                       followed);
  Layer *layer = ARENA_NEW(e->arena, Layer);
  *layer = *followed.layer;
  layer->followed = followed.layer;
  layer->average = average_of(e, bound->values[1], bound->spans[1]);
  layer->path = path_of_copy(e, bound->builtin->name);
  layer->span = bound->call;
  if (!layer->average) return value_error();
  Value value = {.kind = VALUE_LAYER};
  value.layer = layer;
  return value;
}

static Value apply_evaluated(Elaborator *e, const Bound *bound) {
  Value given = bound->values[0];
  if (given.kind != VALUE_LAYER)
    return report_kind(e, bound->spans[0], "what is evaluated", "a layer, made by a call with '_'",
                       given);
  Layer *layer = ARENA_NEW(e->arena, Layer);
  *layer = *given.layer;
  layer->is_evaluated = true;
  Value value = {.kind = VALUE_LAYER};
  value.layer = layer;
  return value;
}

const Builtin builtins_follow[] = {
    BUILTIN("moving averages", apply_averaged, 0, "averaged", "layer: any, average: any",
            "A layer like the given one, with moving averages of its parameters, which no "
            "gradient trains: a target network, a momentum encoder, a mean teacher. They begin as "
            "the parameters are when a run begins and move once a step, by an average as of train "
            "{ average = ... }. It has statistics of batch_norm of its own."
            " Example: online = linear(_, 8); y = online(x); target = averaged(online, "
            "ema(0.99)); loss = mse(y, target(x + 0.1))"),
    BUILTIN("evaluation in training", apply_evaluated, 0, "evaluated", "layer: any",
            "The given layer as evaluation computes it, also in the training step: `training` is "
            "false in its calls. So batch_norm uses its running statistics and leaves them, and "
            "dropout "
            "does nothing; parameters and states are the layer's. A gradient flows, unless "
            "stop_gradient says that none should: a frozen batch norm, a teacher."
            " Example: net = dropout(_, 0.5); y = net(x); z = evaluated(net)(x)"),
    {0},
};
