/* Model updates from C over a flash in memory, on the host, under the sanitizers: a.out MODEL.dgp OTHER.dgp SIGNED.bin. Power is
 * lost in every step of an update, in five ways, with mapped flash and with copied models; no model may be lost. SIGNED.bin is
 * the first model with its signature block, by the key that everybody knows. */
#include "flash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                            \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);         \
            exit(1);                                                                \
        }                                                                           \
    } while (0)

typedef char slots_size[sizeof(diffgp_slots) == DIFFGP_SLOTS_BYTES ? 1 : -1];
typedef char update_size[sizeof(diffgp_update) == DIFFGP_UPDATE_BYTES ? 1 : -1];

typedef struct {
    uint8_t *bytes;
    size_t length;
} file;

static file read_file(const char *path)
{
    FILE *stream = fopen(path, "rb");
    CHECK(stream && fseek(stream, 0, SEEK_END) == 0);
    file found = {NULL, (size_t)ftell(stream)};
    rewind(stream);
    found.bytes = malloc(found.length);
    CHECK(found.bytes && fread(found.bytes, 1, found.length, stream) == found.length);
    fclose(stream);
    return found;
}

/* The model in use, in any memory: 0 for none. */
static int in_use(const diffgp_slots *slots, const file *models, int count)
{
    const void *bytes;
    size_t length;
    diffgp_status status = diffgp_slots_model(slots, &bytes, &length);
    if (status == DIFFGP_ERROR_NO_MODEL)
        return 0;
    CHECK(status == DIFFGP_OK);
    for (int i = 0; i < count; ++i)
        if (models[i].length == length && memcmp(models[i].bytes, bytes, length) == 0)
            return i + 1;
    return -1;
}

static diffgp_status write_all(diffgp_slots *slots, diffgp_update *update, const file *model, size_t pieces)
{
    diffgp_status status = diffgp_update_begin(update, slots, (uint32_t)model->length);
    for (size_t at = 0; status == DIFFGP_OK && at < model->length; at += pieces) {
        size_t length = model->length - at < pieces ? model->length - at : pieces;
        status = diffgp_update_write(update, slots, model->bytes + at, length);
    }
    return status == DIFFGP_OK ? diffgp_update_commit(update, slots) : status;
}

static void check_updates(int mapped, const file *models)
{
    simulated flash;
    diffgp_slots *slots = calloc(1, sizeof *slots);
    diffgp_update *update = calloc(1, sizeof *update);
    diffgp_slots_info info;
    const void *bytes;
    size_t length;
    diffgp_flash driver = new_flash(&flash, mapped);
    CHECK(diffgp_slots_model(slots, &bytes, &length) == DIFFGP_ERROR_OBJECT);
    CHECK(diffgp_slots_open(slots, &driver, NULL) == DIFFGP_OK);
    CHECK(diffgp_slots_model(slots, &bytes, &length) == DIFFGP_ERROR_NO_MODEL);
    CHECK(diffgp_slots_confirm(slots) == DIFFGP_ERROR_NOTHING_ON_TRIAL);
    CHECK(diffgp_update_begin(update, slots, UINT32_MAX) == DIFFGP_ERROR_TOO_LONG);
    CHECK(diffgp_update_write(update, slots, models[0].bytes, 1) == DIFFGP_ERROR_OBJECT);
    CHECK(write_all(slots, update, &models[0], 1) == DIFFGP_OK && in_use(slots, models, 2) == 1);
    CHECK(diffgp_update_commit(update, slots) == DIFFGP_ERROR_OBJECT);
    CHECK(diffgp_slots_describe(slots, &info) == DIFFGP_OK);
    CHECK(info.refused == DIFFGP_OK && !info.is_confirmed && !info.is_on_trial && !info.is_signed);
    CHECK(info.capacity == SLOT_BYTES - 64);
    CHECK(diffgp_slots_confirm(slots) == DIFFGP_OK);

    /* On trial, predicted with, and taken back; then again, and kept. */
    CHECK(write_all(slots, update, &models[1], 1000) == DIFFGP_OK && in_use(slots, models, 2) == 2);
    CHECK(diffgp_slots_describe(slots, &info) == DIFFGP_OK && info.is_on_trial && !info.is_confirmed);
    static diffgp_model model;
    CHECK(diffgp_slots_model(slots, &bytes, &length) == DIFFGP_OK);
    CHECK(diffgp_parse_trusted(&model, bytes, length) == DIFFGP_OK);
    CHECK(diffgp_slots_take_back(slots) == DIFFGP_OK && in_use(slots, models, 2) == 1);
    CHECK(write_all(slots, update, &models[1], 33) == DIFFGP_OK);
    CHECK(diffgp_slots_open(slots, &driver, NULL) == DIFFGP_OK && in_use(slots, models, 2) == 1);
    CHECK(write_all(slots, update, &models[1], 33) == DIFFGP_OK && diffgp_slots_confirm(slots) == DIFFGP_OK);
    CHECK(diffgp_slots_open(slots, &driver, NULL) == DIFFGP_OK && in_use(slots, models, 2) == 2);
    CHECK(diffgp_slots_describe(slots, &info) == DIFFGP_OK && info.is_confirmed);

    /* An update that the slots have moved on from, that is too long, too short, or damaged. */
    diffgp_update *lost = calloc(1, sizeof *lost);
    CHECK(diffgp_update_begin(lost, slots, 100) == DIFFGP_OK && diffgp_update_begin(update, slots, 100) == DIFFGP_OK);
    CHECK(diffgp_update_write(lost, slots, models[0].bytes, 1) == DIFFGP_ERROR_STALE);
    CHECK(diffgp_update_write(update, slots, NULL, 1) == DIFFGP_ERROR_NULL);
    CHECK(diffgp_update_write(update, slots, models[0].bytes, 101) == DIFFGP_ERROR_UPDATE_LENGTH);
    CHECK(diffgp_update_begin(update, slots, 100) == DIFFGP_OK);
    CHECK(diffgp_update_commit(update, slots) == DIFFGP_ERROR_UPDATE_LENGTH);
    file damaged = {malloc(models[0].length), models[0].length};
    memcpy(damaged.bytes, models[0].bytes, damaged.length);
    damaged.bytes[damaged.length / 2] ^= 1;
    CHECK(write_all(slots, update, &damaged, 100) == DIFFGP_ERROR_CHECKSUM && in_use(slots, models, 2) == 2);

    /* What the program has no room or no time for. */
    diffgp_limits limits = {8, UINT64_MAX};
    CHECK(diffgp_slots_open(slots, &driver, &limits) == DIFFGP_OK);
    CHECK(in_use(slots, models, 2) != 2 && diffgp_slots_describe(slots, &info) == DIFFGP_OK);
    CHECK(info.refused == DIFFGP_ERROR_CAPACITY);
    limits.workspace_bytes = SIZE_MAX;
    limits.operations = 1;
    CHECK(diffgp_slots_open(slots, &driver, &limits) == DIFFGP_OK);
    CHECK(diffgp_slots_describe(slots, &info) == DIFFGP_OK && info.refused == DIFFGP_ERROR_WORK);

    /* A copy of the object, and places where no slots can be. */
    diffgp_slots *copy = malloc(sizeof *copy);
    CHECK(diffgp_slots_open(slots, &driver, NULL) == DIFFGP_OK);
    memcpy(copy, slots, sizeof *copy);
    CHECK(diffgp_slots_model(copy, &bytes, &length) == DIFFGP_ERROR_OBJECT);
    diffgp_flash wrong = driver;
    wrong.slot_bytes = PAGE / 2;
    CHECK(diffgp_slots_open(slots, &wrong, NULL) == DIFFGP_ERROR_LAYOUT);
    wrong = driver;
    wrong.bytes = driver.bytes - 1;
    CHECK(diffgp_slots_open(slots, &wrong, NULL) == DIFFGP_ERROR_LAYOUT);
    wrong = driver;
    wrong.erase_bytes = 24;
    CHECK(diffgp_slots_open(slots, &wrong, NULL) == DIFFGP_ERROR_LAYOUT);
    wrong = driver;
    wrong.erase = NULL;
    CHECK(diffgp_slots_open(slots, &wrong, NULL) == DIFFGP_ERROR_NULL);
    wrong = driver;
    wrong.mapped = wrong.memory = NULL;
    CHECK(diffgp_slots_open(slots, &wrong, NULL) == DIFFGP_ERROR_NULL);
    CHECK(diffgp_slots_model(slots, &bytes, &length) == DIFFGP_ERROR_OBJECT);
    if (!mapped) {
        wrong = driver;
        wrong.memory_bytes = 16;
        CHECK(diffgp_slots_open(slots, &wrong, NULL) == DIFFGP_OK);
        CHECK(diffgp_slots_describe(slots, &info) == DIFFGP_OK && info.refused == DIFFGP_ERROR_CAPACITY);
    }
    free(copy);
    free(damaged.bytes);
    free(lost);
    free(update);
    free(slots);
    free_flash(&flash);
}

/* Power is lost in step after step of an update with its confirmation; after each, a boot must find one of the two models. */
static unsigned check_power_cuts(int mapped, const file *models)
{
    unsigned cuts = 0, renewed = 0;
    diffgp_slots *slots = calloc(1, sizeof *slots);
    diffgp_update *update = calloc(1, sizeof *update);
    for (int damage = 0; damage < DAMAGES; ++damage) {
        for (long step = 0;; ++step) {
            simulated flash;
            diffgp_flash driver = new_flash(&flash, mapped);
            CHECK(diffgp_slots_open(slots, &driver, NULL) == DIFFGP_OK);
            CHECK(write_all(slots, update, &models[0], 100) == DIFFGP_OK && diffgp_slots_confirm(slots) == DIFFGP_OK);
            flash.steps_left = step;
            flash.damage = damage;
            int done = write_all(slots, update, &models[1], 100) == DIFFGP_OK && diffgp_slots_confirm(slots) == DIFFGP_OK;
            flash.steps_left = -1;
            flash.dead = 0;
            CHECK(diffgp_slots_open(slots, &driver, NULL) == DIFFGP_OK);
            int found = in_use(slots, models, 2);
            CHECK(found == 1 || found == 2);
            CHECK(!done || found == 2);
            renewed += found == 2;
            free_flash(&flash);
            if (done)
                break;
            ++cuts;
        }
    }
    CHECK(renewed >= DAMAGES);
    free(update);
    free(slots);
    return cuts;
}

/* Ed25519, and the key of the secret key 000102...1f. */
static const uint8_t KEY[32] = {
    0x03, 0xa1, 0x07, 0xbf, 0xf3, 0xce, 0x10, 0xbe, 0x1d, 0x70, 0xdd, 0x18, 0xe7, 0x4b, 0xc0, 0x99,
    0x67, 0xe4, 0xd6, 0x30, 0x9b, 0xa5, 0x0d, 0x5f, 0x1d, 0xdc, 0x86, 0x64, 0x12, 0x55, 0x31, 0xb8,
};

static void check_signatures(int mapped, const file *models, const file *with_signature)
{
    simulated flash;
    diffgp_flash driver = new_flash(&flash, mapped);
    diffgp_slots *slots = calloc(1, sizeof *slots);
    diffgp_update *update = calloc(1, sizeof *update);
    diffgp_slots_info info;
    uint8_t two[64] = {0};
    memcpy(two + 32, KEY, 32);
    diffgp_keys keys = {two, 2, 0, 0};
    CHECK(diffgp_is_signed_by(KEY, with_signature->bytes, with_signature->length) == DIFFGP_OK);
    CHECK(diffgp_is_signed_by(two, with_signature->bytes, with_signature->length) == DIFFGP_ERROR_FORGED);
    CHECK(diffgp_is_signed_by(KEY, models[0].bytes, models[0].length) == DIFFGP_ERROR_FORGED);
    CHECK(diffgp_is_signed_by(KEY, models[0].bytes, 0) == DIFFGP_ERROR_FORGED);
    CHECK(diffgp_slots_open_signed(slots, &driver, NULL, NULL) == DIFFGP_ERROR_NULL);
    CHECK(diffgp_slots_open_signed(slots, &driver, NULL, &keys) == DIFFGP_OK);
    CHECK(write_all(slots, update, &models[0], 100) == DIFFGP_ERROR_UNSIGNED);
    CHECK(write_all(slots, update, with_signature, 100) == DIFFGP_OK && in_use(slots, models, 1) == 1);
    CHECK(diffgp_slots_confirm(slots) == DIFFGP_OK);
    CHECK(diffgp_slots_describe(slots, &info) == DIFFGP_OK && info.is_signed && info.counter == 7);
    CHECK(write_all(slots, update, with_signature, 100) == DIFFGP_ERROR_OLDER);
    keys.also_at_boot = 1;
    CHECK(diffgp_slots_open_signed(slots, &driver, NULL, &keys) == DIFFGP_OK && in_use(slots, models, 1) == 1);
    keys.least_counter = 8;
    CHECK(diffgp_slots_open_signed(slots, &driver, NULL, &keys) == DIFFGP_OK && in_use(slots, models, 1) == 0);
    CHECK(diffgp_slots_describe(slots, &info) == DIFFGP_OK && info.refused == DIFFGP_ERROR_OLDER);
    /* In another firmware, with another key, and with one bit changed. */
    free_flash(&flash);
    driver = new_flash(&flash, mapped);
    keys.least_counter = 0;
    two[32 + 8] ^= 1;
    CHECK(diffgp_slots_open_signed(slots, &driver, NULL, &keys) == DIFFGP_OK);
    CHECK(write_all(slots, update, with_signature, 100) == DIFFGP_ERROR_FORGED);
    two[32] ^= 1;
    CHECK(write_all(slots, update, with_signature, 100) == DIFFGP_ERROR_OTHER_KEY);
    memcpy(two + 32, KEY, 32);
    with_signature->bytes[with_signature->length - 20] ^= 4;
    CHECK(write_all(slots, update, with_signature, 100) == DIFFGP_ERROR_FORGED && in_use(slots, models, 1) == 0);
    with_signature->bytes[with_signature->length - 20] ^= 4;
    CHECK(write_all(slots, update, with_signature, 100) == DIFFGP_OK);
    free(update);
    free(slots);
    free_flash(&flash);
}

int main(int count, char **names)
{
    CHECK(count == 4);
    file models[2] = {read_file(names[1]), read_file(names[2])}, with_signature = read_file(names[3]);
    unsigned cuts = 0;
    for (int mapped = 0; mapped < 2; ++mapped) {
        check_updates(mapped, models);
        cuts += check_power_cuts(mapped, models);
        check_signatures(mapped, models, &with_signature);
    }
    printf("%u power cuts, models lost: 0\n", cuts);
    free(models[0].bytes);
    free(models[1].bytes);
    free(with_signature.bytes);
    return 0;
}
