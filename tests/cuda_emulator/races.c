#include "races.h"
void races_begin_launch(void) {}
void races_touch(const void *at, size_t bytes, int how, const void *code) {}
