/* Quotas of control groups, of both versions of the interface (cgroups(7)).
 *
 * /proc/self/cgroup names the group of this process in each hierarchy, /proc/self/mountinfo where the
 * hierarchies lie.  A group's limit holds for all groups inside, so each level up to the hierarchy's
 * top is read and the least counts: version 2 has cpu.max, version 1 cpu.cfs_quota_us and
 * cpu.cfs_period_us.  In a container the hierarchy may be mounted from its own group on: then the
 * path of /proc/self/cgroup begins with the mount's root, or is not below the mount at all.  Sets of
 * processors (cpuset) are in the affinity mask already. */
#include "os/cgroup.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 4096 };

typedef struct Hierarchy {
  int version;
  char mount[LINE], top[LINE]; /* where it is mounted, and which group of it that is */
} Hierarchy;

static FILE *open_below(const char *root, const char *folder, const char *name) {
  char path[3 * LINE];
  int length = snprintf(path, sizeof path, "%s%s%s", root, folder, name);
  return length < (int)sizeof path ? fopen(path, "re") : NULL;
}

/* "\040" is a space in mountinfo. */
static void unescape(char *text) {
  char *to = text;
  for (; *text; to++) {
    bool is_octal = text[0] == '\\' && text[1] >= '0' && text[1] <= '3' && text[2] >= '0' &&
                    text[2] <= '7' && text[3] >= '0' && text[3] <= '7';
    *to = is_octal ? (char)((text[1] - '0') << 6 | (text[2] - '0') << 3 | (text[3] - '0')) : *text;
    text += is_octal ? 4 : 1;
  }
  *to = '\0';
}

/* Whether a list "cpu,cpuacct" has the word. */
static bool lists(const char *list, const char *word) {
  size_t length = strlen(word);
  for (const char *at = list; at; at = strchr(at, ',')) {
    at += *at == ',';
    if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
  }
  return false;
}

/* A line of mountinfo: "36 35 98:0 /top /mount options [fields] - type source options". */
static bool read_mount(char *line, int version, Hierarchy *hierarchy) {
  char type[64], options[LINE];
  char *dash = strstr(line, " - ");
  if (!dash || sscanf(line, "%*s %*s %*s %4095s %4095s", hierarchy->top, hierarchy->mount) != 2 ||
      sscanf(dash, " - %63s %*s %4095s", type, options) != 2)
    return false;
  unescape(hierarchy->top);
  unescape(hierarchy->mount);
  hierarchy->version = version;
  if (version == 2) return strcmp(type, "cgroup2") == 0;
  return strcmp(type, "cgroup") == 0 && lists(options, "cpu");
}

static bool find_mount(const char *root, int version, Hierarchy *hierarchy) {
  char line[2 * LINE];
  FILE *file = open_below(root, "/proc/self/", "mountinfo");
  bool found = false;
  while (file && !found && fgets(line, sizeof line, file))
    found = read_mount(line, version, hierarchy);
  if (file) fclose(file);
  return found;
}

/* A line of /proc/self/cgroup: "4:cpu,cpuacct:/group", of version 2 "0::/group". */
static bool read_group(char *line, int version, char group[LINE]) {
  char *controllers = strchr(line, ':');
  char *path = controllers ? strchr(controllers + 1, ':') : NULL;
  if (!path) return false;
  *path++ = '\0';
  path[strcspn(path, "\n")] = '\0';
  bool fits = version == 2 ? strcmp(line, "0:") == 0 : lists(controllers + 1, "cpu");
  if (fits) snprintf(group, LINE, "%s", path);
  return fits;
}

static bool find_group(const char *root, int version, char group[LINE]) {
  char line[2 * LINE];
  FILE *file = open_below(root, "/proc/self/", "cgroup");
  bool found = false;
  while (file && !found && fgets(line, sizeof line, file)) found = read_group(line, version, group);
  if (file) fclose(file);
  return found;
}

/* The group's path below the mount; "" when the mount begins with it, or elsewhere. */
static const char *below_mount(const Hierarchy *hierarchy, const char *group) {
  size_t length = strcmp(hierarchy->top, "/") == 0 ? 0 : strlen(hierarchy->top);
  if (strstr(group, "/..")) return "";
  if (strncmp(group, hierarchy->top, length) != 0) return "";
  group += length;
  return *group == '/' && group[1] ? group : "";
}

static bool read_number(const char *root, const char *folder, const char *name, double *number) {
  FILE *file = open_below(root, folder, name);
  bool good = file && fscanf(file, "%lf", number) == 1;
  if (file) fclose(file);
  return good;
}

/* Processors' worth that one group grants; no number stands for "max" and -1: no limit. */
static double group_limit(const char *root, const char *folder, int version, double none) {
  double quota = -1, period = 0;
  if (version == 2) {
    FILE *file = open_below(root, folder, "/cpu.max");
    if (file && fscanf(file, "%lf %lf", &quota, &period) != 2) quota = -1;
    if (file) fclose(file);
  } else if (!read_number(root, folder, "/cpu.cfs_quota_us", &quota) ||
             !read_number(root, folder, "/cpu.cfs_period_us", &period)) {
    quota = -1;
  }
  return quota > 0 && period > 0 ? quota / period : none;
}

static double hierarchy_limit(const char *root, int version, double none) {
  Hierarchy hierarchy;
  char group[LINE], folder[2 * LINE];
  double least = none;
  if (!find_mount(root, version, &hierarchy)) return none;
  if (!find_group(root, version, group)) group[0] = '\0';
  snprintf(folder, sizeof folder, "%s%s", hierarchy.mount, below_mount(&hierarchy, group));
  for (size_t top = strlen(hierarchy.mount); strlen(folder) >= top;) {
    double limit = group_limit(root, folder, version, none);
    if (limit < least) least = limit;
    char *slash = strrchr(folder, '/');
    if (!slash || slash == folder) break;
    *slash = '\0';
  }
  return least;
}

int nnc_cgroup_processors(const char *root, int count) {
  double granted = hierarchy_limit(root, 2, count), other = hierarchy_limit(root, 1, count);
  if (other < granted) granted = other;
  return granted < 1 ? 1 : (int)granted;
}
