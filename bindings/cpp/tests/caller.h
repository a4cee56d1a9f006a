// The probe of the conformance kit as a caller outside.
#pragma once

#include <ambrosia/client.h>

namespace caller {

// Reads a question from each line of the standard input, and prints what came of it; until the input ends.
int converse(const char* catalog, const char* instance, const char* name, const ambrosia::client_certificates& certificates);

}  // namespace caller
