/* From reset to main. A real device brings its own. */
#include "board.h"

/* Volatile: a compiler would make calls of memcpy and memset of these loops. */
extern volatile uint32_t data_load[], data_start[], data_end[], bss_start[], bss_end[];
int main(void);

__attribute__((naked, section(".vectors"), used)) void _start(void)
{
    __asm__ volatile(".option push\n.option norelax\nla gp, __global_pointer$\n.option pop\n"
                     ".option push\n.option arch, +zicsr\nla t0, fault\ncsrw mtvec, t0\n.option pop\n"
                     "la sp, stack_top\nj reset");
}

__attribute__((used)) static void reset(void)
{
    volatile uint32_t *from = data_load;
    for (volatile uint32_t *to = data_start; to < data_end;)
        *to++ = *from++;
    for (volatile uint32_t *to = bss_start; to < bss_end;)
        *to++ = 0;
    exit_with(main());
}

__attribute__((used, aligned(4))) static void fault(void)
{
    exit_with(100);
}
