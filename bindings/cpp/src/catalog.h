// A catalog in a directory (P8), as a caller outside reads it.
#pragma once

#include <ambrosia/wire.h>

namespace ambrosia::inline v0 {

struct catalog_entry {
  bytes secret;
  std::string address;  // of the primary
};

// The secret of the catalog, and where the primary of an instance is by the entry with the highest epoch. False, with the reason, where the
// directory or its secret is open to others, or there is no primary.
bool read_catalog(const std::string& directory, const std::string& instance, catalog_entry& entry, std::string& why);

}  // namespace ambrosia::inline v0
