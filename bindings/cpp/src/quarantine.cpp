#include "quarantine.h"

#include <algorithm>

namespace ambrosia::inline v0 {

namespace {

constexpr std::size_t messages_most = 1'000;
constexpr std::uint64_t bytes_most = 64 << 20;

}  // namespace

bool quarantine::has_room_for(std::size_t argument_bytes) const {
  return _kept.empty() || (_kept.size() < messages_most && _bytes + argument_bytes <= bytes_most);
}

const kept_message& quarantine::keep(kept_message message) {
  message.decision = ++_decisions;
  _bytes += message.arguments.size();
  _unmet.emplace_back(message.lsn, message.index);
  return _kept.emplace_back(std::move(message));
}

bool quarantine::meet(std::uint64_t lsn, std::uint32_t index) {
  if (_unmet.empty() || _unmet.front() != std::pair(lsn, index)) return false;
  _unmet.pop_front();
  _met++;
  return true;
}

bool quarantine::release(std::uint64_t lsn, std::uint32_t index, kept_message& released) {
  auto found = std::find_if(_kept.begin(), _kept.end(), [&](const kept_message& one) { return one.lsn == lsn && one.index == index; });
  if (found == _kept.end()) return false;
  released = std::move(*found);
  _kept.erase(found);
  _bytes -= released.arguments.size();
  return true;
}

bool quarantine::take_held(const flow_core& flow, held_message& message) {
  auto found = _held.find(&flow);
  if (found == _held.end()) return false;
  message = std::move(found->second);
  _held.erase(found);
  return true;
}

void quarantine::write(writer& out, const runtime& run) const {
  cbor::put_array(out, 4);
  encode(out, _decisions), encode(out, _met);
  cbor::put_array(out, _kept.size());
  for (const kept_message& one : _kept) {
    write_row(out, one.lsn, one.index, one.kind, one.caller.shard, one.caller.name, one.method, one.arguments, one.tries, one.time, one.why, one.decision);
  }
  cbor::put_array(out, _held.size());
  for (const flow_core* flow = run.first_flow; flow != nullptr && !_held.empty(); flow = flow->behind) {
    auto found = _held.find(flow);
    if (found == _held.end()) continue;
    const held_message& of = found->second;
    write_row(out, flow->number, of.lsn, of.index, of.kind, of.caller.shard, of.caller.name, of.tries);
  }
}

bool quarantine::read(cbor_reader& in) {
  auto checked = [&](run_kind kind) {
    if (kind > run_kind::request_failure) in.fail("OutOfRange");
  };
  in.read_array_of(4);
  decode(in, _decisions), decode(in, _met);
  for (std::size_t count = in.read_array(); count != 0 && in.ok(); count--) {
    kept_message& one = _kept.emplace_back();
    read_row(in, one.lsn, one.index, one.kind, one.caller.shard, one.caller.name, one.method, one.arguments, one.tries, one.time, one.why, one.decision);
    checked(one.kind);
    _bytes += one.arguments.size();
    // The decisions that were not met are the last ones, and messages are kept in the order of their decisions.
    if (one.decision > _met) _unmet.emplace_back(one.lsn, one.index);
  }
  for (std::size_t count = in.read_array(); count != 0 && in.ok(); count--) {
    std::uint64_t flow = 0;
    held_message of;
    read_row(in, flow, of.lsn, of.index, of.kind, of.caller.shard, of.caller.name, of.tries);
    checked(of.kind);
    _held_by_number[flow] = std::move(of);
  }
  if (_met > _decisions || _decisions - _met > _kept.size()) in.fail("OutOfRange");
  return in.ok();
}

bool quarantine::find_flows(const runtime& run) {
  auto next = _held_by_number.begin();
  for (const flow_core* flow = run.first_flow; flow != nullptr && next != _held_by_number.end(); flow = flow->behind) {
    if (flow->number == next->first) _held[flow] = std::move(next++->second);
  }
  bool are_all_there = next == _held_by_number.end();
  _held_by_number.clear();
  return are_all_there;
}

}  // namespace ambrosia
