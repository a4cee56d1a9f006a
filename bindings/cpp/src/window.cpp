#include "window.h"

namespace ambrosia {
inline namespace v0 {

request_window::verdict request_window::judge(std::uint32_t method, byte_span key, byte_span arguments, const reply_to& answers, std::int64_t& place,
                                              const row*& found) {
  key_name name(method, to_bytes(key));
  std::uint64_t crc = crc64(arguments);
  auto [at, is_new] = _rows.try_emplace(name);
  row& of = at->second;
  if (is_new) {
    of.place = _next_place++;
    of.arguments_crc = crc;
    _under_way.emplace(of.place, name);
    place = static_cast<std::int64_t>(of.place);
    return verdict::execute;
  }
  if (of.arguments_crc != crc) return verdict::reused;
  found = &of;
  if (of.is_answered) return verdict::answered;
  if (answers.who != reply_to::kind::nobody) of.waiting.push_back(answers);
  return verdict::wait;
}

std::vector<reply_to> request_window::answer(std::int64_t place, bool is_failure, byte_span value) {
  auto under = _under_way.find(static_cast<std::uint64_t>(place));
  if (under == _under_way.end()) return {};
  key_name name = under->second;
  _under_way.erase(under);
  row& of = _rows[name];
  of.is_answered = true;
  of.is_failure = is_failure;
  of.answer = to_bytes(value);
  of.time = time;
  _bytes += size_of(name, of);
  _answered.push_back(name);
  return std::exchange(of.waiting, {});
}

void request_window::trim(std::int64_t key_time) {
  time = key_time;
  while (!_answered.empty()) {
    auto oldest = _rows.find(_answered.front());
    auto age = static_cast<std::uint64_t>(time - oldest->second.time);
    if (age < _window_us && _answered.size() <= _entries_most && _bytes <= _bytes_most) return;
    _bytes -= size_of(oldest->first, oldest->second);
    _rows.erase(oldest);
    _answered.pop_front();
  }
}

void request_window::write(writer& out, const runtime& run) const {
  cbor::put_array(out, 3);
  cbor::put_array(out, 3);
  cbor::put_unsigned(out, _window_us), cbor::put_unsigned(out, _entries_most), cbor::put_unsigned(out, _bytes_most);
  cbor::put_array(out, _answered.size());
  for (const key_name& name : _answered) {
    const row& of = _rows.at(name);
    cbor::put_array(out, 6);
    cbor::put_unsigned(out, name.first), cbor::put_bytes(out, name.second), cbor::put_unsigned(out, of.is_failure ? 1 : 0);
    cbor::put_bytes(out, of.answer), cbor::put_integer(out, of.time), cbor::put_unsigned(out, of.arguments_crc);
  }
  cbor::put_array(out, _under_way.size());
  for (const auto& [place, name] : _under_way) {
    const row& of = _rows.at(name);
    std::uint64_t number = 0;
    for (const flow_core* flow = run.first_flow; flow != nullptr; flow = flow->behind) {
      if (flow->window_row == static_cast<std::int64_t>(place)) number = flow->number;
    }
    cbor::put_array(out, 5);
    cbor::put_unsigned(out, name.first), cbor::put_bytes(out, name.second), cbor::put_unsigned(out, number), cbor::put_unsigned(out, of.arguments_crc);
    cbor::put_array(out, of.waiting.size());
    for (const reply_to& one : of.waiting) {
      cbor::put_array(out, 3), cbor::put_unsigned(out, one.epoch), cbor::put_unsigned(out, one.session), cbor::put_unsigned(out, one.call);
    }
  }
}

bool request_window::read(cbor_reader& in) {
  in.read_array_of(3);
  in.read_array_of(3);
  _window_us = in.read_unsigned(), _entries_most = in.read_unsigned(), _bytes_most = in.read_unsigned();
  for (std::size_t count = in.read_array(); count != 0 && in.ok(); count--) {
    in.read_array_of(6);
    key_name name{static_cast<std::uint32_t>(in.read_unsigned(UINT32_MAX)), to_bytes(in.read_bytes())};
    row& of = _rows[name];
    of.is_answered = true;
    of.is_failure = in.read_unsigned(1) == 1;
    of.answer = to_bytes(in.read_bytes());
    of.time = in.read_integer();
    of.arguments_crc = in.read_unsigned();
    of.place = _next_place++;
    _bytes += size_of(name, of);
    _answered.push_back(name);
  }
  for (std::size_t count = in.read_array(); count != 0 && in.ok(); count--) {
    in.read_array_of(5);
    key_name name{static_cast<std::uint32_t>(in.read_unsigned(UINT32_MAX)), to_bytes(in.read_bytes())};
    row& of = _rows[name];
    of.flow = in.read_unsigned();
    of.arguments_crc = in.read_unsigned();
    of.place = _next_place++;
    for (std::size_t waiting = in.read_array(); waiting != 0 && in.ok(); waiting--) {
      in.read_array_of(3);
      reply_to one{reply_to::kind::outside, name.first};
      one.epoch = in.read_unsigned(), one.session = in.read_unsigned(), one.call = in.read_unsigned();
      of.waiting.push_back(one);
    }
    _under_way.emplace(of.place, name);
  }
  return in.ok();
}

}  // namespace v0
}  // namespace ambrosia
