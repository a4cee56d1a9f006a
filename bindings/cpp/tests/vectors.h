// What this binding reads of a vector (protocol/vectors/README.md): {"expect": …}, {"error": …} or {"skip": …}.
#pragma once

#include "json.h"

namespace vectors {

json::value read(const json::value& entry);
// Prints one line for each entry of a file; the kit compares them.
int print(const char* path);
bool load(const char* path, json::value& entries);

}  // namespace vectors
