// All vectors of protocol/vectors that concern an app, whole; cut at every position, nothing may be read beyond the end (run it with asan).
#include <cstdio>
#include <filesystem>

#include "vectors.h"

int main(int count, char** arguments) {
  if (count != 2) return 2;
  int compared = 0, different = 0, skipped = 0, cuts = 0;
  for (const auto& file : std::filesystem::directory_iterator(arguments[1])) {
    std::string name = file.path().filename();
    json::value entries;
    if (file.path().extension() != ".json" || name == "Vectors.contract.json" || !vectors::load(file.path().c_str(), entries)) continue;
    for (const json::value& entry : entries.list) {
      json::value is = vectors::read(entry), should = json::value::object();
      if (is.find("skip") != nullptr) {
        skipped++;
        continue;
      }
      for (const char* member : {"expect", "error", "lsn"}) {
        if (const json::value* found = entry.find(member)) should.set(member, *found);
      }
      if (name == "app-channel.json" && should.find("lsn") != nullptr) {
        should = json::value::object().set("error", should.string("error"));
      }
      compared++;
      if (is.write() != should.write() && ++different <= 20) {
        std::printf("%s, %s \"%s\":\n  is     %s\n  should %s\n", name.c_str(), entry.string("structure").c_str(), entry.string("name").c_str(),
                    is.write().substr(0, 300).c_str(), should.write().substr(0, 300).c_str());
      }
      std::string hex = entry.string("hex");
      for (std::size_t length = 0; length < hex.size() && hex.size() < 4'000; length += 2, cuts++) {
        json::value cut = entry;
        for (auto& [key, of] : cut.members) {
          if (key == "hex") of.text = hex.substr(0, length);
        }
        vectors::read(cut);
      }
    }
  }
  std::printf("%d vectors compared, %d different, %d of no app's business, %d cuts\n", compared, different, skipped, cuts);
  return different == 0 && compared > 600 ? 0 : 1;
}
