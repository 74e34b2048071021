/* How much processor time the control groups of this process grant. */
#ifndef NNC_CGROUP_H
#define NNC_CGROUP_H

/* Whole processors, at least 1 and at most `count`, which is what no limit gives.  `root`: "" on a
 * machine; elsewhere a folder with its proc/self and control groups, for tests. */
int nnc_cgroup_processors(const char *root, int count);

#endif
