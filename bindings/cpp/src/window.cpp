#include "window.h"

namespace ambrosia::inline v0 {
namespace {

// A row of the image has the hash of what was read as its last item, where that is another than the hash of the bytes (I4.2).
void begin_row(writer& out, std::size_t items, const request_window::hashes& of) { cbor::put_array(out, items + (of.read != of.bytes ? 1 : 0)); }
void end_row(writer& out, const request_window::hashes& of) {
  if (of.read != of.bytes) encode(out, of.read);
}
bool begin_row(cbor_reader& in, std::size_t items) {
  std::size_t count = in.read_array();
  if (count != items && count != items + 1) in.fail("OutOfRange");
  return count > items;
}
void end_row(cbor_reader& in, bool has_read, request_window::hashes& of) {
  of.read = of.bytes;
  if (has_read) decode(in, of.read);
}

}  // namespace

request_window::verdict request_window::judge(std::uint32_t method, byte_span key, hashes arguments, const reply_to& answers, std::int64_t& place,
                                              const row*& found) {
  key_name name(method, to_bytes(key));
  auto [at, is_new] = _rows.try_emplace(name);
  row& of = at->second;
  if (is_new) {
    of.place = _next_place++;
    of.arguments = arguments;
    _under_way.emplace(of.place, name);
    place = static_cast<std::int64_t>(of.place);
    return verdict::execute;
  }
  if (of.arguments.bytes != arguments.bytes && of.arguments.read != arguments.read) return verdict::reused;
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
  write_row(out, _window_us, _entries_most, _bytes_most);
  cbor::put_array(out, _answered.size());
  for (const key_name& name : _answered) {
    const row& of = _rows.at(name);
    begin_row(out, 6, of.arguments);
    encode(out, name.first), encode(out, name.second), encode(out, of.is_failure ? 1 : 0), encode(out, of.answer), encode(out, of.time);
    encode(out, of.arguments.bytes), end_row(out, of.arguments);
  }
  std::map<std::int64_t, std::uint64_t> flows;  // their numbers, by the place of their key
  for (const flow_core* flow = run.first_flow; flow != nullptr && !_under_way.empty(); flow = flow->behind) {
    if (flow->window_row >= 0) flows[flow->window_row] = flow->number;
  }
  cbor::put_array(out, _under_way.size());
  for (const auto& [place, name] : _under_way) {
    const row& of = _rows.at(name);
    begin_row(out, 5, of.arguments);
    encode(out, name.first), encode(out, name.second), encode(out, flows[static_cast<std::int64_t>(place)]), encode(out, of.arguments.bytes);
    cbor::put_array(out, of.waiting.size());
    for (const reply_to& one : of.waiting) write_row(out, one.epoch, one.session, one.call);
    end_row(out, of.arguments);
  }
}

bool request_window::read(cbor_reader& in) {
  in.read_array_of(3);
  read_row(in, _window_us, _entries_most, _bytes_most);
  for (std::size_t count = in.read_array(); count != 0 && in.ok(); count--) {
    key_name name;
    std::uint8_t status = 0;
    row of;
    bool has_read = begin_row(in, 6);
    decode(in, name.first), decode(in, name.second), decode(in, status), decode(in, of.answer), decode(in, of.time);
    decode(in, of.arguments.bytes), end_row(in, has_read, of.arguments);
    if (status > 1) in.fail("OutOfRange");
    of.is_answered = true;
    of.is_failure = status == 1;
    of.place = _next_place++;
    _bytes += size_of(name, of);
    _answered.push_back(name);
    _rows[name] = std::move(of);
  }
  for (std::size_t count = in.read_array(); count != 0 && in.ok(); count--) {
    key_name name;
    bool has_read = begin_row(in, 5);
    decode(in, name.first), decode(in, name.second);
    row& of = _rows[name];
    decode(in, of.flow), decode(in, of.arguments.bytes);
    of.place = _next_place++;
    for (std::size_t waiting = in.read_array(); waiting != 0 && in.ok(); waiting--) {
      reply_to one{reply_to::kind::outside, name.first};
      read_row(in, one.epoch, one.session, one.call);
      of.waiting.push_back(one);
    }
    end_row(in, has_read, of.arguments);
    _under_way.emplace(of.place, name);
  }
  return in.ok();
}

bool request_window::find_flows(const runtime& run) {
  std::map<std::uint64_t, std::int64_t> places;  // by the number of the flow
  for (const auto& [place, name] : _under_way) places[_rows[name].flow] = static_cast<std::int64_t>(place);
  auto next = places.begin();
  for (flow_core* flow = run.first_flow; flow != nullptr && next != places.end(); flow = flow->behind) {
    if (flow->number == next->first) flow->window_row = next++->second;
  }
  return next == places.end() && places.size() == _under_way.size();
}

}  // namespace ambrosia
