/* The generate command: a text, token by token, each drawn by what the network says of those before it.
 *
 *     OUT generate --prompt TEXT [--length N --temperature T --top-k K --top-p P --seed S --stop TEXT]
 *
 * The network reads the last `length` tokens that there are, where fewer than that are, from its first place on.
 * Token t, from 0, is drawn so, in double: the logits are divided by T, and classes sorted by them, the greatest first,
 * equal ones by their number; the first K stay, their softmax gives probabilities, and the first of them stay
 * whose sum reaches P, at least one. The token is the first class at which the sum of probabilities exceeds u times the
 * sum of all that stayed, where u is the upper 53 bits of output t + 1 of SplitMix64 from the seed. With T = 0 it is the
 * first class of the greatest logit. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/feed.h"
#include "core/number.h"
#include "core/options.h"
#include "core/session.h"
#include "nnc_random.h"
#include "os/message.h"
#include "os/printable.h"
#include "os/stop.h"
#include "train/checkpoint.h"
#include "train/vocabulary.h"

typedef struct Choice {
  double logit, probability;
  int64_t class;
} Choice;

typedef struct Writer {
  nnc_session *session;
  const nnc_options *options;
  const nnc_entry *entry;
  nnc_vocabulary vocabulary;
  int64_t *tokens; /* the prompt, then what was written */
  int64_t count, places, classes;
  char *logits;    /* as the entry gives them */
  Choice *choices; /* [classes] */
  char *held;      /* what may be the beginning of --stop: not shown yet */
  size_t held_length;
} Writer;

/* ---- the network ---- */

/* Of what the network reads: tokens [first, first + known), then `filler`. */
static void write_tokens(Writer *writer, int64_t filler) {
  const nnc_tensor *input = &writer->entry->inputs[0];
  int64_t known = writer->count < writer->places ? writer->count : writer->places;
  char *to = nnc_device_begin_write(writer->session->device, input);
  for (int64_t i = 0; i < writer->places; i++) {
    int64_t token = i < known ? writer->tokens[writer->count - known + i] : filler;
    if (input->dtype == NNC_I64) ((int64_t *)(void *)to)[i] = token;
    else if (input->dtype == NNC_I32) ((int32_t *)(void *)to)[i] = (int32_t)token;
    else ((uint8_t *)to)[i] = (uint8_t)token;
  }
  nnc_device_end_write(writer->session->device, input);
}

/* The logits of what follows the last token, to the choices. False after a message: one is no number. */
static bool run(Writer *writer, int64_t filler) {
  const nnc_tensor *result = &writer->entry->results[0];
  int64_t known = writer->count < writer->places ? writer->count : writer->places;
  int64_t first = result->rank == 3 ? (known - 1) * writer->classes : 0;
  write_tokens(writer, filler);
  nnc_session_run(writer->session, writer->entry, 0, 0);
  nnc_device_read(writer->session->device, result, first, writer->classes, writer->logits);
  for (int64_t i = 0; i < writer->classes; i++) {
    double logit = nnc_number_get(result->dtype, writer->logits, i);
    writer->choices[i] = (Choice){.logit = logit, .class = i};
    if (!isnan(logit) && logit != INFINITY) continue;
    nnc_error("the logit of token %lld is %g after %lld tokens", (long long)i,
              nnc_number_told(logit), (long long)writer->count);
    return false;
  }
  return true;
}

/* Whether the places after the last token change what follows it: then the network looks ahead. */
static bool looks_ahead(Writer *writer) {
  double *before = malloc((size_t)writer->classes * sizeof *before);
  int64_t others = writer->vocabulary.count > 0 ? writer->vocabulary.count : writer->classes;
  bool differs = false;
  if (!before || !run(writer, 0)) {
    free(before);
    return true;
  }
  for (int64_t i = 0; i < writer->classes; i++) before[i] = writer->choices[i].logit;
  bool good = run(writer, others - 1);
  for (int64_t i = 0; good && i < writer->classes; i++)
    differs = differs || before[i] != writer->choices[i].logit;
  free(before);
  if (differs)
    nnc_error("what follows the prompt depends on the places after it: the network looks ahead, "
              "and needs a prompt of "
              "%lld tokens",
              (long long)writer->places);
  return differs || !good;
}

/* ---- drawing ---- */

static int compare_choices(const void *a, const void *b) {
  const Choice *x = a, *y = b;
  if (x->logit != y->logit) return x->logit > y->logit ? -1 : 1;
  return (x->class > y->class) - (x->class < y->class);
}

/* Output `number`, from 0, of SplitMix64 (Steele, Lea, Flood 2014) from the seed, in [0, 1). */
static double uniform(uint64_t seed, uint64_t number) {
  return (double)(nnc_philox_key(seed + number * 0x9E3779B97F4A7C15u, 0) >> 11) * 0x1p-53;
}

/* The class of token `number` that is written. */
static int64_t draw(const Writer *writer, int64_t number) {
  const nnc_options *options = writer->options;
  Choice *choices = writer->choices;
  int64_t kept = writer->classes;
  double sum = 0, wanted, reached = 0;
  qsort(choices, (size_t)kept, sizeof *choices, compare_choices);
  if (options->temperature == 0) return choices[0].class;
  if (options->top_k > 0 && options->top_k < kept) kept = options->top_k;
  for (int64_t i = 0; i < kept; i++) {
    choices[i].probability = exp((choices[i].logit - choices[0].logit) / options->temperature);
    sum += choices[i].probability;
  }
  wanted = options->top_p * sum;
  for (int64_t i = 0; i < kept; i++) {
    reached += choices[i].probability;
    if (options->top_p < 1 && reached >= wanted) kept = i + 1;
  }
  wanted = uniform(writer->session->seed, (uint64_t)number) * reached;
  reached = 0;
  for (int64_t i = 0; i < kept; i++) {
    reached += choices[i].probability;
    if (reached > wanted) return choices[i].class;
  }
  return choices[kept - 1].class;
}

/* ---- what is shown ---- */

/* Shows what is held but for its last `kept` bytes. */
static bool show(Writer *writer, size_t kept) {
  size_t shown = writer->held_length - kept;
  bool good = fwrite(writer->held, 1, shown, stdout) == shown && fflush(stdout) == 0;
  memmove(writer->held, writer->held + shown, kept);
  writer->held_length = kept;
  if (!good) nnc_error_system("write", "the text");
  return good;
}

/* How many bytes at the end of what is held may be the beginning of --stop. */
static size_t begun(const Writer *writer, const char *stop) {
  size_t length = strlen(stop), most = writer->held_length;
  for (size_t n = most < length ? most : length - 1; n > 0; n--)
    if (memcmp(writer->held + writer->held_length - n, stop, n) == 0) return n;
  return 0;
}

/* Takes a token's text; *ends: --stop is in it, and what is before that was shown. False after a message. */
static bool put(Writer *writer, const char *text, size_t length, bool *ends) {
  const char *stop = writer->options->stop;
  char *held = realloc(writer->held, writer->held_length + length + 1);
  if (!held) {
    nnc_error("cannot allocate %zu bytes of text", writer->held_length + length);
    return false;
  }
  writer->held = held;
  memcpy(held + writer->held_length, text, length);
  writer->held_length += length;
  if (!stop || !*stop) return show(writer, 0);
  const char *found = memmem(held, writer->held_length, stop, strlen(stop));
  if (!found) return show(writer, begun(writer, stop));
  *ends = true;
  writer->held_length = (size_t)(found - held);
  return show(writer, 0);
}

/* ---- the command ---- */

static bool write_text(Writer *writer) {
  bool ends = false, is_line_end = false;
  for (int64_t number = 0; number < writer->options->length && !ends; number++) {
    char text[NNC_VOCABULARY_TEXT];
    size_t length;
    if (nnc_stop_requested()) break;
    if (!run(writer, 0)) return false;
    int64_t token = draw(writer, number);
    const char *word = nnc_vocabulary_text(&writer->vocabulary, token, text, &length);
    writer->tokens[writer->count++] = token;
    if (!word) {
      nnc_error("the network has %lld classes, but the vocabulary %lld: there is no token %lld",
                (long long)writer->classes, (long long)writer->vocabulary.count, (long long)token);
      return false;
    }
    bool is_apart = number > 0 && *word != '\n' && !is_line_end;
    if (is_apart && nnc_vocabulary_has_blanks(&writer->vocabulary) && !put(writer, " ", 1, &ends))
      return false;
    is_line_end = *word == '\n';
    if (!ends && !put(writer, word, length, &ends)) return false;
  }
  if (!ends && !show(writer, 0)) return false;
  if (fputc('\n', stdout) != EOF && fflush(stdout) == 0) return true;
  nnc_error_system("write", "the text");
  return false;
}

static bool open_writer(Writer *writer) {
  const nnc_tensor *input = &writer->entry->inputs[0], *result = &writer->entry->results[0];
  const char *prompt = writer->options->prompt ? writer->options->prompt : "\n";
  writer->places = input->dim[1];
  writer->classes = result->dim[result->rank - 1];
  if (!nnc_vocabulary_open(&writer->vocabulary, writer->session, input->name)) return false;
  writer->tokens =
      nnc_vocabulary_read(&writer->vocabulary, prompt, writer->options->length, &writer->count);
  writer->logits = malloc((size_t)writer->classes * 8);
  writer->choices = calloc((size_t)writer->classes, sizeof *writer->choices);
  if (!writer->tokens) return false;
  if (!writer->logits || !writer->choices) {
    nnc_error("cannot allocate %lld logits", (long long)writer->classes);
    return false;
  }
  int64_t limit = writer->entry->input_limits ? writer->entry->input_limits[0] : 0;
  for (int64_t i = 0; i < writer->count; i++)
    if (limit > 0 && writer->tokens[i] >= limit) {
      nnc_error("--prompt: token %lld is not below %lld, as the network takes it",
                (long long)writer->tokens[i], (long long)limit);
      return false;
    }
  if (writer->count == 0) {
    nnc_error("--prompt has no token to go on from");
    return false;
  }
  if (writer->count >= writer->places) return true;
  if (result->rank == 2) {
    nnc_error("--prompt has %lld tokens, but the network says what follows %lld of them",
              (long long)writer->count, (long long)writer->places);
    return false;
  }
  return !looks_ahead(writer);
}

static void close_writer(Writer *writer) {
  nnc_vocabulary_close(&writer->vocabulary);
  free(writer->tokens);
  free(writer->logits);
  free(writer->choices);
  free(writer->held);
}

static bool generate(nnc_session *session) {
  Writer writer = {
      .session = session, .options = session->options, .entry = &session->model->generate};
  nnc_position position;
  if (!nnc_stop_install() || !nnc_checkpoint_load(session, &position)) return false;
  nnc_session_host(session, position.step > 0 ? position.step : 1, position.epoch,
                   nnc_checkpoint_length(session->model, &position), position.steps_per_epoch);
  nnc_streams_start(session);
  bool good = open_writer(&writer) && write_text(&writer);
  close_writer(&writer);
  return good;
}

int nnc_generate_text(const nnc_options *options) {
  nnc_session session;
  if (options->top_p > 1) {
    nnc_error("--top-p: at most 1");
    return NNC_EXIT_USAGE;
  }
  if (!nnc_session_open(&session, options)) return NNC_EXIT_FAILURE;
  bool good = generate(&session);
  nnc_session_close(&session);
  return good ? NNC_EXIT_OK : NNC_EXIT_FAILURE;
}
