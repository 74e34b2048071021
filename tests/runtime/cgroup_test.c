/* What control groups grant, in folders that stand for machines and containers:
 *     cgroup_test ROOT COUNT    prints the number */
#include <stdio.h>
#include <stdlib.h>

#include "os/cgroup.h"

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  printf("%d\n", nnc_cgroup_processors(argv[1], atoi(argv[2])));
  return 0;
}
