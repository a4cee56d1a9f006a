// All vectors of protocol/vectors that concern an app, whole; cut at every position, nothing may be read beyond the end (run it with asan).
#include <cstdio>
#include <filesystem>
#include <set>

#include <ambrosia/failure.h>

#include "vectors.h"

namespace {

// What this binding reports by itself is byte for byte what the list says (P4.6).
int unlisted_failures(const std::set<std::string>& listed) {
  using namespace ambrosia;
  cbor_reader unknown({});
  unknown.fail_case("Shop.IPayment", 7);
  const failure all[] = {failures::no_method(999), failures::bad_arguments(999), failures::bad_result(999, true), failures::bad_result(999, false),
                         failures::bad_task_result(12, false), failures::bad_failure(), failures::unknown_case(unknown),
                         failures::too_long(64 << 20), failures::timed_out(), failures::cancelled(), call_failed(failure("Shop.Closed", "no")),
                         failures::key_reused(), failures::misuse("a call"), failures::limit_reached(1u << 20, "timers"), failures::flow_too_long(),
                         failures::unworded("Ambrosia.Failed", "the words of the runtime")};
  int missing = 0;
  for (const failure& one : all) {
    writer out;
    std::string hex;
    write_failure(out, one);
    for (std::uint8_t byte : out.view()) hex += "0123456789abcdef"[byte >> 4], hex += "0123456789abcdef"[byte & 15];
    if (listed.count(hex) == 0) missing++, std::printf("not in the list of P4.6: %s: %s\n", one.type.c_str(), one.message.c_str());
  }
  return missing;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  std::set<std::string> listed;
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
      if (entry.string("section") == "P4.6") listed.insert(hex);
      for (std::size_t length = 0; length < hex.size() && hex.size() < 4'000; length += 2, cuts++) {
        json::value cut = entry;
        for (auto& [key, of] : cut.members) {
          if (key == "hex") of.text = hex.substr(0, length);
        }
        vectors::read(cut);
      }
    }
  }
  different += unlisted_failures(listed);
  std::printf("%d vectors compared, %d different, %d of no app's business, %d cuts\n", compared, different, skipped, cuts);
  return different == 0 && compared > 600 ? 0 : 1;
}
