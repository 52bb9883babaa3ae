/* What CMSIS-DSP takes for the arithmetic of a prediction: a sum of 100 weighted RBF kernels of 8 inputs, and a matrix of
 * 100 x 100 times a vector. `cargo xtask bench peers` builds it with the library's own sources and counts. */
#include <math.h>

#include "board.h"
#include "dsp/matrix_functions.h"
#include "dsp/svm_functions.h"

enum { INPUTS = 8, CENTRES = 100 };

static float centres[CENTRES * INPUTS], weights[CENTRES], input[INPUTS];
static float matrix[CENTRES * CENTRES], product[CENTRES];

/* SysTick: CSR, RVR, CVR. It counts down, 24 bits wide, farther than anything here takes. */
static volatile uint32_t *const systick = (volatile uint32_t *)0xe000e010;

static uint32_t now(void)
{
    return systick[2];
}

static void print_count(const char *name, uint32_t before, uint32_t after)
{
    print(name);
    print(" ");
    print_word((before - after) & 0xffffff);
    print("\n");
}

static float some(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) / 16777216.0f - 0.5f;
}

/* The sum and the product in plain C: are these the functions that we think they are? */
static bool right(const arm_svm_rbf_instance_f32 *svm, int32_t class)
{
    double sum = svm->intercept;
    for (int i = 0; i < CENTRES; ++i) {
        double distance = 0;
        for (int d = 0; d < INPUTS; ++d)
            distance += pow((double)input[d] - (double)centres[i * INPUTS + d], 2);
        sum += (double)weights[i] * exp(-(double)svm->gamma * distance);
    }
    bool same = class == (sum <= 0 ? 10 : 20) && fabs(sum) > 1e-3;
    for (int i = 0; i < CENTRES; ++i) {
        double expected = 0;
        for (int j = 0; j < CENTRES; ++j)
            expected += (double)matrix[i * CENTRES + j] * (double)weights[j];
        same = same && fabs(expected - (double)product[i]) < 1e-4;
    }
    return same;
}

/* A function of its own: the compiler does not know how long it is. */
static __attribute__((noinline)) void do_nothing(void)
{
    __asm__ volatile(".rept 1000\nnop\n.endr");
}

int main(void)
{
    uint32_t state = 1, before, after;
    static const int32_t classes[2] = {10, 20};
    int32_t class = 0;
    arm_svm_rbf_instance_f32 svm;
    arm_matrix_instance_f32 square = {CENTRES, CENTRES, matrix};

    for (int i = 0; i < CENTRES * INPUTS; ++i)
        centres[i] = some(&state);
    for (int i = 0; i < CENTRES; ++i)
        weights[i] = some(&state);
    for (int i = 0; i < INPUTS; ++i)
        input[i] = some(&state);
    for (int i = 0; i < CENTRES * CENTRES; ++i)
        matrix[i] = some(&state);
    arm_svm_rbf_init_f32(&svm, CENTRES, INPUTS, 0.1f, weights, centres, classes, 0.5f);

    systick[1] = 0xffffff;
    systick[2] = 0;
    systick[0] = 5;
    before = now();
    do_nothing();
    after = now();
    print_count("ticks-nops", before, after);

    before = now();
    arm_svm_rbf_predict_f32(&svm, input, &class);
    after = now();
    print_count("ticks-rbf", before, after);

    before = now();
    arm_mat_vec_mult_f32(&square, weights, product);
    after = now();
    print_count("ticks-matrix", before, after);
    return right(&svm, class) ? 0 : 1;
}
