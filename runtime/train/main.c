/* main() of every generated program: reads the command line and runs one command of the table. */
#include <stdio.h>
#include <stdlib.h>

#include "profile/bench.h"
#include "profile/profile.h"
#include "train/commands.h"
#include "core/level.h"
#include "os/message.h"
#include "nnc_model.h"
#include "os/printable.h"
#include "os/stop.h"

/* The first is the default. */
/* Only programs with the block have what writes. */
static int generate_text(const nnc_options *options) {
  if (nnc_the_model.generate_text) return nnc_the_model.generate_text(options);
  nnc_error("%s has no 'generate' block, which says what the next token is drawn by",
            nnc_the_model.file);
  return NNC_EXIT_FAILURE;
}

static const nnc_command commands[] = {
    {"train", NNC_TRAIN, "", 0, 0, "Train the model; results go to the --out folder.",
     nnc_train_command},
    {"sweep", NNC_SWEEP, "", 0, 0,
     "Train for each combination of listed values, --seed 0..3 --lr 1e-4,1e-3.", nnc_sweep_command},
    {"eval", NNC_EVAL, "[SET...]", 0, -1, "Print the metrics of a checkpoint over data sets.",
     nnc_eval_command},
    {"predict", NNC_PREDICT, "[FILE...|-]", 0, -1,
     "Print the predictions for each example of files.", nnc_predict_command},
    {"generate", NNC_GENERATE, "", 0, 0, "Write a text, token by token.", generate_text},
    {"report", NNC_REPORT, "", 0, 0,
     "Write one page of HTML about a run, in programs of nnc --report-page.", nnc_report_command},
    {"info", NNC_INFO, "", 0, 0, "Describe the model: variables, memory, work, data.",
     nnc_info_command},
    {"bench", NNC_BENCH, "", 0, 0, "Time training steps, or predictions; writes no file.",
     nnc_bench_command},
    {"profile", NNC_PROFILE, "", 0, 0, "Show where the time of training steps goes.",
     nnc_profile_command},
    {"export", NNC_EXPORT, "FILE", 1, 1, "Write parameters and states of a checkpoint to FILE.",
     nnc_export_command},
    {"step", NNC_STEP, "RESULT", 1, 1,
     "Take training steps on given inputs, to compare with others.", nnc_step_command},
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };
_Static_assert(COMMAND_COUNT == sizeof((const char *[]){NNC_COMMAND_NAMES}) / sizeof(char *),
               "core/flags.h lists the commands");

static void print_version(void) {
  const char *definitions = nnc_the_model.definitions;
  printf("%s (%s%s%s), compiled by %s for %s\n", nnc_printable(nnc_the_model.name),
         nnc_printable(nnc_the_model.file), definitions ? " " : "",
         definitions ? nnc_printable(definitions) : "", nnc_printable(nnc_the_model.compiler),
         nnc_the_model.isa);
}

int main(int argc, char **argv) {
  nnc_options options;
  nnc_message_program(argc > 0 ? argv[0] : "train");
  nnc_stop_never_for_size();
  int code = nnc_options_parse(&options, argc, argv, COMMAND_COUNT, commands);
  if (code != NNC_EXIT_OK) return code;
  code = nnc_level_choose(options.isa);
  if (code != NNC_EXIT_OK) return code;
  if (!options.help && !options.version) {
    nnc_message_quiet(options.quiet);
    return options.command->run(&options);
  }
  if (options.help) nnc_options_help(&options, argv[0], COMMAND_COUNT, commands);
  else print_version();
  if (fflush(stdout) == 0) return NNC_EXIT_OK;
  nnc_error_system("write", "the help");
  return NNC_EXIT_FAILURE;
}
