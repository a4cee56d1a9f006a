#include <ambrosia/outbound.h>

#include <algorithm>

namespace ambrosia::inline v0 {

namespace {

constexpr std::size_t cause_bytes = 19;  // of an extension block of type 5: type, version, length, two Lsns

bool states_cause(run_kind kind) { return kind <= run_kind::failure; }

}  // namespace

std::uint32_t outbound::find_destination(std::uint16_t shard, std::string_view name) {
  if (!is_name(name)) return no_destination;
  auto [at, is_new] = _indices.try_emplace(place_name{shard, std::string(name)}, static_cast<std::uint32_t>(_destinations.size()));
  if (is_new) {
    if (_destinations.size() == 1u << 20) return _indices.erase(at), no_destination;
    writer place;
    place.u16(shard);
    place.string(name);
    _destinations.push_back({at->first, crc64(place.view())});
  }
  _last_name = name;
  _last_shard = shard;
  return _last_index = at->second;
}

void outbound::open(std::uint32_t destination, run_kind kind, std::uint8_t flags, std::string_view words) {
  close();
  bool is_answer = kind >= run_kind::request;
  if (!is_answer && !_destinations[destination].is_declared) {
    const place_name& place = _destinations[destination].place;
    _destinations[destination].is_declared = true;
    frame(frame_type::destination, [&](writer& out) { out.u32(destination), out.u16(place.shard), out.string(place.name); });
  }
  _is_open = true;
  // A run's block of words is about its last message, and runs to callers outside go by session.
  _last_open = words.empty() && !is_answer ? destination : no_destination;
  _kind = kind;
  _flags = flags;
  _destination = destination;
  _count = 0;
  _hash = _first = 0;
  _out.room(run_bytes + front_bytes);
  _run_end = _out.size() + run_bytes;
  _run_at = begin_frame(_out);
  _out.resize(_out.size() + run_header_bytes);
  std::size_t extensions = _out.size();
  _cause = states_cause(kind) ? lsn : 0;
  if (_cause != 0) _out.resize(_out.size() + cause_bytes);
  if (!words.empty()) {
    writer stack;
    stack.varint(0);
    stack.string(shortened(words, 8'000));
    _out.varint(2), _out.varint(1), _out.byte_string(stack.view());
  }
  _extension_bytes = _out.size() - extensions;
}

void outbound::put_other_call(std::uint64_t call) {
  std::size_t at = _out.size();
  _out.varint(call);
  _last_call.set(call, _out.data() + at, _out.size() - at);
}

void outbound::end_run() {
  _is_open = false;
  _last_open = no_destination;
  if (_count == 0) return _out.resize(_run_at);
  std::size_t end = _out.size();
  _out.resize(_run_at + frame_header_bytes);
  _out.u8(static_cast<std::uint8_t>(_kind));
  _out.u8(_flags);
  _out.u16(0);
  _out.u32(_destination);
  _out.u64(_first);
  _out.u32(_count);
  _out.u32(static_cast<std::uint32_t>(_extension_bytes));
  _out.u64(_hash);
  if (_cause != 0) {
    _out.varint(5), _out.varint(1), _out.varint(16);
    _out.u64(_cause);
    _out.u64(_cause_last);
  }
  _out.resize(end);
  end_frame(_out, _run_at, frame_type::run);
  emitted += end - _run_at;
  if (_kind == run_kind::impulse) _destinations[_destination].tickets = _first + _count - 1;
}

void outbound::begin_impulse(std::uint32_t destination, std::uint32_t method, byte_span key) {
  std::uint8_t flags = key.empty() ? 0 : 1;
  if (!_is_open || _kind != run_kind::impulse || destination != _destination || flags != _flags || _out.size() > _run_end) {
    open(destination, run_kind::impulse, flags);
    _first = _destinations[destination].tickets + 1;
  }
  begin_message(method);
  if (flags != 0) _out.byte_string(key);
}

void outbound::begin_answer(bool failed, std::uint64_t epoch, std::uint64_t session, std::uint32_t method, std::uint64_t request) {
  run_kind kind = failed ? run_kind::request_failure : run_kind::answer;
  if (!_is_open || _kind != kind || epoch != _hash || session != _first || _out.size() > _run_end) {
    open(0, kind);
    _hash = epoch;
    _first = session;
  }
  begin_message(method);
  _out.varint(request);
}

void outbound::begin_failure(std::uint32_t destination, std::uint32_t method, std::uint64_t call, std::string_view words) {
  if (words.empty()) return begin(destination, run_kind::failure, method, call);
  open(destination, run_kind::failure, 0, words);
  begin_message(method);
  _out.varint(call);
}

// Ends the run before the message that is open, which becomes the first one of another run.
void outbound::begin_run_for() {
  bytes message = to_bytes(_out.view(_message_at + _length_bytes));
  std::uint64_t hash = _hash, first = _first;
  _out.resize(_message_at);
  open(_destination, _kind, _flags);
  _hash = hash;
  _first = _kind == run_kind::impulse ? _destinations[_destination].tickets + 1 : first;
  _message_at = _out.size();
  _out.resize(_message_at + _length_bytes);
  _out.raw(message);
}

bool outbound::end_slowly(std::size_t length) {
  _was_bad = _out.bad;
  _out.bad = false;
  if (_was_bad || length > limit) return _out.resize(_message_at), false;
  // A message is below 2^32 bytes, as its limit is (P3.4).
  short_varint number(static_cast<std::uint32_t>(length));
  std::size_t front = number.length;
  if (_count != 0 && _message_at + front + length - _run_at > run_bytes_most) begin_run_for();
  _out.room(front);
  std::memmove(_out.data() + _message_at + front, _out.data() + _message_at + _length_bytes, length);
  std::uint8_t in_front[8];
  detail::store(in_front, number.word);
  std::memcpy(_out.data() + _message_at, in_front, front);
  _out.resize(_message_at + front + length);
  _length_bytes = std::min<std::size_t>(front, 2);
  _count++;
  return true;
}

}  // namespace ambrosia
