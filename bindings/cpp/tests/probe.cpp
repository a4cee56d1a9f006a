// PROBE: the app that the conformance kit judges. PROBE vectors FILE: what this binding reads of each vector. PROBE call CATALOG INSTANCE NAME [CERTIFICATE KEY
// AUTHORITIES]: a caller outside, which asks what its input tells it.
#include "probe.h"

#include <cstring>

#include "caller.h"
#include "vectors.h"

int main(int count, char** arguments) {
  if (count == 3 && std::strcmp(arguments[1], "vectors") == 0) return vectors::print(arguments[2]);
  if ((count == 5 || count == 8) && std::strcmp(arguments[1], "call") == 0) {
    ambrosia::client_certificates certificates;
    if (count == 8) certificates = {arguments[5], arguments[6], arguments[7]};
    return caller::converse(arguments[2], arguments[3], arguments[4], certificates);
  }
  return ambrosia::run<probe::Probe>();
}
