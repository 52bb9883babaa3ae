/* The interface from C, on the host, under AddressSanitizer and UndefinedBehaviorSanitizer: a.out MODEL.dgp... Every buffer is
 * of exactly the size that was asked for, from malloc, so that one byte too far is seen. */
#include "diffgp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                      \
    do {                                                                                      \
        if (!(condition)) {                                                                   \
            fprintf(stderr, "%s:%d: %s, model %s\n", __FILE__, __LINE__, #condition, model_name); \
            exit(1);                                                                          \
        }                                                                                     \
    } while (0)

static const char *model_name = "none";

/* The sizes are those of the types: a header of another version would not compile. */
typedef char model_size[sizeof(diffgp_model) == DIFFGP_MODEL_BYTES ? 1 : -1];
typedef char prediction_size[sizeof(diffgp_prediction) == DIFFGP_PREDICTION_BYTES ? 1 : -1];
typedef char run_size[sizeof(diffgp_run) == DIFFGP_RUN_BYTES ? 1 : -1];
typedef char status_size[sizeof(diffgp_status) == 4 ? 1 : -1];
static uint32_t in_a_static[DIFFGP_WORKSPACE_WORDS(64, 1024, 32)];

static void *copy_of(const void *bytes, size_t length)
{
    void *copy = malloc(length);
    return copy ? memcpy(copy, bytes, length) : NULL;
}

static uint32_t counting(void *context)
{
    uint32_t *count = (uint32_t *)context;
    return ++*count * 2654435761u;
}

static void check_answers(const diffgp_info *info, const diffgp_prediction *p)
{
    float low, high, sum = 0;
    size_t best;
    diffgp_output output;
    for (uint32_t i = 0; i < info->outputs; ++i) {
        CHECK(diffgp_get_output(p, i, &output) == DIFFGP_OK);
        CHECK(isfinite(output.mean) && output.variance >= 0 && output.std_dev >= 0);
        if (info->kind == DIFFGP_KIND_REAL) {
            CHECK(diffgp_get_interval(p, i, 0.9f, &low, &high) == DIFFGP_OK);
            CHECK(low <= output.mean && output.mean <= high);
        } else {
            CHECK(diffgp_get_interval(p, i, 0.9f, &low, &high) == DIFFGP_ERROR_KIND);
        }
    }
    CHECK(diffgp_get_output(p, info->outputs, &output) == DIFFGP_ERROR_INDEX);
    if (info->classes == 0) {
        CHECK(diffgp_get_class(p, &best) == DIFFGP_ERROR_KIND);
        return;
    }
    float *probabilities = (float *)malloc(info->classes * sizeof(float));
    CHECK(diffgp_get_probabilities(p, probabilities, info->classes) == DIFFGP_OK);
    CHECK(diffgp_get_probabilities(p, probabilities, info->classes - 1) == DIFFGP_ERROR_CAPACITY);
    CHECK(diffgp_get_class(p, &best) == DIFFGP_OK && best < info->classes);
    for (uint32_t i = 0; i < info->classes; ++i) {
        CHECK(probabilities[i] <= probabilities[best]);
        sum += probabilities[i];
    }
    CHECK(fabsf(sum - 1) < 1e-5f);
    free(probabilities);
}

static void check_model(const void *bytes, size_t length)
{
    diffgp_model *model = (diffgp_model *)calloc(1, sizeof *model);
    diffgp_prediction *p = (diffgp_prediction *)calloc(1, sizeof *p);
    diffgp_run *run = (diffgp_run *)calloc(1, sizeof *run);
    diffgp_info info;
    diffgp_noise noise = {0};
    CHECK(diffgp_model_info(model, &info) == DIFFGP_ERROR_OBJECT);
    CHECK(diffgp_parse(model, bytes, length - 1) == DIFFGP_ERROR_TRUNCATED);
    CHECK(diffgp_parse(model, bytes, length) == DIFFGP_OK);
    CHECK(diffgp_model_info(model, &info) == DIFFGP_OK);
    CHECK(info.workspace_bytes == DIFFGP_WORKSPACE_BYTES(info.inputs, info.features, info.outputs));
    CHECK(info.workspace_bytes == diffgp_workspace_bytes(info.inputs, info.features, info.outputs));

    float *x = (float *)malloc(info.inputs * sizeof *x);
    for (uint32_t i = 0; i < info.inputs; ++i) {
        const char *name;
        size_t name_length;
        float low, high;
        CHECK(diffgp_input_range(model, i, &low, &high) == DIFFGP_OK && low <= high);
        CHECK(diffgp_input_name(model, i, &name, &name_length) == DIFFGP_OK && name_length < 256);
        x[i] = 0.5f * (low + high);
    }
    /* What was in the workspace does not matter. */
    void *workspace = malloc(info.workspace_bytes);
    memset(workspace, 0xa5, info.workspace_bytes);
    CHECK(diffgp_predict(model, x, info.inputs, workspace, info.workspace_bytes - 1, p) == DIFFGP_ERROR_CAPACITY);
    CHECK(diffgp_predict(model, x, info.inputs - 1, workspace, info.workspace_bytes, p) == DIFFGP_ERROR_INPUT_LENGTH);
    CHECK(diffgp_predict(model, NULL, info.inputs, workspace, info.workspace_bytes, p) == DIFFGP_ERROR_NULL);
    CHECK(diffgp_predict(model, (float *)((char *)x + 1), 1, workspace, info.workspace_bytes, p) == DIFFGP_ERROR_ALIGNMENT);
    CHECK(diffgp_predict(model, x, info.inputs, workspace, info.workspace_bytes, p) == DIFFGP_OK);
    CHECK(p->out_of_range == 0);
    check_answers(&info, p);
    CHECK(diffgp_predict_sampled(model, x, info.inputs, 0, &noise, workspace, info.workspace_bytes, p) == DIFFGP_ERROR_NO_PATHS);
    CHECK(diffgp_predict_sampled(model, x, info.inputs, 2, NULL, workspace, info.workspace_bytes, p) == DIFFGP_ERROR_NULL);
    CHECK(diffgp_predict_sampled(model, x, info.inputs, 2, &noise, workspace, info.workspace_bytes, p) == DIFFGP_OK);
    check_answers(&info, p);
    diffgp_output in_one_go = p->output;

    /* Piece by piece, in another workspace, with an input that is gone meanwhile. */
    float *lost = (float *)copy_of(x, info.inputs * sizeof *x);
    CHECK(diffgp_begin(run, model, lost, info.inputs, 2, &noise, in_a_static, sizeof in_a_static) == DIFFGP_OK);
    free(lost);
    diffgp_status status;
    while ((status = diffgp_advance(run)) == DIFFGP_PENDING) {
        CHECK(diffgp_predict(model, x, info.inputs, workspace, info.workspace_bytes, p) == DIFFGP_OK);
    }
    CHECK(status == DIFFGP_OK && diffgp_finish(run, p) == DIFFGP_OK);
    check_answers(&info, p);
    CHECK(memcmp(&in_one_go, &p->output, sizeof in_one_go) == 0);
    CHECK(diffgp_finish(run, p) == DIFFGP_ERROR_OBJECT);

    uint32_t calls = 0;
    noise.next = counting;
    noise.context = &calls;
    CHECK(diffgp_predict_sampled(model, x, info.inputs, 2, &noise, workspace, info.workspace_bytes, p) == DIFFGP_OK);
    CHECK(calls == 2 * info.steps * info.inputs);
    x[0] = NAN;
    CHECK(diffgp_predict(model, x, info.inputs, workspace, info.workspace_bytes, p) == DIFFGP_ERROR_INPUT_NOT_FINITE);
    free(workspace);
    free(x);
    free(run);
    free(p);
    free(model);
}

int main(int count, char **files)
{
    CHECK(count > 1 && diffgp_version() == DIFFGP_VERSION);
    CHECK(strcmp(diffgp_status_text(DIFFGP_OK), "done") == 0 && diffgp_status_text(12345) != NULL);
    for (int i = 1; i < count; ++i) {
        model_name = files[i];
        FILE *file = fopen(files[i], "rb");
        CHECK(file && fseek(file, 0, SEEK_END) == 0);
        size_t length = (size_t)ftell(file);
        rewind(file);
        void *bytes = malloc(length);
        CHECK(bytes && fread(bytes, 1, length, file) == length);
        fclose(file);
        check_model(bytes, length);
        free(bytes);
    }
    printf("%d models\n", count - 1);
    return 0;
}
