// keyvalue store | keyvalue writer N: the apps of two immortals; a coordinator starts each (README.md).
// keyvalue put CATALOG KEY VALUE | look CATALOG KEY | count CATALOG: a caller outside.
#include <ambrosia/client.h>

#include <cstring>

#include "Store.h"
#include "Writer.h"

namespace {

using Methods = KeyValue::IStore::id;

template <class T, class Say>
int tell(const ambrosia::result<T>& answer, Say say) {
  if (answer) return say(*answer), 0;
  std::fprintf(stderr, "%s: %s\n", answer.error().type.c_str(), answer.error().message.c_str());
  return 1;
}

int call(int count, char** arguments) {
  ambrosia::client store(arguments[2], "store", "keyvalue-client");
  std::string_view what = arguments[1];
  if (what == "put" && count == 5) {
    auto version = store.call<std::int64_t>(Methods::Put, "", std::string(arguments[3]), std::string(arguments[4]));
    return tell(version, [](std::int64_t of) { std::printf("version %lld\n", static_cast<long long>(of)); });
  }
  if (what == "look" && count == 4) {
    auto value = store.query<std::optional<std::string>>(Methods::Look, std::string(arguments[3]));
    return tell(value, [](const std::optional<std::string>& of) { std::printf("%s\n", of ? of->c_str() : "(none)"); });
  }
  if (what == "count" && count == 3) {
    return tell(store.query<std::int64_t>(Methods::Count), [](std::int64_t of) { std::printf("%lld keys\n", static_cast<long long>(of)); });
  }
  return 2;
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 2 && std::strcmp(arguments[1], "store") == 0) return ambrosia::run<Store>();
  if (count == 3 && std::strcmp(arguments[1], "writer") == 0) {
    values_to_write = std::atoll(arguments[2]);
    return ambrosia::run<Writer>();
  }
  int code = count > 2 ? call(count, arguments) : 2;
  if (code == 2) std::fprintf(stderr, "keyvalue store | writer N | put CATALOG KEY VALUE | look CATALOG KEY | count CATALOG\n");
  return code;
}
