/* What the images share: where model and job lie, output and exit through semihosting, a gauge of the stack. A program of your
 * own needs none of it. */
#ifndef BOARD_H
#define BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The region of flash behind the code: a model and whatever erased flash reads as. The linker script says where. */
extern const uint32_t model_start[];
extern const char model_bytes_of_region[];
#define model_size ((uintptr_t)model_bytes_of_region)

/* Row `row` of the job's inputs; false behind the last. There must be room for `most` values. */
bool read_sample(uint32_t row, float *x, uint32_t most);
uint32_t job_paths(void);
uint64_t job_seed(void);

void print(const char *text);
/* Eight hexadecimal digits. */
void print_word(uint32_t word);
/* With one decimal. */
void print_number(float number);

/* Ends the emulation: 0 says that the program has done its work. */
_Noreturn void exit_with(int code);

/* Paints the free memory below the stack of the caller, and tells later how much of it was used. */
char *paint_stack(void);
uint32_t used_stack(char *painted);

#endif
