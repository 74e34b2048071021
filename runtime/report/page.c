/* Pieces of an HTML page: see page.h. */
#include "report/page.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "os/printable.h"
#include "report/style.h"

void nnc_page_text(FILE *file, const char *text) {
  static const char special[] = "&<>\"'";
  static const char *const escapes[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
  for (const char *end = text + strlen(text); text < end;) {
    int bytes = nnc_utf8_length(text, end);
    const char *place = strchr(special, *text);
    bool is_space = *text == '\n' || *text == '\t';
    if (place) fputs(escapes[place - special], file);
    else if (bytes == 0 || (!is_space && nnc_is_control(nnc_utf8_decode(text, bytes))))
      fputs("\xEF\xBF\xBD", file);
    else fwrite(text, 1, (size_t)bytes, file);
    text += bytes ? bytes : 1;
  }
}

void nnc_page_begin(FILE *file, const char *title, int refresh) {
  fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<link rel=\"icon\" href=\"data:,\">\n",
        file);
  if (refresh > 0) fprintf(file, "<meta http-equiv=\"refresh\" content=\"%d\">\n", refresh);
  fputs("<title>", file);
  nnc_page_text(file, title);
  fprintf(file, "</title>\n<style>%s</style>\n</head>\n<body>\n<main>\n", nnc_report_style);
}

void nnc_page_end(FILE *file) { fputs("</main>\n</body>\n</html>\n", file); }

void nnc_page_section(FILE *file, const char *title) { fprintf(file, "<h2>%s</h2>\n", title); }

void nnc_page_tile(FILE *file, const char *value, const char *what) {
  fputs("<div><b>", file);
  nnc_page_text(file, value);
  fputs("</b><span>", file);
  nnc_page_text(file, what);
  fputs("</span></div>\n", file);
}

const char *nnc_page_digits(char text[NNC_DIGITS], int digits, double number) {
  if (isnan(number)) return "NaN";
  if (isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  snprintf(text, NNC_DIGITS, "%.*g", digits, number);
  return text;
}

void nnc_page_cell(FILE *file, const char *text) {
  fputs("<td>", file);
  nnc_page_text(file, text);
  fputs("</td>", file);
}

void nnc_page_number(FILE *file, double number) {
  char text[NNC_DIGITS];
  fprintf(file, "<td class=\"n\">%s</td>", nnc_page_digits(text, 9, number));
}

void nnc_page_table(FILE *file, const char *class, const char *label) {
  fprintf(file,
          "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">"
          "<table class=\"%s\">",
          label, class);
}

void nnc_page_head(FILE *file, const char *caption, int count, const char *const *names) {
  nnc_page_table(file, "", caption);
  fprintf(file, "<caption>%s</caption>\n<tr>", caption);
  for (int i = 0; i < count; i++) {
    bool is_number = names[i][0] == '>';
    fprintf(file, "<th scope=\"col\"%s>", is_number ? " class=\"n\"" : "");
    nnc_page_text(file, names[i] + is_number);
    fputs("</th>", file);
  }
  fputs("</tr>\n", file);
}

void nnc_page_pair(FILE *file, const char *name, const char *text) {
  fputs("<tr><th scope=\"row\">", file);
  nnc_page_text(file, name);
  fputs("</th>", file);
  nnc_page_cell(file, text);
  fputs("</tr>\n", file);
}

void nnc_page_fold(FILE *file, const char *title) {
  fprintf(file, "<details><summary>%s</summary>\n", title);
}
