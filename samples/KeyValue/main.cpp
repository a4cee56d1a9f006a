// keyvalue store | keyvalue writer N: the apps of two immortals; a coordinator starts each (README.md).
#include <cstring>

#include "Store.h"
#include "Writer.h"

int main(int count, char** arguments) {
  if (count == 2 && std::strcmp(arguments[1], "store") == 0) return ambrosia::run<Store>();
  if (count == 3 && std::strcmp(arguments[1], "writer") == 0) {
    values_to_write = std::atoll(arguments[2]);
    return ambrosia::run<Writer>();
  }
  std::fprintf(stderr, "keyvalue store | keyvalue writer N\n");
  return 2;
}
