// PROBE: the app that the conformance kit judges. PROBE vectors FILE: what this binding reads of each vector.
#include <cstring>

#include "probe.h"
#include "vectors.h"

int main(int count, char** arguments) {
  if (count == 3 && std::strcmp(arguments[1], "vectors") == 0) return vectors::print(arguments[2]);
  return ambrosia::run<probe::Probe>();
}
