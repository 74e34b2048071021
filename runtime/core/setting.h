/* Settings: the values of the program's options, which its command line gives, or the checkpoint
 * that it goes on from, or by default the program itself. */
#ifndef NNC_SETTING_H
#define NNC_SETTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "core/flags.h"
#include "nnc_model.h"

typedef struct nnc_settings {
  double values[NNC_MAX_OPTIONS];
  bool given[NNC_MAX_OPTIONS]; /* by the command line */
} nnc_settings;

/* The defaults. */
void nnc_settings_start(nnc_settings *settings);

/* The option whose flag is "--NAME", with '-' or '_'; -1: none. */
int nnc_setting_find(const char *name, size_t length);
/* "weight-decay": the option's name as a flag. */
const char *nnc_setting_flag(int option, char buffer[64]);
/* A value as the command line gives it; false after a message. */
bool nnc_setting_read(int option, const char *text, double *value);
/* "a whole number from 1, such as 3" */
const char *nnc_setting_form(int option, char buffer[160]);
/* The shortest decimal that reads back as the same number. */
const char *nnc_setting_text(double value, char buffer[40]);

/* {"lr":0.001,"rounds":3}: what checkpoint and log hold. */
void nnc_settings_put(FILE *file, const nnc_settings *settings);
char *nnc_settings_format(const nnc_settings *settings); /* malloc'ed; NULL: no memory */

/* What a checkpoint holds becomes the value of every option that the command line does not give; where one is
 * another than its default, or than what is given, a note says so; a run that goes on keeps its rows. False after a
 * message. */
bool nnc_settings_recorded(nnc_settings *settings, const char *text, const char *path,
                           bool goes_on);

/* The keys of `train` that options give: nnc_the_model gets their values; and the data get theirs. */
void nnc_settings_apply(const nnc_settings *settings);
/* Whether the command line gives the seed by an option. */
bool nnc_settings_give_seed(const nnc_settings *settings);

#endif
