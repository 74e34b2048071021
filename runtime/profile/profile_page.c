/* A profile in the page about a run: by class, and the longest instances. */
#include "profile/profile.h"
#include "report/page.h"

enum { SHOWN = 12 };

/* A short step is told in microseconds. */
typedef struct Unit {
  double a_second;
  const char *name, *head;
} Unit;

static Unit unit_of(const nnc_profile_row *total) {
  return total->seconds < 1e-3 ? (Unit){1e6, "microseconds", ">microseconds"}
                               : (Unit){1e3, "milliseconds", ">ms"};
}

static void put_row(FILE *file, const nnc_profile_row *row, const nnc_profile_row *total,
                    bool is_instance) {
  double share = total->seconds > 0 ? row->seconds / total->seconds : 0;
  fputs("<tr>", file);
  nnc_page_cell(file, is_instance ? row->name : row->class_name);
  if (is_instance) nnc_page_cell(file, *row->operator_name ? row->operator_name : row->class_name);
  fprintf(file,
          "<td class=\"n\">%.4g</td><td class=\"n bar\" style=\"--v:%.4f\">%.1f %%</td>"
          "<td class=\"n\">%.4g</td><td class=\"n\">%.0f %%</td></tr>\n",
          row->seconds * unit_of(total).a_second, share, share * 100,
          row->seconds > 0 ? row->flops * 1e-9 / row->seconds : 0, nnc_profile_bound(row) * 100);
}

static void put_table(FILE *file, const nnc_profile_table *table, bool is_instance) {
  const char *const names[] = {"where",  "operator", unit_of(&table->total).head,
                               ">share", ">GFLOP/s", ">bound"};
  const char *const classes[] = {"class", names[2], names[3], names[4], names[5]};
  if (is_instance) nnc_page_head(file, "The longest", 6, names);
  else nnc_page_head(file, "By class", 5, classes);
  for (int i = 0; i < table->count && i < SHOWN; i++)
    put_row(file, &table->rows[i], &table->total, is_instance);
  fputs("</table></div>\n", file);
}

void nnc_profile_put_page(FILE *file, const nnc_profile *profile) {
  const nnc_profile_row *total = &profile->instances.total;
  nnc_page_section(file, "Time of a training step");
  fprintf(
      file,
      "<p>%.4g %s for %lld examples, measured when this page was made, on synthetic inputs, the "
      "mean of %lld steps. The bound is what the machine needs at best, as a share of what it "
      "took.</p>\n",
      total->seconds * unit_of(total).a_second, unit_of(total).name,
      (long long)(profile->session->model->train.batch * profile->trial.runs),
      (long long)profile->counted);
  put_table(file, &profile->classes, false);
  put_table(file, &profile->instances, true);
}
