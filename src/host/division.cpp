// Signed division whose result overflows: x86 raises the signal of a division by zero for it. Other
// processors return the dividend, as GPUs do.
#include "division.h"

#include <ucontext.h>

#include <cstdint>
#include <cstring>

namespace PyGPU::host {

#ifdef __x86_64__

namespace {

// Registers by their numbers in instructions.
constexpr int register_indices[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                    REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                    REG_R12, REG_R13, REG_R14, REG_R15};

// Decoded idiv instruction, the only one that divides signed integers.
struct Division {
  int nbytes;             // size of the divisor
  std::uint64_t divisor;  // its bytes
  const unsigned char* next;
};

std::uint64_t thread_pointer() {
  std::uint64_t address;
  __asm__("mov %%fs:0, %0" : "=r"(address));
  return address;
}

template <class T>
T take(const unsigned char*& code) {
  T value;
  std::memcpy(&value, code, sizeof value);
  code += sizeof value;
  return value;
}

// Intel's manual, volume 2, chapter 2: prefixes, opcode, ModR/M, SIB, displacement.
bool decode(const greg_t* registers, Division* found) {
  const auto at = [registers](int number) {
    return static_cast<std::uint64_t>(registers[register_indices[number]]);
  };
  auto code = reinterpret_cast<const unsigned char*>(registers[REG_RIP]);
  std::uint64_t address = 0;
  bool is_short = false;
  for (;; ++code) {
    if (*code == 0x66)
      is_short = true;
    else if (*code == 0x64)
      address = thread_pointer();
    else if (*code != 0x2e && *code != 0x3e && *code != 0xf2 && *code != 0xf3)
      break;
  }
  const int rex = (*code & 0xf0) == 0x40 ? *code++ : 0;
  const int opcode = *code++;
  const int modrm = *code++;
  if ((opcode != 0xf6 && opcode != 0xf7) || (modrm >> 3 & 7) != 7) return false;
  found->nbytes = opcode == 0xf6 ? 1 : rex & 8 ? 8 : is_short ? 2 : 4;
  found->divisor = 0;
  const int mode = modrm >> 6, rm = modrm & 7, extended = rm | (rex & 1) << 3;
  if (mode == 3) {
    if (found->nbytes == 1 && rex == 0 && rm >= 4) {  // ah, ch, dh, bh
      found->divisor = at(rm - 4) >> 8 & 0xff;
    } else {
      const std::uint64_t value = at(extended);
      std::memcpy(&found->divisor, &value, found->nbytes);
    }
    found->next = code;
    return true;
  }
  bool is_relative = false;
  if (rm == 4) {
    const int sib = *code++, base = sib & 7, index = (sib >> 3 & 7) | (rex & 2) << 2;
    if (index != 4) address += at(index) << (sib >> 6);
    if (base == 5 && mode == 0)
      address += take<std::int32_t>(code);
    else
      address += at(base | (rex & 1) << 3);
  } else if (rm == 5 && mode == 0) {
    address += take<std::int32_t>(code);
    is_relative = true;
  } else {
    address += at(extended);
  }
  if (mode == 1) address += take<std::int8_t>(code);
  if (mode == 2) address += take<std::int32_t>(code);
  if (is_relative) address += reinterpret_cast<std::uint64_t>(code);
  std::memcpy(&found->divisor, reinterpret_cast<const void*>(address), found->nbytes);
  found->next = code;
  return true;
}

}  // namespace

bool finish_overflowing_division(void* context) {
  greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  Division division;
  if (!decode(registers, &division) || division.divisor == 0) return false;
  // The quotient is the dividend's low half, which stays. The remainder is the high half.
  greg_t& high = registers[division.nbytes == 1 ? REG_RAX : REG_RDX];
  if (division.nbytes == 1)
    high -= high & 0xff00;
  else if (division.nbytes == 2)
    high -= high & 0xffff;
  else
    high = 0;
  registers[REG_RIP] = reinterpret_cast<greg_t>(division.next);
  return true;
}

#else

bool finish_overflowing_division(void*) { return false; }

#endif

}  // namespace PyGPU::host
