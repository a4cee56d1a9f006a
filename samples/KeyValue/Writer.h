// An immortal that puts so many values into the store, one after the other, and checks what the store says of each.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "KeyValue.contract.h"

inline std::int64_t values_to_write = 10'000;
inline constexpr std::int64_t keys = 100;

struct WriterState {
  std::int64_t written = 0;
  std::int64_t wrong = 0;
  static constexpr auto fields = ambrosia::fields("written", &WriterState::written, "wrong", &WriterState::wrong);
};

class Writer : public ambrosia::immortal<Writer, WriterState, ambrosia::serves<KeyValue::IWriter>> {
 public:
  void first_start() override { self<KeyValue::IWriter>().WriteFork(1); }

  // A flow: it waits for the store, over any number of dead processes on either side. It reaches the state only in at.step(…). After 100 values it
  // goes on anew, so that what is kept of it stays small.
  static ambrosia::flow<void> Write(ambrosia::context<Writer> at, std::int64_t from) {
    auto store = at.get<KeyValue::IStore>("store");
    std::int64_t number = from;
    for (; number < from + 100 && number <= values_to_write; number++) {
      std::string key = "key-" + std::to_string(number % keys), value = "value-" + std::to_string(number);
      std::int64_t version = co_await store.Put(key, value);
      std::optional<std::string> kept = co_await store.Get(key);
      // The k-th value of a key has version k, whoever died meanwhile: each was put once, in this order.
      bool is_right = version == (number - 1) / keys + 1 && kept == value;
      at.step([&](WriterState& s) { s.written++, s.wrong += is_right ? 0 : 1; });
    }
    if (number <= values_to_write) {
      at.restart(number);
      co_return;
    }
    at.step([](WriterState& s) {
      std::printf("written %lld, wrong %lld\n", static_cast<long long>(s.written), static_cast<long long>(s.wrong));
      std::fflush(stdout);
    });
  }
};
