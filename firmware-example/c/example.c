/* The program to copy: read a sample, predict, act on the mean and on how sure it is.
 *
 * Under QEMU the samples are those of the job beside the image, and the actions are lines of text. On a board of your own,
 * read_sample becomes your sensor, act your actuator, and model_start the array of `diffgp export --c` or a region of flash.
 */
#include "board.h"
#include "diffgp.h"

#include <stdbool.h>

/* Sizes of the largest model that this program accepts: `diffgp inspect` prints them. */
enum { D = 32, M = 100, O = 1 };

/* Sampled paths per prediction: more of them make the error bar less noisy, at their full cost each. */
enum { PATHS = 4 };

/* Act only if the standard deviation is below this: 5 MW, for the output of the power plant that the model predicts. */
#define SURE_ENOUGH 5.0f
/* The mean from which on we act, in MW. */
#define THRESHOLD 450.0f

static diffgp_model model;
static uint32_t workspace[DIFFGP_WORKSPACE_WORDS(D, M, O)];

/* A prediction is two numbers. Whoever looks at the mean alone could as well have used a lookup table. */
static void act(const diffgp_prediction *p)
{
    bool sure = p->output.std_dev < SURE_ENOUGH && p->out_of_range == 0;
    print(!sure ? "safe  " : p->output.mean > THRESHOLD ? "on    " : "off   ");
    print_number(p->output.mean);
    print(" (variance ");
    print_number(p->output.variance);
    print(sure ? ")\n" : "): not sure enough to act\n");
}

static int refused(diffgp_status status)
{
    print("no usable model: ");
    print(diffgp_status_text(status));
    print("\n");
    return 1;
}

int main(void)
{
    diffgp_info info;
    diffgp_prediction prediction;
    diffgp_noise noise = {.seed = 1};
    float x[D];

    /* The model was flashed on its own: it is checked before it is used. */
    diffgp_status status = diffgp_parse(&model, model_start, (size_t)model_size);
    if (status == DIFFGP_OK)
        status = diffgp_model_info(&model, &info);
    if (status == DIFFGP_OK && info.workspace_bytes > sizeof workspace)
        status = DIFFGP_ERROR_CAPACITY;
    if (status != DIFFGP_OK)
        return refused(status);

    while (read_sample(noise.row, x, D)) {
        status = diffgp_predict_sampled(&model, x, info.inputs, PATHS, &noise, workspace, sizeof workspace, &prediction);
        if (status == DIFFGP_OK) {
            act(&prediction);
        } else {
            print("no prediction: ");
            print(diffgp_status_text(status));
            print("\n");
        }
        ++noise.row;
    }
    return 0;
}
