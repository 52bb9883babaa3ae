// A model's header as `diffgp export --c` writes it, without a model behind it.
#pragma once

#include "diffgp.h"

#define MODEL_INPUTS 4
#define MODEL_WORKSPACE_WORDS DIFFGP_WORKSPACE_WORDS(4, 50, 1)
#define MODEL_DATA_BYTES 64

alignas(4) static const uint8_t model_data[MODEL_DATA_BYTES] = {0};
