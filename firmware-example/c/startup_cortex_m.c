/* From reset to main: initial values, zeros, the floating-point unit. A real device brings its own. */
#include "board.h"

extern uint32_t stack_top[];
/* Volatile: a compiler would make calls of memcpy and memset of these loops. */
extern volatile uint32_t data_load[], data_start[], data_end[], bss_start[], bss_end[];
int main(void);

void _start(void)
{
    volatile uint32_t *from = data_load;
    for (volatile uint32_t *to = data_start; to < data_end;)
        *to++ = *from++;
    for (volatile uint32_t *to = bss_start; to < bss_end;)
        *to++ = 0;
#if defined(__ARM_FP)
    /* CPACR: full access to the coprocessors 10 and 11. */
    *(volatile uint32_t *)0xe000ed88 |= 0xfu << 20;
    __asm__ volatile("dsb\nisb" ::: "memory");
#endif
    exit_with(main());
}

static void fault(void)
{
    exit_with(100);
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    stack_top, (const void *)_start, (const void *)fault, (const void *)fault,
    (const void *)fault, (const void *)fault, (const void *)fault,
};
