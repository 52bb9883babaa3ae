#include "board.h"

#include <string.h>

/* What a test asks: inputs, rows, paths, seed (low, high), then rows times inputs singles. */
extern const uint32_t job_start[];

bool read_sample(uint32_t row, float *x, uint32_t most)
{
    uint32_t inputs = job_start[0];
    if (inputs == 0 || inputs > most || row >= job_start[1])
        return false;
    memcpy(x, job_start + 5 + (size_t)row * inputs, inputs * sizeof *x);
    return true;
}

uint32_t job_paths(void)
{
    return job_start[2];
}

uint64_t job_seed(void)
{
    return job_start[3] | (uint64_t)job_start[4] << 32;
}

enum { SYS_WRITE0 = 0x04, SYS_EXIT_EXTENDED = 0x20, APPLICATION_EXIT = 0x20026 };

static int semihosting(int operation, const void *argument)
{
#if defined(__riscv)
    register int a0 __asm__("a0") = operation;
    register const void *a1 __asm__("a1") = argument;
    /* These three instructions, not compressed and in one page, are the call. */
    __asm__ volatile(".option push\n.option norvc\n.balign 16\n"
                     "slli x0, x0, 0x1f\nebreak\nsrai x0, x0, 7\n"
                     ".option pop"
                     : "+r"(a0)
                     : "r"(a1)
                     : "memory");
    return a0;
#else
    register int r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
#endif
}

void print(const char *text)
{
    semihosting(SYS_WRITE0, text);
}

void print_word(uint32_t word)
{
    char text[9] = {0};
    for (int i = 7; i >= 0; --i, word >>= 4)
        text[i] = "0123456789abcdef"[word & 15];
    print(text);
}

void print_number(float number)
{
    char text[16] = {0};
    char *at = text + sizeof text - 1;
    uint32_t tenths = (uint32_t)((number < 0 ? -number : number) * 10.0f + 0.5f);
    *--at = (char)('0' + tenths % 10);
    *--at = '.';
    do {
        tenths /= 10;
        *--at = (char)('0' + tenths % 10);
    } while (tenths >= 10);
    if (number < 0)
        *--at = '-';
    print(at);
}

_Noreturn void exit_with(int code)
{
    uint32_t block[2] = {APPLICATION_EXIT, (uint32_t)code};
    for (;;)
        semihosting(SYS_EXIT_EXTENDED, block);
}

/* Depth that is painted, and how much room is left for painting itself. */
enum { WINDOW = 6 * 1024, OWN = 64, PAINT = 0xa5 };

char *paint_stack(void)
{
    uintptr_t sp;
#if defined(__riscv)
    __asm__ volatile("mv %0, sp" : "=r"(sp));
#else
    __asm__ volatile("mov %0, sp" : "=r"(sp));
#endif
    volatile char *top = (volatile char *)(sp - OWN);
    for (int i = 1; i <= WINDOW; ++i)
        top[-i] = (char)PAINT;
    return (char *)top;
}

uint32_t used_stack(char *painted)
{
    uint32_t untouched = 0;
    while (untouched < WINDOW && painted[(int32_t)untouched - WINDOW] == (char)PAINT)
        ++untouched;
    return WINDOW - untouched + OWN;
}
