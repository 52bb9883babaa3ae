/* Runs the model and the job beside this image and prints the bits of every prediction, as src/bin/measure.rs does: along the
 * drift, sampled, and sampled piece by piece. And how deep the stack was. */
#include "board.h"
#include "diffgp.h"

#include <string.h>

/* The largest models that this image takes. */
enum { D = 32, M = 100, O = 6 };

static diffgp_model model;
static diffgp_info info;
static uint32_t workspace[DIFFGP_WORKSPACE_WORDS(D, M, O)];

static void print_bits(float number)
{
    uint32_t word;
    memcpy(&word, &number, sizeof word);
    print(" ");
    print_word(word);
}

/* Row, inputs out of range, then mean, variance, latent variance and the low end of the 90 % interval of every output (zero of a
 * class), then every probability. */
static void show(const char *name, uint32_t row, const diffgp_prediction *p)
{
    float probabilities[O];
    print(name);
    print_word(row);
    print(" ");
    print_word((uint32_t)p->out_of_range);
    for (uint32_t i = 0; i < info.outputs; ++i) {
        diffgp_output output;
        if (diffgp_get_output(p, i, &output) != DIFFGP_OK)
            exit_with(7);
        print_bits(output.mean);
        print_bits(output.variance);
        print_bits(output.latent_variance);
        float low = 0.0f, high = 0.0f;
        if (info.classes == 0 && diffgp_get_interval(p, i, 0.9f, &low, &high) != DIFFGP_OK)
            exit_with(9);
        print_bits(low);
    }
    if (info.classes > 0 && diffgp_get_probabilities(p, probabilities, O) != DIFFGP_OK)
        exit_with(8);
    for (uint32_t i = 0; i < info.classes; ++i)
        print_bits(probabilities[i]);
    print("\n");
}

__attribute__((noinline)) static diffgp_status parse_and_predict(const float *x, const diffgp_noise *noise)
{
    diffgp_prediction p;
    diffgp_status status = diffgp_parse(&model, model_start, (size_t)model_size);
    if (status != DIFFGP_OK)
        return status;
    return diffgp_predict_sampled(&model, x, info.inputs, 1, noise, workspace, sizeof workspace, &p);
}

int main(void)
{
    float x[D];
    diffgp_prediction p;
    diffgp_run run;
    diffgp_noise noise = {.seed = job_seed()};

    if (diffgp_version() != DIFFGP_VERSION)
        return 2;
    if (diffgp_parse(&model, model_start, (size_t)model_size) != DIFFGP_OK)
        return 3;
    if (diffgp_model_info(&model, &info) != DIFFGP_OK || info.workspace_bytes > sizeof workspace || info.outputs > O)
        return 4;
    if (!read_sample(0, x, D))
        return 5;

    char *painted = paint_stack();
    diffgp_status status = parse_and_predict(x, &noise);
    print("stack-together ");
    print_word(used_stack(painted));
    print("\n");
    if (status != DIFFGP_OK)
        return 6;

    for (; read_sample(noise.row, x, D); ++noise.row) {
        if (diffgp_predict(&model, x, info.inputs, workspace, sizeof workspace, &p) != DIFFGP_OK)
            return 9;
        show("drift ", noise.row, &p);
        if (diffgp_predict_sampled(&model, x, info.inputs, job_paths(), &noise, workspace, sizeof workspace, &p) != DIFFGP_OK)
            return 10;
        show("sampled ", noise.row, &p);
        if (diffgp_begin(&run, &model, x, info.inputs, job_paths(), &noise, workspace, sizeof workspace) != DIFFGP_OK)
            return 11;
        while ((status = diffgp_advance(&run)) == DIFFGP_PENDING) {
            /* Feed the watchdog, look at the queue. */
        }
        if (status != DIFFGP_OK || diffgp_finish(&run, &p) != DIFFGP_OK)
            return 12;
        show("resumed ", noise.row, &p);
    }
    return 0;
}
