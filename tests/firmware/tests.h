// SPDX-License-Identifier: Apache-2.0
//
// The tests that run on the target.
#pragma once

void linear_equals_the_reference_at_any_shape();
void linear_is_exact_at_the_ends_of_the_integer_range();
void linear_equals_the_reference_with_tiny_zero_and_nan_scales();
void quantize_equals_the_reference();
void attention_is_near_the_reference();
void norm_is_near_the_reference();
void gate_is_near_the_reference();
void rope_table_is_near_the_reference();
void kv_store_equals_the_reference();
void the_self_test_of_the_model_passes();
void the_same_ids_come_of_any_chunk_and_any_step();
void a_saved_session_goes_on_where_it_was();
void a_truncated_model_is_refused();
void a_flipped_bit_is_found();
void an_arena_that_is_too_small_is_refused();
