/* What the files about data blocks share. */
#ifndef NNC_ELABORATE_DATA_H
#define NNC_ELABORATE_DATA_H

#include "data/words.h"
#include "elaborate/core/elaborator.h"

/* A data block; then, once all are there, what can only be said of them together. */
void data_evaluate(Elaborator *e, const AstStmt *stmt);
void data_check(Elaborator *e);
/* Whether `data predict` feeds what the results read, once these are known. */
void data_check_predicted(Elaborator *e);

const DataSet *data_find_set(const Module *module, const char *name); /* NULL when there is none */

/* ---- lines (data_calls.c) ----------------------------------------------------------------- */

/* Evaluates `names = source | stage ...`; false after an error, then with the calls that are good,
 * none where the source is not. The stages are those of `first`, unless it is NULL. */
bool data_read_pipeline(Elaborator *e, const AstEntry *entry, const AstExpr *source,
                        const DataPipeline *first, DataPipeline *pipeline);
bool data_has_field(const DataPipeline *pipeline, const char *name);
/* The stage `match` behind a source that names files by a pattern; false after an error (data_match.c). */
bool data_add_match(Elaborator *e, DataPipeline *pipeline);
/* NULL when it is not given. */
const DataArgument *data_find_argument(const DataCall *call, const char *name);
double data_argument_number(const DataCall *call, const char *name, double fallback);
/* Whether the source has no rows of its own: those of the other lines are its rows. */
bool data_follows_rows(const DataCall *source);

/* ---- names of files (data_names.c) -------------------------------------------------------- */

/* Whether two names or patterns stand for the same files whatever there is; a name or pattern all of whose files both
 * stand for, NULL where the program does not tell of any. `has_ranges`: braces hold a range of numbers. */
bool data_same_name(const char *a, const char *b);
const char *data_shared_name(Arena *arena, const char *a, const char *b, bool has_ranges);

/* ---- lines with several sources (data_joint.c) --------------------------------------------- */

/* How many lines of one source each stand for the entry, and these. */
int data_count_parts(const AstEntry *entry);
void data_read_line(Elaborator *e, const AstEntry *entry, DataPipeline *parts);
/* The call that joins the line with others; NULL. */
const DataCall *data_joint_call(const DataPipeline *pipeline);
/* Whether the line's rows are those after the line's before it. */
bool data_follows_part(const DataSet *set, int line);
void data_check_joints(Elaborator *e, const DataSet *set);

/* ---- sources and the inputs that they feed (data_sources.c) ------------------------------- */

/* What a set may hold: `files` in predict alone and once, rows for those that follow them. */
void data_check_sources(Elaborator *e, const DataSet *set);
/* Calls `compare` with each line of a set whose first field `train` has a line for, and with that line. */
typedef void DataCompare(Elaborator *e, const DataPipeline *its, const DataPipeline *trained);
void data_compare_to_train(Elaborator *e, const DataSet *train, DataCompare *compare);
/* A field has one vocabulary in all sets. */
void data_check_vocabularies(Elaborator *e, const DataSet *train);
/* Pictures of a field are colours in all sets, or indices of palettes (data_shapes.c). */
void data_check_palettes(Elaborator *e, const DataSet *train);
/* Whether the values of `counter` and `constant` fit the inputs. */
void data_check_values(Elaborator *e, const DataSet *set);

/* ---- what the lines feed (data_fit.c, data_shapes.c) -------------------------------------- */

/* Bits of runtime/data/words.h. */
int data_gives(const char *source);
int data_acts_on(const char *stage);
/* Whether the stage acts on what the line's source gives. */
bool data_check_stage(Elaborator *e, const DataPipeline *pipeline, const DataCall *stage);
/* Whether the stage learns of fields; of one that does: does it name the field; does it name none? */
bool data_learns(const DataCall *stage);
bool data_call_names_field(const DataCall *call, const char *field);
bool data_call_is_nameless(const DataCall *call);
/* The line of the set that has the field; NULL. */
const DataPipeline *data_find_pipeline(const DataSet *set, const char *field);
/* A stage that learns says in another set again what `data train` says of the field. */
void data_check_repeated(Elaborator *e, const DataSet *train, const DataCall *call,
                         const char *field);
/* The next split, fold or shuffle from call *at on, which moves; NULL: there is none. */
const DataCall *data_next_choice(const DataPipeline *pipeline, int *at);
bool data_same_choice(const DataCall *a, const DataCall *b);
/* Everything about all sets; `train` may be NULL. */
void data_check_fit(Elaborator *e, const DataSet *train);
/* Stages that look at a field to choose rows, or to say how often they are read (data_choice.c). */
void data_check_choices(Elaborator *e, const DataSet *set);
/* Rows of one source that are in two sets (data_overlap.c). */
void data_check_overlap(Elaborator *e);
/* Names the fields of each `standardize` that names none, once the train block is evaluated
 * (data_features.c). */
void data_name_features(Elaborator *e);
/* What `unstandardize` wants of `data train`: a stage `standardize` that names the field (data_units.c). */
void data_check_units(Elaborator *e);
/* The field whose scores a variable of the kind VARIABLE_FITTED gives back. */
const char *data_field_of_scores(Elaborator *e, const Variable *scores);
/* When all entries are there: that training reads the fields of which stages must learn (data_learnt.c). */
void data_check_learnt(Elaborator *e);
/* The rows of a window in an example of the field; 0: a row is an example. */
int64_t data_window_rows(const DataPipeline *pipeline, int field);
/* The shape that the line's source gives for the input: without the axis of classes that `one_hot` makes
 * (data_mix.c). */
Shape data_stored_shape(const DataPipeline *pipeline, const InputInfo *input);
/* one_hot, mixup and cutmix of a line. */
void data_check_mixtures(Elaborator *e, const DataSet *set, const DataPipeline *pipeline);
/* Boxes of a line (data_boxes.c). */
void data_check_boxes(Elaborator *e, const DataSet *train, const DataSet *set,
                      const DataPipeline *pipeline);
/* Masks that go with the pictures of another line: the stages of these instead of `with`, once all lines of the set are
 * read; and whether both inputs are of one size (data_with.c). */
void data_expand_with(Elaborator *e, DataSet *set);
void data_check_with(Elaborator *e, const DataSet *set, const DataPipeline *pipeline);
/* The first stage that changes pictures; NULL. */
const DataCall *data_picture_stage(const DataPipeline *pipeline);
/* Whether the line's first field is pictures. */
bool data_first_is_picture(const DataPipeline *pipeline);
/* A line whose source is known, against its inputs. */
void data_check_shapes(Elaborator *e, const DataPipeline *pipeline);

#endif
