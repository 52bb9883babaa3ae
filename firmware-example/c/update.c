/* Replaces the model while the program runs: two slots in flash, a model that arrives in pieces, a trial, and only then for good.
 *
 * Under QEMU memory plays the flash, and the model beside the image is what arrives. On a board of your own, the three functions
 * call the driver of your flash, and mapped is the address where the flash begins. */
#include "board.h"
#include "diffgp.h"

#include <string.h>

/* The largest model that this program takes, and the work that it has time for. */
enum { D = 4, M = 50, O = 1, MOST_OPERATIONS = 10000000 };
enum { PAGE = 256, SLOT_BYTES = 2048 };

static uint32_t flash[2 * SLOT_BYTES / 4];
static diffgp_slots slots;
static diffgp_update update;
static diffgp_model model;
static uint32_t workspace[DIFFGP_WORKSPACE_WORDS(D, M, O)];

static int flash_read(void *context, uint32_t offset, void *bytes, size_t length)
{
    (void)context;
    memcpy(bytes, (const char *)flash + offset, length);
    return 0;
}

static int flash_write(void *context, uint32_t offset, const void *bytes, size_t length)
{
    (void)context;
    for (size_t i = 0; i < length / 4; ++i) {
        uint32_t word;
        memcpy(&word, (const char *)bytes + 4 * i, 4);
        flash[offset / 4 + i] &= word;
    }
    return 0;
}

static int flash_erase(void *context, uint32_t from, uint32_t to)
{
    (void)context;
    memset((char *)flash + from, 0xff, to - from);
    return 0;
}

static const diffgp_flash driver = {
    .read = flash_read,
    .write = flash_write,
    .erase = flash_erase,
    .bytes = sizeof flash,
    .erase_bytes = PAGE,
    .start = 0,
    .slot_bytes = SLOT_BYTES,
    .mapped = flash,
};

static diffgp_status boot(void)
{
    diffgp_limits limits = {.workspace_bytes = sizeof workspace, .operations = MOST_OPERATIONS};
#ifdef SIGNED
    /* The public key of the secret key 000102...1f, which everybody knows: your own is made by `diffgp keygen`. */
    static const uint8_t key[32] = {
        0x03, 0xa1, 0x07, 0xbf, 0xf3, 0xce, 0x10, 0xbe, 0x1d, 0x70, 0xdd, 0x18, 0xe7, 0x4b, 0xc0, 0x99,
        0x67, 0xe4, 0xd6, 0x30, 0x9b, 0xa5, 0x0d, 0x5f, 0x1d, 0xdc, 0x86, 0x64, 0x12, 0x55, 0x31, 0xb8,
    };
    diffgp_keys keys = {.keys = key, .count = 1};
    return diffgp_slots_open_signed(&slots, &driver, &limits, &keys);
#else
    return diffgp_slots_open(&slots, &driver, &limits);
#endif
}

/* A model of that many bytes, as it arrives. */
static diffgp_status receive(const char *bytes, uint32_t length)
{
    diffgp_status status = diffgp_update_begin(&update, &slots, length);
    for (uint32_t at = 0; status == DIFFGP_OK && at < length; at += 100)
        status = diffgp_update_write(&update, &slots, bytes + at, length - at < 100 ? length - at : 100);
    return status == DIFFGP_OK ? diffgp_update_commit(&update, &slots) : status;
}

/* Predicts with the model in use. */
static diffgp_status predict(diffgp_prediction *p)
{
    const void *bytes;
    size_t length;
    diffgp_info info;
    float x[D];
    diffgp_status status = diffgp_slots_model(&slots, &bytes, &length);
    if (status == DIFFGP_OK)
        status = diffgp_parse_trusted(&model, bytes, length);
    if (status == DIFFGP_OK)
        status = diffgp_model_info(&model, &info);
    for (uint32_t i = 0; status == DIFFGP_OK && i < info.inputs; ++i) {
        float high;
        status = diffgp_input_range(&model, i, &x[i], &high);
    }
    return status == DIFFGP_OK ? diffgp_predict(&model, x, info.inputs, workspace, sizeof workspace, p) : status;
}

static void say(const char *what, diffgp_status status)
{
    print(what);
    print(diffgp_status_text(status));
    print("\n");
}

int main(void)
{
    /* Beside the image lies how long the file is, and the file. */
    uint32_t length = model_start[0];
    const char *file = (const char *)(model_start + 1);
    diffgp_prediction p;
    uint32_t mean;

    memset(flash, 0xff, sizeof flash);
    say("open: ", boot());
    say("before: ", predict(&p));
    say("half a model: ", receive(file, length / 2));
    say("the model: ", receive(file, length));
    diffgp_status status = predict(&p);
    say("on trial: ", status);
    if (status != DIFFGP_OK || p.out_of_range != 0)
        return 1;
    say("kept: ", diffgp_slots_confirm(&slots));
    /* The program starts again. */
    say("open: ", boot());
    say("predicts: ", predict(&p));
    memcpy(&mean, &p.output.mean, sizeof mean);
    print("mean ");
    print_word(mean);
    print("\n");
#ifdef SIGNED
    say("again: ", receive(file, length));
#endif
    return 0;
}
