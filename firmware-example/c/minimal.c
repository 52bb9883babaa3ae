/* The smallest program with everything in it: parse, flow, predictions along the drift and sampled, with variance. What a model
 * costs in flash; the same as src/bin/minimal.rs. */
#include "board.h"
#include "diffgp.h"

static diffgp_model model;
static uint32_t workspace[DIFFGP_WORKSPACE_WORDS(8, 100, 1)];

/* The sensor, and whoever reads the predictions. */
static volatile float sensor[8];
static volatile float result[2];

int main(void)
{
    static diffgp_noise noise;
    diffgp_prediction p;
    float x[8];

    if (diffgp_parse(&model, model_start, (size_t)model_size) != DIFFGP_OK)
        return 1;
    for (;;) {
        for (int i = 0; i < 8; ++i)
            x[i] = sensor[i];
        if (diffgp_predict(&model, x, 8, workspace, sizeof workspace, &p) == DIFFGP_OK) {
            result[0] = p.output.mean;
            result[1] = p.output.variance;
        }
        if (diffgp_predict_sampled(&model, x, 8, 1, &noise, workspace, sizeof workspace, &p) == DIFFGP_OK) {
            result[0] = p.output.mean;
            result[1] = p.output.variance;
        }
        ++noise.row;
    }
}
