/* Some examples of a set with what is predicted of them, as a section of the page about a run. */
#ifndef NNC_REPORT_SAMPLES_H
#define NNC_REPORT_SAMPLES_H

#include <stdio.h>

#include "train/classes.h"

/* `classes`: the most confident mistakes come after the first examples; NULL: the model has no classes. */
void nnc_report_put_samples(FILE *file, nnc_session *session, const char *set,
                            const nnc_classes *classes);
/* What is predicted of no inputs, such as pictures of a generator, some of them, as a section. Other programs have none. */
void nnc_report_put_drawn(FILE *file, nnc_session *session);

#endif
