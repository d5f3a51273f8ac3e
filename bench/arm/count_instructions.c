/* SPDX-License-Identifier: Apache-2.0
 *
 * A TCG plugin for qemu-user that counts the guest's executed instructions, in all and for each symbol:
 *   qemu-aarch64 -plugin ./count_instructions.so -d plugin PROGRAM 2>counts.txt
 * A line each: instructions, then the symbol, or "(other)" where a block has none; the last line is "total".
 * Blocks count from the first of their instructions on: a block that a signal interrupts counts as a whole.
 *
 * The declarations below are those of QEMU's plugin interface, version 1, that are needed here, by its
 * documentation (docs/devel/tcg-plugins); distributions ship no header. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef void (*tb_callback)(qemu_plugin_id_t id, struct qemu_plugin_tb* tb);
typedef void (*exit_callback)(qemu_plugin_id_t id, void* data);
enum { kInlineAdd = 0 }; /* the only operation of version 1 */
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, tb_callback callback);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb* tb, int operation, void* to,
                                              uint64_t value);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, exit_callback callback, void* data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* tb);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb* tb, size_t index);
const char* qemu_plugin_insn_symbol(const struct qemu_plugin_insn* insn);
void qemu_plugin_outs(const char* text);

EXPORT int qemu_plugin_version = 1;

struct counter {
  char* symbol;
  uint64_t instructions;
};

/* By the hash of the symbol; never moved, because translated blocks hold the addresses. */
enum { kCounters = 1 << 16 };
static struct counter counters[kCounters];

static struct counter* counter_of(const char* symbol) {
  uint32_t hash = 2166136261u; /* FNV-1a */
  for (const char* c = symbol; *c != 0; ++c) hash = (hash ^ (unsigned char)*c) * 16777619u;
  for (uint32_t i = 0; i < kCounters; ++i) {
    struct counter* at = &counters[(hash + i) % kCounters];
    if (at->symbol == NULL) at->symbol = strdup(symbol);
    if (at->symbol == NULL || strcmp(at->symbol, symbol) == 0) return at;
  }
  return &counters[0];
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb* tb) {
  (void)id;
  const char* symbol = qemu_plugin_insn_symbol(qemu_plugin_tb_get_insn(tb, 0));
  struct counter* to = counter_of(symbol == NULL || *symbol == 0 ? "(other)" : symbol);
  qemu_plugin_register_vcpu_tb_exec_inline(tb, kInlineAdd, &to->instructions, qemu_plugin_tb_n_insns(tb));
}

static int by_instructions(const void* a, const void* b) {
  const uint64_t x = ((const struct counter*)a)->instructions, y = ((const struct counter*)b)->instructions;
  return x < y ? 1 : x > y ? -1 : 0;
}

static void print_line(uint64_t instructions, const char* symbol) {
  char line[512];
  snprintf(line, sizeof line, "%" PRIu64 " %s\n", instructions, symbol);
  qemu_plugin_outs(line);
}

static void at_exit(qemu_plugin_id_t id, void* data) {
  (void)id;
  (void)data;
  uint64_t total = 0;
  qsort(counters, kCounters, sizeof counters[0], by_instructions);
  for (uint32_t i = 0; i < kCounters && counters[i].instructions != 0; ++i) {
    total += counters[i].instructions;
    print_line(counters[i].instructions, counters[i].symbol);
  }
  print_line(total, "total");
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void* info, int argc, char** argv) {
  (void)info;
  (void)argc;
  (void)argv;
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
  qemu_plugin_register_atexit_cb(id, at_exit, NULL);
  return 0;
}
