// SPDX-License-Identifier: Apache-2.0
//
// The vector table, what has to happen before main, and faults: each ends the run with a line and the exit
// code 2. Interrupts that a board has no handler for are faults.
#include "start_program.h"

extern "C" {
[[noreturn]] void reset(void);
void fault(void) noexcept;
[[noreturn, gnu::used]] void report_fault(const uint32_t* frame);
#define MOTE_WEAK_HANDLER(name) void name(void) noexcept __attribute__((weak, alias("fault")))
MOTE_WEAK_HANDLER(NMI_Handler);
MOTE_WEAK_HANDLER(SVC_Handler);
MOTE_WEAK_HANDLER(DebugMon_Handler);
MOTE_WEAK_HANDLER(PendSV_Handler);
MOTE_WEAK_HANDLER(SysTick_Handler);
}

namespace {

using Handler = void (*)(void);

/// Registers of the Armv7-M Architecture Reference Manual, B3.2 and B3.5.
volatile uint32_t& at(uintptr_t address) { return *reinterpret_cast<volatile uint32_t*>(address); }
constexpr uintptr_t kCfsr = 0xE000ED28;   // why it faulted
constexpr uintptr_t kCpacr = 0xE000ED88;  // bits 20 to 23 enable the FPU
#if __ARM_ARCH < 8
constexpr uintptr_t kMpuCtrl = 0xE000ED94;  // bit 0 enables the MPU, bit 2 the default map around its regions
constexpr uintptr_t kMpuRbar = 0xE000ED9C;  // a region's address; bit 4: its number is in bits 0 to 3
constexpr uintptr_t kMpuRasr = 0xE000EDA0;  // bit 0 enables it, from bit 1 log2 of its bytes - 1
#endif

struct Vectors {
  unsigned char* stack;
  Handler handlers[15];
};

__attribute__((section(".vectors"), used))
const Vectors kVectors = {stack_top,
                          {reset, NMI_Handler, fault, fault, fault, fault, fault, nullptr, nullptr, nullptr,
                           SVC_Handler, DebugMon_Handler, nullptr, PendSV_Handler, SysTick_Handler}};

#if __ARM_ARCH >= 8
/// Lets a stack pointer below the stack fault (Armv8-M Architecture Reference Manual, B3.8).
void guard_stack() { __asm__ volatile("msr msplim, %0" ::"r"(stack_bottom)); }
#else
/// Lets every access to the 64 KiB below the stack, where RAM begins, fault. Without an MPU it does nothing.
void guard_stack() {
  constexpr uint32_t kGuardLog2Bytes = 16;
  at(kMpuRbar) = (reinterpret_cast<uintptr_t>(stack_bottom) - (1u << kGuardLog2Bytes)) | 1u << 4;
  at(kMpuRasr) = (kGuardLog2Bytes - 1) << 1 | 1u;
  at(kMpuCtrl) = 1u | 1u << 2;
  __asm__ volatile("dsb\n\tisb" ::: "memory");
}
#endif

[[gnu::always_inline]] inline volatile uint32_t* stack_pointer() {
  volatile uint32_t* end;
  __asm__ volatile("mov %0, sp" : "=r"(end));
  return end;
}

}  // namespace

void reset(void) {
  at(kCpacr) |= 0xFu << 20;
  __asm__ volatile("dsb\n\tisb" ::: "memory");
  guard_stack();
  start_program(stack_pointer());
}

/// Hands over the frame that the processor pushed. A stack that is full, which is one of the reasons to be
/// here, is used anew.
__attribute__((naked)) void fault(void) noexcept {
  __asm__ volatile(
      "mov r0, sp\n\t"
      "ldr r1, =stack_bottom + 512\n\t"
      "cmp r0, r1\n\t"
      "bhs 1f\n\t"
      "ldr r1, =stack_top\n\t"
      "mov sp, r1\n"
      "1: b report_fault\n\t"
      ".ltorg");
}

void report_fault(const uint32_t* frame) {
  uint32_t exception;
  __asm__ volatile("mrs %0, ipsr" : "=r"(exception));
  print("failed: fault: exception ", exception & 0x1FF, ", CFSR ", Hex{at(kCfsr)});
  const auto* bytes = reinterpret_cast<const unsigned char*>(frame);
  const bool pushed = bytes >= stack_bottom && bytes + 32 <= stack_top;
  if (pushed) print(", at ", Hex{frame[6]}, ", called from ", Hex{frame[5]});
  print(pushed ? "\n" : ", the stack is full\n");
  console_exit(2);
}
