// The window (P10.8): a key names one message of a method, which is executed once; later ones of the same key are given the same answer.
#pragma once

#include <ambrosia/runtime.h>

#include "frames.h"

#include <deque>

namespace ambrosia::inline v0 {

class request_window {
 public:
  using key_name = std::pair<std::uint32_t, bytes>;
  // The CRC-64 of arguments: of their bytes, and of what this build reads and writes again. One of them is enough to be the same.
  struct hashes {
    std::uint64_t bytes = 0, read = 0;
  };
  struct row {
    std::uint64_t place = 0;  // where it stands in the order of the window
    hashes arguments;
    bool is_answered = false, is_failure = false;
    bytes answer;
    std::int64_t time = 0;          // in time for keys
    std::vector<reply_to> waiting;  // requests of the same key that came meanwhile
    std::uint64_t flow = 0;         // while an image is written or read
  };

  // What is to be done with a message: execute it (the row's place is given), or nothing more than to answer.
  enum class verdict { execute, wait, answered, reused };
  verdict judge(std::uint32_t method, byte_span key, hashes arguments, const reply_to& answers, std::int64_t& place, const row*& found);
  // The message of this row has been answered; gives those that wait for the same.
  std::vector<reply_to> answer(std::int64_t place, bool is_failure, byte_span value);
  // Between two records: what is too old, or more than the policy says, leaves.
  void trim(std::int64_t key_time);

  void set_limits(const policy_record& policy) { _window_us = policy.window_us, _entries_most = policy.entries_most, _bytes_most = policy.bytes_most; }
  void write(writer& out, const runtime& run) const;
  bool read(cbor_reader& in);
  // Behind the restore of flows: finds the one that executes each key under way.
  bool find_flows(const runtime& run);

  std::int64_t time = 0;  // in time for keys: the answers that are made now begin here

 private:
  static std::uint64_t size_of(const key_name& name, const row& of) { return name.second.size() + of.answer.size() + 64; }

  std::map<key_name, row> _rows;
  std::deque<key_name> _answered;                 // the oldest first
  std::map<std::uint64_t, key_name> _under_way;   // by place
  std::uint64_t _next_place = 1, _bytes = 0;
  std::uint64_t _window_us = 86'400'000'000, _entries_most = 100'000, _bytes_most = 64 << 20;
};

}  // namespace ambrosia
