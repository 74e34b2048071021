/* Where nothing has been trained yet, messages name the command that trains first, to be copied into a shell. */
#include "train/train_command.h"

#include <stdio.h>
#include <string.h>

#include "core/session.h"
#include "core/setting.h"

/* A word as a shell takes it; "..." where there is no room. */
static void add_word(char text[NNC_COMMAND_BYTES], const char *word) {
  static const char plain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=:,+-@%";
  size_t used = strlen(text), at = 0;
  char quoted[NNC_COMMAND_BYTES];
  bool needs_quotes = !*word || word[strspn(word, plain)] != '\0';
  if (needs_quotes) quoted[at++] = '\'';
  for (const char *c = word; *c && at + 6 < sizeof quoted; c++) {
    if (*c == '\'') at += (size_t)snprintf(quoted + at, sizeof quoted - at, "'\\'");
    quoted[at++] = *c;
  }
  if (needs_quotes) quoted[at++] = '\'';
  quoted[at] = '\0';
  bool fits = used + at + 6 < NNC_COMMAND_BYTES && at + 6 < sizeof quoted;
  if (fits || used + 6 < NNC_COMMAND_BYTES)
    snprintf(text + used, NNC_COMMAND_BYTES - used, "%s%s", used ? " " : "", fits ? quoted : "...");
}

static void add_flag(char text[NNC_COMMAND_BYTES], const char *flag, const char *value) {
  if (!value) return;
  add_word(text, flag);
  add_word(text, value);
}

/* Of `--resume`, `-r`, with a file or without. */
static bool is_of_resume(const nnc_options *options, const char *word) {
  bool holds_file =
      options->resume && options->resume >= word && options->resume <= word + strlen(word);
  return holds_file || strcmp(word, "--resume") == 0 || strcmp(word, "-r") == 0;
}

const char *nnc_train_command_text(char text[NNC_COMMAND_BYTES], const nnc_options *options) {
  text[0] = '\0';
  if (options->command->bit == NNC_TRAIN) {
    for (int i = 0; i < options->word_count; i++)
      if (!is_of_resume(options, options->words[i])) add_word(text, options->words[i]);
    return text;
  }
  add_word(text, options->words[0]);
  add_flag(text, "--data", options->data);
  add_flag(text, "--out", options->out);
  for (int i = 0; i < nnc_the_model.option_count; i++) {
    char name[64], flag[80];
    snprintf(flag, sizeof flag, "--%s", nnc_setting_flag(i, name));
    add_flag(text, flag, options->setting_texts[i]);
  }
  return text;
}
