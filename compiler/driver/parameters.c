/* nnc check --parameters, and nnc diff-parameters OLD NEW: what a checkpoint of OLD, a program or the checkpoint itself, is
 * to NEW. The rules are those of --resume and --init (runtime/train/checkpoint.c, checkpoint_init.c). */
#include "driver/parameters.h"

#include <string.h>
#include "syntax/parse.h"

static const struct {
  const char *word, *one, *several;
} kinds[VARIABLE_KIND_COUNT] = {
    [VARIABLE_PARAM] = {"param", "parameter", "parameters"},
    [VARIABLE_STATE] = {"state", "state", "states"},
    [VARIABLE_STREAM] = {"stream", "stream", "streams"},
    [VARIABLE_OPTIMIZER] = {"optimizer", "state of the optimizer", "states of the optimizer"},
    [VARIABLE_FITTED] = {"fitted", "table of means and deviations",
                         "tables of means and deviations"},
};

/* ---- tables ---- */

Module *driver_elaborate(Arena *arena, const Options *options, Diagnostics *diagnostics,
                         const SourceFile *source, const Prelude *prelude, Rebindings *rebindings) {
  AstProgram *program = parse_program(arena, diagnostics, source);
  ElaborateOptions elaboration = {.definition_count = options->definitions.count,
                                  .definitions = driver_definitions(arena, options),
                                  .check_only = true,
                                  .prelude = prelude,
                                  .rebindings = rebindings};
  if (diagnostics_error_count(diagnostics) > 0) return NULL;
  return elaborate(arena, diagnostics, program, &elaboration);
}

Parameters parameters_of_module(Arena *arena, const char *file, const Module *module) {
  Parameters parameters = {.file = file};
  for (int i = 0; i < module->variables.count; i++) {
    const Variable *variable = &module->variables.items[i];
    vec_push(arena, &parameters.items,
             ((Parameter){.path = variable->path,
                          .kind = variable->kind,
                          .dtype = dtype_name(variable->type.dtype),
                          .shape = variable->type.shape,
                          .frozen = variable->frozen,
                          .has_file = variable->file != NULL}));
  }
  return parameters;
}

const char *parameter_type(Arena *arena, const Parameter *parameter) {
  return arena_printf(arena, "%s%s", parameter->dtype, shape_text(arena, parameter->shape));
}

static int path_width(const Parameters *parameters) {
  size_t width = 0;
  for (int i = 0; i < parameters->items.count; i++) {
    size_t length = strlen(parameters->items.items[i].path);
    if (length > width) width = length;
  }
  return (int)width;
}

void parameters_print(Text *text, Arena *arena, const Parameters *parameters) {
  int64_t counts[VARIABLE_KIND_COUNT] = {0}, elements[VARIABLE_KIND_COUNT] = {0};
  int width = path_width(parameters);
  for (int i = 0; i < parameters->items.count; i++) {
    const Parameter *parameter = &parameters->items.items[i];
    text_printf(text, "%-*s  %-9s  %s%s\n", width, parameter->path, kinds[parameter->kind].word,
                parameter_type(arena, parameter), parameter->frozen ? "  frozen" : "");
    counts[parameter->kind]++;
    elements[parameter->kind] += shape_elements(parameter->shape);
  }
  for (int kind = 0; kind < VARIABLE_KIND_COUNT; kind++) {
    if (counts[kind] == 0) continue;
    text_printf(text, "%lld %s: ", (long long)counts[kind],
                counts[kind] == 1 ? kinds[kind].one : kinds[kind].several);
    text_add_grouped(text, elements[kind]);
    text_add(text, elements[kind] == 1 ? " number\n" : " numbers\n");
  }
  rebindings_print(text, arena, &parameters->rebindings);
}

/* ---- side by side ---- */

static const Parameter *find(const Parameters *parameters, const char *path) {
  for (int i = 0; i < parameters->items.count; i++)
    if (strcmp(parameters->items.items[i].path, path) == 0) return &parameters->items.items[i];
  return NULL;
}

static bool is_float(const Parameter *parameter) {
  return *parameter->dtype == 'f' || strcmp(parameter->dtype, "bf16") == 0;
}

/* Whether --init takes the one for the other; numbers are converted between types of one sort. */
static bool is_taken(const Parameter *old, const Parameter *new) {
  return shape_equal(old->shape, new->shape) && is_float(old) == is_float(new);
}

static bool is_same(const Parameter *old, const Parameter *new) {
  return shape_equal(old->shape, new->shape) && strcmp(old->dtype, new->dtype) == 0;
}

/* What --init reads: parameters and states, not what belongs to a run. */
static bool is_weight(const Parameter *parameter) {
  return parameter->kind == VARIABLE_PARAM || parameter->kind == VARIABLE_STATE;
}

/* What standardize learnt is no tensor of a checkpoint: --resume and --init want none. */
static bool is_kept(const Parameter *parameter) { return parameter->kind != VARIABLE_FITTED; }

/* The path up to its last element: variables of one layer are loaded together or not at all; 0 at the top level, where each
 * is by itself. */
static size_t layer_length(const char *path) {
  const char *point = strrchr(path, '.');
  return point ? (size_t)(point - path) : 0;
}

static bool same_layer(const Parameter *a, const Parameter *b) {
  size_t length = layer_length(a->path);
  if (length == 0) return strcmp(a->path, b->path) == 0;
  return length == layer_length(b->path) && strncmp(a->path, b->path, length) == 0;
}

/* What --init takes for it: that of its path, or for an average that is not there, "w:average", the parameter "w". */
static const Parameter *find_start(Arena *arena, const Parameters *old, const char *path) {
  static const char end[] = ":average";
  size_t length = strlen(path), tail = sizeof end - 1;
  const Parameter *found = find(old, path);
  if (found || length <= tail || strcmp(path + length - tail, end) != 0) return found;
  return find(old, arena_printf(arena, "%.*s", (int)(length - tail), path));
}

/* Whether --init loads it: it fits, and so does all else of its layer. */
static bool is_loaded(Arena *arena, const Parameters *old, const Parameters *new,
                      const Parameter *parameter) {
  for (int i = 0; i < new->items.count; i++) {
    const Parameter *other = &new->items.items[i];
    if (!is_weight(other) || !same_layer(parameter, other)) continue;
    const Parameter *found = find_start(arena, old, other->path);
    if (!found || !is_taken(found, other)) return false;
  }
  return true;
}

static const char *last_element(const char *path) {
  const char *point = strrchr(path, '.');
  return point ? point + 1 : path;
}

/* The only path of `among` that `others` lacks and that has this type, kind and last element: this one under
 * another name, perhaps; NULL: none, or several. */
static const Parameter *renamed(const Parameters *among, const Parameters *others,
                                const Parameter *parameter) {
  const Parameter *only = NULL;
  for (int i = 0; i < among->items.count; i++) {
    const Parameter *other = &among->items.items[i];
    if (find(others, other->path) || !is_same(other, parameter) ||
        is_weight(other) != is_weight(parameter) ||
        strcmp(last_element(other->path), last_element(parameter->path)) != 0)
      continue;
    if (only) return NULL;
    only = other;
  }
  return only;
}

typedef struct Difference {
  Arena *arena;
  Text *text;
  const Parameters *old, *new;
  int width;
  int alike, lost, added, unfit, converted, loaded, begun, weights;
  const Parameter *unset; /* frozen, and --init would leave it as it begins; NULL: none */
  int of_optimizer;       /* lines about it: they are counted, not written */
} Difference;

static void put(Difference *difference, char sign, const Parameter *parameter, const char *what) {
  if (parameter->kind == VARIABLE_OPTIMIZER) {
    difference->of_optimizer++;
    return;
  }
  text_printf(difference->text, "%c %-*s  %-6s  %s%s\n", sign, difference->width, parameter->path,
              sign == '-' && difference->old->is_checkpoint ? "tensor"
                                                            : kinds[parameter->kind].word,
              parameter_type(difference->arena, parameter), what);
}

static void put_lost(Difference *difference, const Parameter *parameter) {
  const Parameter *other = renamed(difference->new, difference->old, parameter);
  difference->lost++;
  put(difference, '-', parameter,
      other ? arena_printf(difference->arena, "  (renamed %s?)", other->path) : "");
}

static void put_new(Difference *difference, const Parameter *parameter) {
  const Parameter *found = find(difference->old, parameter->path);
  bool is_loaded_now = is_weight(parameter) &&
                       is_loaded(difference->arena, difference->old, difference->new, parameter);
  const char *rest =
      is_loaded_now || !found || !is_weight(parameter) ? "" : "; its layer begins anew";
  difference->weights += is_weight(parameter);
  difference->loaded += is_loaded_now && found;
  difference->begun += is_loaded_now && !found;
  if (is_weight(parameter) && parameter->frozen && !parameter->has_file && !is_loaded_now &&
      !difference->unset)
    difference->unset = parameter;
  if (!found) {
    difference->added++;
    put(difference, '+', parameter, "");
  } else if (is_same(found, parameter)) {
    difference->alike++;
    if (*rest) put(difference, '~', parameter, "  fits, but its layer does not: it begins anew");
  } else {
    difference->unfit += !is_taken(found, parameter);
    difference->converted += is_taken(found, parameter);
    put(difference, '~', parameter,
        arena_printf(difference->arena, "  was %s: %s%s", parameter_type(difference->arena, found),
                     is_taken(found, parameter) ? "converted" : "does not fit", rest));
  }
}

static void put_summary(const Difference *difference) {
  Text *text = difference->text;
  if (difference->of_optimizer > 0)
    text_printf(text, "%d state%s of the optimizer differ%s\n", difference->of_optimizer,
                difference->of_optimizer == 1 ? "" : "s", difference->of_optimizer == 1 ? "s" : "");
  text_printf(text, "%d alike, %d lost, %d new, %d of another type, %d that do not fit\n",
              difference->alike, difference->lost, difference->added, difference->converted,
              difference->unfit);
  bool is_equal =
      difference->lost + difference->added + difference->converted + difference->unfit == 0;
  text_printf(text, "--resume: %s\n", is_equal ? "goes on" : "refuses it");
  if (difference->loaded == 0) text_add(text, "--init: refuses it: nothing fits\n");
  else if (difference->unset)
    text_printf(text, "--init: refuses it: %s is frozen, and it does not set it\n",
                difference->unset->path);
  else
    text_printf(text, "--init: loads %d of %d parameters and states%s\n", difference->loaded,
                difference->weights,
                difference->begun == 0
                    ? ""
                    : arena_printf(difference->arena, "; averages that begin with parameters: %d",
                                   difference->begun));
}

static int compare(Text *text, Arena *arena, const Parameters *old, const Parameters *new) {
  int width = path_width(old) > path_width(new) ? path_width(old) : path_width(new);
  Difference difference = {.arena = arena, .text = text, .old = old, .new = new, .width = width};
  for (int i = 0; i < old->items.count; i++)
    if (is_kept(&old->items.items[i]) && !find(new, old->items.items[i].path))
      put_lost(&difference, &old->items.items[i]);
  for (int i = 0; i < new->items.count; i++)
    if (is_kept(&new->items.items[i])) put_new(&difference, &new->items.items[i]);
  rebindings_compare(text, arena, old, new);
  put_summary(&difference);
  return difference.lost + difference.added + difference.converted + difference.unfit > 0
             ? EXIT_MISTAKES
             : 0;
}

static bool ends_with(const char *text, const char *end) {
  size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* The exit status. */
static int read_parameters(Arena *arena, const Options *options, const char *path,
                           Parameters *parameters) {
  if (ends_with(path, ".safetensors"))
    return parameters_of_checkpoint(arena, path, parameters) ? 0 : EXIT_MACHINE;
  SourceFile *source = driver_read(arena, path);
  if (!source) return EXIT_MACHINE;
  Diagnostics *diagnostics = diagnostics_create(arena);
  Rebindings rebindings = {0};
  Module *module = driver_elaborate(arena, options, diagnostics, source, NULL, &rebindings);
  if (driver_report(diagnostics, options) || !module) return EXIT_MISTAKES;
  *parameters = parameters_of_module(arena, path, module);
  parameters->rebindings = rebindings;
  return 0;
}

int command_diff_parameters(Arena *arena, const Options *options) {
  Parameters old = {0}, new = {0};
  Options plain = *options; /* -D is for NEW */
  InputFiles inputs = {0};
  Text text = {0};
  plain.definitions.count = 0;
  int status = read_parameters(arena, &plain, options->files.items[0], &old);
  if (status == 0) status = read_parameters(arena, options, options->files.items[1], &new);
  if (status != 0) return status;
  for (int i = 0; i < 2; i++)
    inputs_add(arena, &inputs, options->files.items[i], "a file that is compared");
  status = compare(&text, arena, &old, &new);
  if (!driver_write(arena, &inputs, options->output, MADE_TEXT, &text)) status = EXIT_MACHINE;
  text_free(&text);
  return status;
}
