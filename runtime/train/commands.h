/* The commands of a generated program, but for those of profile/; each returns an nnc_exit. */
#ifndef NNC_COMMANDS_H
#define NNC_COMMANDS_H

#include "core/options.h"

int nnc_train_command(const nnc_options *options);
int nnc_sweep_command(const nnc_options *options);
int nnc_eval_command(const nnc_options *options);
int nnc_predict_command(const nnc_options *options);
int nnc_info_command(const nnc_options *options);
int nnc_report_command(const nnc_options *options);
int nnc_export_command(const nnc_options *options);
int nnc_step_command(const nnc_options *options);

#endif
