// PROBE: the app that the conformance kit judges. PROBE vectors FILE: what this binding reads of each vector. PROBE call CATALOG INSTANCE NAME: a
// caller outside, which asks what its input tells it.
#include "probe.h"

#include <cstring>

#include "caller.h"
#include "vectors.h"

int main(int count, char** arguments) {
  if (count == 3 && std::strcmp(arguments[1], "vectors") == 0) return vectors::print(arguments[2]);
  if (count == 5 && std::strcmp(arguments[1], "call") == 0) return caller::converse(arguments[2], arguments[3], arguments[4]);
  return ambrosia::run<probe::Probe>();
}
