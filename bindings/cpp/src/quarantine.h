// The messages that an app sets aside under fork policy 2 (log-format L5.12), and what it must know to set the next one aside.
#pragma once

#include <ambrosia/runtime.h>

#include "frames.h"

#include <deque>

namespace ambrosia::inline v0 {

// Where a message stands in the log, and who sent it. It is kept while the message's flow waits, so that a failure of the flow can set it aside.
struct held_message {
  std::uint64_t lsn = 0;
  std::uint32_t index = 0;
  run_kind kind{};
  place_name caller;
  std::uint32_t tries = 0;
};

// A message that its handler refused.
struct kept_message : held_message {
  std::uint32_t method = 0;
  bytes arguments;
  std::int64_t time = 0;
  std::string why;
  std::uint64_t decision = 0;
};

// Messages that were set aside, in the order of the decisions to do so. The log tells later that it has each decision; those that it has not
// told yet are the last ones.
class quarantine {
 public:
  bool has_room_for(std::size_t argument_bytes) const;
  // Decides to set a message aside.
  const kept_message& keep(kept_message message);
  // The log has the next decision. False: it is about another message than the app's.
  bool meet(std::uint64_t lsn, std::uint32_t index);
  // Takes a message out. False: it is not here.
  bool release(std::uint64_t lsn, std::uint32_t index, kept_message& released);
  const std::deque<kept_message>& kept() const { return _kept; }
  bool is_met(const kept_message& message) const { return message.decision <= _met; }

  // Of messages whose flows wait.
  void hold(const flow_core& flow, held_message message) { _held[&flow] = std::move(message); }
  void drop_held(const flow_core& flow) {
    if (!_held.empty()) _held.erase(&flow);
  }
  bool take_held(const flow_core& flow, held_message& message);

  void write(writer& out, const runtime& run) const;
  bool read(cbor_reader& in);
  // Behind the restore of flows: finds those whose messages are held.
  bool find_flows(const runtime& run);

 private:
  std::deque<kept_message> _kept;
  std::deque<std::pair<std::uint64_t, std::uint32_t>> _unmet;  // places of the messages that the log has not told of
  std::uint64_t _decisions = 0, _met = 0, _bytes = 0;
  std::map<const flow_core*, held_message> _held;
  std::map<std::uint64_t, held_message> _held_by_number;  // while an image is read
};

}  // namespace ambrosia
