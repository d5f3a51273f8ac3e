#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the core takes from outside: memory and string functions, mathematics, the platform. So no allocation, C++
# library, printf, locale, environment or abort; and nothing thread-local.
source "$(dirname "$0")/common.sh" "$@"
need nm test
need readelf test
core=$build_dir/libmote_core.a

allowed='mem(cpy|move|set|cmp|chr)|str(len|cmp|ncmp)'
allowed+='|(asinh|exp|exp2|expm1|log|log10|log1p|log2|sqrt|pow|fma|sin|cos|sincos|tanh|erf|rint|lrint|floor|ceil|fabs|fmin|fmax|round|ldexp)f?'
allowed+='|mote_platform_default'
allowed+='|_GLOBAL_OFFSET_TABLE_|__cpu_model|__cpu_indicator_init|__stack_chk_fail'  # of the compiler

defined=$(nm --defined-only "$core" | awk 'NF == 3 { print $3 }' | sort -u)
[ -n "$defined" ] || fail "$core defines nothing"
taken=$(nm --undefined-only "$core" | awk 'NF == 2 { print $2 }' | sort -u)
outside=$(comm -13 <(echo "$defined") <(echo "$taken"))
foreign=$(grep -Evx "$allowed" <<<"$outside" || true)
[ -z "$foreign" ] || fail "the core uses" $foreign
if readelf -SW "$core" | grep -E '\.t(data|bss)'; then fail "the core has thread-local variables"; fi
echo "the core uses" $outside
