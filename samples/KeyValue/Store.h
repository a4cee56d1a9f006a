// A key-value store that is written as if machines never failed: its state is a map.
#pragma once

#include "KeyValue.contract.h"

struct Entry {
  std::string value;
  std::int64_t version = 0;  // how often the key was put
  static constexpr auto fields = ambrosia::fields("value", &Entry::value, "version", &Entry::version);
};

struct StoreState {
  std::map<std::string, Entry> entries;
  std::int64_t puts = 0;
  static constexpr auto fields = ambrosia::fields("entries", &StoreState::entries, "puts", &StoreState::puts);
};

class Store : public ambrosia::immortal<Store, StoreState, ambrosia::serves<KeyValue::IStore>> {
 public:
  // The version that the key has now.
  std::int64_t Put(std::string_view key, std::string_view value) {
    Entry& entry = state().entries[std::string(key)];
    entry.value = value;
    state().puts++;
    return ++entry.version;
  }
  std::optional<std::string> Get(std::string key) { return find(key); }
  bool Remove(std::string key) { return state().entries.erase(key) != 0; }

  // Queries: for callers outside, answered by any replica; they read and do nothing else, so they are const.
  std::optional<std::string> Look(std::string key) const { return find(key); }
  std::int64_t Count() const { return static_cast<std::int64_t>(state().entries.size()); }

 private:
  std::optional<std::string> find(const std::string& key) const {
    auto found = state().entries.find(key);
    return found == state().entries.end() ? std::nullopt : std::optional(found->second.value);
  }
};
