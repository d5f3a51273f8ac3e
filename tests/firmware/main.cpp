// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>

#include "platforms/cortex_m/console.h"
#include "tests/firmware/tests.h"
#include "tests/firmware/unity.h"

namespace {

jmp_buf after_test;
const char* running;
uint32_t tests, failures;

}  // namespace

void unity::fail(const char* file, uint32_t line, const char* text) {
  print(file, ":", line, ":", running, ":FAIL: ", text, "\n");
  longjmp(after_test, 1);
}

void unity::run(void (*test)(), const char* name, const char* file, uint32_t line) {
  running = name;
  ++tests;
  if (setjmp(after_test) != 0) {
    ++failures;
    return;
  }
  test();
  print(file, ":", line, ":", name, ":PASS\n");
}

uint32_t unity::finish() {
  print("\n-----------------------\n", tests, " Tests ", failures, " Failures 0 Ignored\n",
        failures == 0 ? "OK\n" : "FAIL\n");
  return failures;
}

int main(void) {
  RUN_TEST(linear_equals_the_reference_at_any_shape);
  RUN_TEST(linear_is_exact_at_the_ends_of_the_integer_range);
  RUN_TEST(linear_equals_the_reference_with_tiny_zero_and_nan_scales);
  RUN_TEST(quantize_equals_the_reference);
  RUN_TEST(attention_is_near_the_reference);
  RUN_TEST(norm_is_near_the_reference);
  RUN_TEST(gate_is_near_the_reference);
  RUN_TEST(rope_table_is_near_the_reference);
  RUN_TEST(kv_store_equals_the_reference);
  RUN_TEST(the_self_test_of_the_model_passes);
  RUN_TEST(the_same_ids_come_of_any_chunk_and_any_step);
  RUN_TEST(a_saved_session_goes_on_where_it_was);
  RUN_TEST(a_truncated_model_is_refused);
  RUN_TEST(a_flipped_bit_is_found);
  RUN_TEST(an_arena_that_is_too_small_is_refused);
  return unity::finish() == 0 ? 0 : 1;
}
