/* Calls the functions of the header in any order, with arguments that are right, wrong, null, misaligned or damaged:
 * a.out SECONDS SEED MODEL.dgp... Whatever they say, nothing may crash, nothing may be written beside the memory that was given
 * (guards around it, and the sanitizers), and no number of a prediction that was made may be a NaN. Not guided by coverage: the
 * parser has fuzzers of its own. */
#include "flash.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t state;

static uint32_t word(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}

static uint32_t below(uint32_t bound)
{
    return word() % bound;
}

static int rarely(void)
{
    return below(12) == 0;
}

static void fail(const char *what)
{
    fprintf(stderr, "fuzz: %s\n", what);
    abort();
}

enum { MODELS = 4, WORKSPACES = 3, PREDICTIONS = 4, RUNS = 3, GUARD = 16, MOST_BYTES = 1 << 18 };
enum { WORDS = DIFFGP_WORKSPACE_WORDS(64, 1024, 32) };

static struct {
    void *bytes;
    size_t length;
} files[64];
static uint32_t file_count;

static diffgp_model models[MODELS];
static uint32_t *model_bytes[MODELS];
static diffgp_prediction predictions[PREDICTIONS];
static diffgp_run runs[RUNS];
static uint32_t workspaces[WORKSPACES][GUARD + WORDS + GUARD];
static uint32_t generator;
/* Two devices with a flash each, and what they were sent. */
static struct {
    simulated flash;
    diffgp_flash driver;
    diffgp_slots slots;
    diffgp_update update;
} devices[2];
static uint64_t cuts, committed, confirmed;

static uint32_t next(void *context)
{
    return *(uint32_t *)context += 2654435761u;
}

static void load(void)
{
    uint32_t which = below(MODELS), file = below(file_count);
    size_t length = files[file].length;
    /* What refers to a model is over when the model is gone: that is the caller's part. */
    memset(runs, 0, sizeof runs);
    memset(predictions, 0, sizeof predictions);
    memset(&models[which], 0, sizeof models[which]);
    free(model_bytes[which]);
    model_bytes[which] = (uint32_t *)malloc(length);
    memcpy(model_bytes[which], files[file].bytes, length);
    uint8_t *bytes = (uint8_t *)model_bytes[which];
    size_t offset = rarely() ? below(4) : 0;
    for (uint32_t damage = below(3) ? 0 : below(8); damage > 0; --damage)
        bytes[below((uint32_t)length)] ^= (uint8_t)(1 << below(8));
    size_t said = rarely() ? below((uint32_t)length + 1) : length;
    said = said < offset ? 0 : said - offset;
    switch (below(4)) {
    case 0:
        (void)diffgp_parse_trusted(&models[which], bytes + offset, said);
        break;
    case 1:
        (void)diffgp_parse_within(&models[which], bytes + offset, said, word());
        break;
    default:
        (void)diffgp_parse(rarely() ? NULL : &models[which], rarely() ? NULL : bytes + offset, said);
    }
    /* A damaged model may ask for hours of work. */
    uint64_t drift, path;
    if (diffgp_work(&models[which], &drift, &path) == DIFFGP_OK && path > 300000)
        memset(&models[which], 0, sizeof models[which]);
}

static void check_prediction(const diffgp_prediction *p)
{
    diffgp_output output;
    float low, high, probabilities[32];
    size_t number;
    for (size_t i = 0; i < 34; ++i) {
        if (diffgp_get_output(p, i, &output) == DIFFGP_OK && !(isfinite(output.mean) && isfinite(output.variance)))
            fail("an output is not finite");
        if (diffgp_get_interval(p, i, (float)below(100) / 90, &low, &high) == DIFFGP_OK && !(low <= high))
            fail("an interval is upside down");
    }
    (void)diffgp_get_class(p, &number);
    if (diffgp_get_probabilities(p, probabilities, below(33)) == DIFFGP_OK
        && !(probabilities[0] >= 0 && probabilities[0] <= 1.00001f))
        fail("a probability is none");
}

/* An input that suits the model, or not. */
static uint32_t input(const diffgp_model *model, float *x)
{
    diffgp_info info;
    uint32_t count = diffgp_model_info(model, &info) == DIFFGP_OK ? info.inputs : below(65);
    for (uint32_t i = 0; i < 64; ++i) {
        float low, high;
        if (diffgp_input_range(model, i, &low, &high) != DIFFGP_OK)
            low = high = 0;
        x[i] = low + (high - low) * (float)below(1000) / 999;
        if (below(200) == 0) {
            uint32_t bits = word();
            memcpy(&x[i], &bits, sizeof bits);
        }
    }
    return rarely() ? below(65) : count;
}

static void predict(void)
{
    float x[64];
    diffgp_noise noise = {word(), word(), rarely() ? next : NULL, &generator};
    const diffgp_model *model = &models[below(MODELS)];
    uint32_t inputs = input(model, x), which = below(WORKSPACES), paths = rarely() ? 0 : 1 + below(2);
    char *workspace = (char *)(workspaces[which] + GUARD) + (rarely() ? below(4) : 0);
    size_t bytes = rarely() ? below(4 * WORDS) : 4 * WORDS - 4;
    const float *at = rarely() ? NULL : rarely() ? (const float *)((const char *)x + 1) : x;
    if (at != x && at != NULL && inputs > 63)
        inputs = 63;
    /* An input inside the workspace is refused. */
    if (rarely() && inputs <= 64)
        at = (const float *)(const void *)(workspaces[which] + GUARD + below(8));
    diffgp_prediction *p = rarely() ? NULL : &predictions[below(PREDICTIONS)];
    diffgp_run *run = rarely() ? NULL : &runs[below(RUNS)];
    diffgp_status status;
    switch (below(3)) {
    case 0:
        status = diffgp_predict(rarely() ? NULL : model, at, inputs, workspace, bytes, p);
        break;
    case 1:
        status = diffgp_predict_sampled(model, at, inputs, paths, rarely() ? NULL : &noise, workspace, bytes, p);
        break;
    default:
        (void)diffgp_begin(run, model, at, inputs, paths, rarely() ? NULL : &noise, workspace, bytes);
        return;
    }
    if (status == DIFFGP_OK) {
        if (!isfinite(p->output.mean) || !(p->output.variance >= 0))
            fail("a prediction is not finite");
        check_prediction(p);
    }
}

static void go_on(void)
{
    diffgp_run *run = &runs[below(RUNS)];
    diffgp_run copy;
    diffgp_status status = DIFFGP_PENDING;
    if (rarely()) {
        memcpy(&copy, run, sizeof copy);
        if (diffgp_advance(&copy) >= DIFFGP_OK)
            fail("a copy of a run goes on");
    }
    for (uint32_t pieces = below(200); pieces > 0 && status == DIFFGP_PENDING; --pieces)
        status = diffgp_advance(run);
    if (below(2)) {
        diffgp_prediction *p = rarely() ? NULL : &predictions[below(PREDICTIONS)];
        if (diffgp_finish(run, p) == DIFFGP_OK)
            check_prediction(p);
    }
}

static void ask(void)
{
    const diffgp_model *model = rarely() ? NULL : &models[below(MODELS)];
    const char *name = NULL;
    const uint8_t *id = NULL;
    size_t length = 0, sum = 0;
    typedef diffgp_status (*naming)(const diffgp_model *, size_t, const char **, size_t *);
    static const naming functions[3] = {diffgp_input_name, diffgp_target_name, diffgp_class_name};
    if (functions[below(3)](model, rarely() ? (size_t)-1 : below(70), rarely() ? NULL : &name, &length) == DIFFGP_OK)
        for (size_t i = 0; i < length; ++i)
            sum += (size_t)(unsigned char)name[i];
    if (diffgp_model_id(model, &id, rarely() ? NULL : &length) == DIFFGP_OK)
        for (size_t i = 0; i < length; ++i)
            sum += id[i];
    generator += (uint32_t)sum;
    (void)diffgp_workspace_bytes(word() >> below(32), word() >> below(32), word() >> below(32));
    if (diffgp_status_text((int32_t)word() % 200) == NULL)
        fail("a status without a text");
    check_prediction(&predictions[below(PREDICTIONS)]);
}

/* Power comes back, or the program starts anew: a model that was there must be there. */
static void boot(uint32_t which)
{
    diffgp_limits limits = {4 * WORDS, 300000};
    static const uint8_t keys[2 * 32];
    diffgp_keys signers = {rarely() ? NULL : keys, below(3), word(), (uint8_t)below(2)};
    devices[which].flash.dead = 0;
    devices[which].flash.steps_left = -1;
    diffgp_slots *slots = &devices[which].slots;
    diffgp_status status = rarely()
        ? diffgp_slots_open_signed(slots, &devices[which].driver, &limits, rarely() ? NULL : &signers)
        : diffgp_slots_open(slots, rarely() ? NULL : &devices[which].driver, rarely() ? NULL : &limits);
    if (status != DIFFGP_OK && diffgp_slots_confirm(slots) != DIFFGP_ERROR_OBJECT)
        fail("slots that were refused can be used");
}

static void update(void)
{
    uint32_t which = below(2);
    diffgp_slots *slots = rarely() ? NULL : &devices[which].slots;
    diffgp_update *begun = rarely() ? NULL : &devices[rarely() ? below(2) : which].update;
    simulated *flash = &devices[which].flash;
    const uint8_t *bytes;
    size_t length, file = below(file_count), at = 0;
    diffgp_slots_info info;
    const void *model;
    switch (below(8)) {
    case 0:
        boot(which);
        break;
    case 1:
        flash->damage = (int)below(DAMAGES);
        flash->steps_left = (long)below(1000);
        break;
    case 2:
        if (diffgp_slots_confirm(slots) == DIFFGP_OK)
            ++confirmed;
        break;
    case 3:
        (void)diffgp_slots_take_back(slots);
        break;
    default:
        /* A model, whole or in part, as it is or damaged, in one go or in pieces. */
        bytes = (const uint8_t *)files[file].bytes;
        length = rarely() ? below((uint32_t)files[file].length) : files[file].length;
        diffgp_status status = diffgp_update_begin(begun, slots, rarely() ? word() >> below(32) : (uint32_t)length);
        while (status == DIFFGP_OK && at < length) {
            size_t piece = 1 + below(1000);
            piece = piece < length - at ? piece : length - at;
            if (below(100) == 0)
                boot(which);
            status = diffgp_update_write(begun, slots, bytes + at, piece);
            at += piece;
        }
        if (!rarely() && diffgp_update_commit(begun, slots) == DIFFGP_OK)
            ++committed;
    }
    if (flash->dead) {
        ++cuts;
        boot(which);
    }
    (void)diffgp_slots_describe(slots, rarely() ? NULL : &info);
    if (diffgp_slots_model(slots, &model, &length) == DIFFGP_OK) {
        diffgp_model parsed;
        if (diffgp_parse(&parsed, model, length) != DIFFGP_OK)
            fail("a model in use is damaged");
    }
}

int main(int count, char **arguments)
{
    if (count < 4 || count - 3 > 64)
        fail("usage: SECONDS SEED MODEL.dgp...");
    time_t end = time(NULL) + atol(arguments[1]);
    state = strtoull(arguments[2], NULL, 10) * 2654435761u + 88172645463325252u;
    for (int i = 3; i < count; ++i) {
        FILE *file = fopen(arguments[i], "rb");
        if (!file)
            fail(arguments[i]);
        void *bytes = malloc(MOST_BYTES);
        size_t length = fread(bytes, 1, MOST_BYTES, file);
        fclose(file);
        files[file_count].bytes = bytes;
        files[file_count++].length = length;
    }
    for (int i = 0; i < WORKSPACES; ++i)
        memset(workspaces[i], 0x5a, sizeof workspaces[i]);
    for (int i = 0; i < MODELS; ++i)
        load();
    for (int i = 0; i < 2; ++i)
        devices[i].driver = new_flash(&devices[i].flash, i);
    uint64_t calls = 0;
    for (; calls % 64 != 0 || time(NULL) < end; ++calls) {
        switch (below(9)) {
        case 0:
            load();
            break;
        case 1:
        case 2:
            go_on();
            break;
        case 3:
            ask();
            break;
        case 4:
            update();
            break;
        default:
            predict();
        }
        for (int i = 0; i < WORKSPACES; ++i)
            for (int k = 0; k < GUARD; ++k)
                if (workspaces[i][k] != 0x5a5a5a5au || workspaces[i][GUARD + WORDS + k] != 0x5a5a5a5au)
                    fail("a guard was overwritten");
    }
    printf("%llu rounds, of updates %llu committed, %llu confirmed, %llu power cuts\n", (unsigned long long)calls,
           (unsigned long long)committed, (unsigned long long)confirmed, (unsigned long long)cuts);
    for (int i = 0; i < 2; ++i)
        free_flash(&devices[i].flash);
    return 0;
}
