// Predicts with a model of `diffgp export --c`: put its model.c and model.h beside this sketch.
#include <diffgp.h>
#include "model.h"

static diffgp_model model;
static uint32_t workspace[MODEL_WORKSPACE_WORDS];

void setup() {
  Serial.begin(115200);
  diffgp_status status = diffgp_parse(&model, model_data, MODEL_DATA_BYTES);
  if (status != DIFFGP_OK) {
    Serial.println(diffgp_status_text(status));
  }
}

void loop() {
  float x[MODEL_INPUTS] = {0};  // your sensors
  diffgp_prediction p;
  if (diffgp_predict(&model, x, MODEL_INPUTS, workspace, sizeof workspace, &p) == DIFFGP_OK) {
    Serial.print(p.output.mean);
    Serial.print(" +- ");
    Serial.println(p.output.std_dev);
  }
  delay(1000);
}
