/* The report command, where the program has it: see report.h. */
#include "train/report.h"

#include "os/message.h"
#include "train/commands.h"

const struct nnc_report_writer *nnc_report_writer_of(const nnc_model *model, const char *wanted) {
  if (!model->report)
    nnc_error("%s: this program was made without its report; 'nnc --report-page %s' makes one that "
              "has it, for the runs of this one, too",
              wanted, model->file);
  return model->report;
}

int nnc_report_command(const nnc_options *options) {
  const struct nnc_report_writer *writer = nnc_report_writer_of(&nnc_the_model, "report");
  return writer ? writer->run(options) : NNC_EXIT_USAGE;
}
