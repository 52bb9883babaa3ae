// As much of Arduino as the example needs, with a main that calls it as the core does.
#pragma once

#include <stdint.h>

struct Printer {
  void begin(long) {}
  void print(const char *) {}
  void print(float) {}
  void println(const char *) {}
  void println(float) {}
};

static Printer Serial;
static void delay(int) {}

void setup();
void loop();

int main() {
  setup();
  for (;;)
    loop();
}
