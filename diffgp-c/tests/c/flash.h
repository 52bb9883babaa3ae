/* A flash in memory, in which power can be lost. */
#ifndef FLASH_H
#define FLASH_H

#include "diffgp.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 256, START = 2 * PAGE, SLOT_BYTES = 24 * PAGE, FLASH_BYTES = START + 2 * SLOT_BYTES, DAMAGES = 5 };

typedef struct {
    uint8_t *bytes;
    uint32_t *memory;
    /* Steps until power is lost; negative for never. */
    long steps_left;
    /* What the step leaves: nothing, everything, half of its bits, zeros, or the first half of its bytes. */
    int damage;
    int dead;
} simulated;

/* 1: go on; 0: power is lost now; -1: it is lost already. */
static int step(simulated *flash)
{
    if (flash->dead)
        return -1;
    if (flash->steps_left < 0 || flash->steps_left-- > 0)
        return 1;
    flash->dead = 1;
    return 0;
}

static int flash_read(void *context, uint32_t offset, void *bytes, size_t length)
{
    simulated *flash = context;
    if (flash->dead || offset > FLASH_BYTES || length > FLASH_BYTES - offset)
        return -1;
    memcpy(bytes, flash->bytes + offset, length);
    return 0;
}

static int flash_write(void *context, uint32_t offset, const void *bytes, size_t length)
{
    simulated *flash = context;
    if (offset % DIFFGP_FLASH_WRITE_BYTES || length % DIFFGP_FLASH_WRITE_BYTES || length > 512)
        abort();
    if (offset > FLASH_BYTES || length > FLASH_BYTES - offset)
        abort();
    for (size_t i = 0; i < length; i += 4) {
        int go_on = step(flash);
        if (go_on < 0)
            return -1;
        for (size_t k = i; k < i + 4; ++k) {
            uint8_t meant = ((const uint8_t *)bytes)[k], left = meant;
            if (!go_on)
                left = flash->damage == 0   ? 0xff
                       : flash->damage == 1 ? meant
                       : flash->damage == 2 ? (uint8_t)(meant | 0xa5)
                       : flash->damage == 3 ? 0
                       : k < i + 2          ? meant
                                            : 0xff;
            flash->bytes[offset + k] &= left;
        }
        if (!go_on)
            return -1;
    }
    return 0;
}

static int flash_erase(void *context, uint32_t from, uint32_t to)
{
    simulated *flash = context;
    if (from % PAGE || to % PAGE || from > to || to > FLASH_BYTES)
        abort();
    int go_on = step(flash);
    if (go_on < 0)
        return -1;
    uint32_t half = from + (to - from) / 2;
    if (go_on || flash->damage == 1)
        memset(flash->bytes + from, 0xff, to - from);
    else if (flash->damage == 2)
        for (uint32_t at = from; at < half; ++at)
            flash->bytes[at] &= 0x55;
    else if (flash->damage == 3)
        memset(flash->bytes + from, 0, to - from);
    else if (flash->damage == 4)
        memset(flash->bytes + from, 0, 64);
    return go_on ? 0 : -1;
}

/* New flash, which reads as ff; mapped, or with memory to copy models to. */
static diffgp_flash new_flash(simulated *flash, int mapped)
{
    flash->bytes = malloc(FLASH_BYTES);
    flash->memory = malloc(SLOT_BYTES);
    if (!flash->bytes || !flash->memory)
        abort();
    memset(flash->bytes, 0xff, FLASH_BYTES);
    flash->steps_left = -1;
    flash->damage = flash->dead = 0;
    diffgp_flash driver = {flash_read, flash_write, flash_erase, flash, FLASH_BYTES, PAGE, START, SLOT_BYTES, NULL, NULL, 0};
    if (mapped) {
        driver.mapped = flash->bytes;
    } else {
        driver.memory = flash->memory;
        driver.memory_bytes = SLOT_BYTES;
    }
    return driver;
}

static void free_flash(simulated *flash)
{
    free(flash->bytes);
    free(flash->memory);
}

#endif
