#include <diffgp.h>
#include <stdio.h>

static diffgp_model model;
static const uint32_t erased[64];

int main(void)
{
    puts(diffgp_status_text(diffgp_parse(&model, erased, sizeof erased)));
    return 0;
}
