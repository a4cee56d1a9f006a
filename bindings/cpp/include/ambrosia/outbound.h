// What an app emits: messages to destinations, gathered into runs (P3) in one buffer, which the channel sends when the input runs dry.
#pragma once

#include <ambrosia/cbor.h>

#include <functional>
#include <map>

namespace ambrosia::inline v0 {

struct place_name {
  std::uint16_t shard = 0;
  std::string name;
  auto operator<=>(const place_name&) const = default;
};

inline constexpr std::uint32_t no_destination = UINT32_MAX;

// Builds the stream from the app. One thread uses it. A message begins with `begin`, its arguments are appended to `bytes_out`, and `end`
// closes it. Runs end by themselves where the destination or kind changes; any other frame ends the open run first.
class outbound {
 public:
  outbound() = default;

  // The index of a destination, which the first run to it declares (P5.5). no_destination: the name is none, or there are 2^20 already.
  std::uint32_t destination(std::uint16_t shard, std::string_view name) {
    if (shard == _last_shard && detail::equal_few(name, _last_name)) [[likely]] return _last_index;
    return find_destination(shard, name);
  }
  const place_name& name_of(std::uint32_t destination) const { return _destinations[destination].place; }
  std::uint64_t hash_of(std::uint32_t destination) const { return _destinations[destination].hash; }

  void begin(std::uint32_t destination, run_kind kind, short_varint method, std::uint64_t call = 0) {
    if (destination != _last_open || kind != _kind || _out.size() > _run_end) [[unlikely]] open(destination, kind);
    if (kind == run_kind::fork) return begin_message(method);
    if (call != _last_call.id + 1 || (call & 0x7F) == 0) [[unlikely]] return begin_message(method), put_other_call(call);
    _last_call.id = call;
    begin_message(method, ++_last_call.word, _last_call.length);
  }
  void begin_impulse(std::uint32_t destination, std::uint32_t method, byte_span key);
  void begin_answer(bool failed, std::uint64_t epoch, std::uint64_t session, std::uint32_t method, std::uint64_t request);
  // A failure whose words of the runtime travel beside it, in a block that no hash covers (P4.6).
  void begin_failure(std::uint32_t destination, std::uint32_t method, std::uint64_t call, std::string_view words);

  // The arguments of the message that is open.
  byte_span arguments(std::size_t from) const { return _out.view(from); }
  std::size_t position() const { return _out.size(); }
  // False: the message is longer than the limit in force, or holds what cannot be written; nothing of it is sent.
  bool end() {
    std::size_t length = _out.size() - _message_at - _length_bytes;
    bool is_expected = _length_bytes == 1 ? length < 0x80 : length >= 0x80 && length < 0x4000;
    if (!is_expected || _out.bad || length > limit) [[unlikely]] return end_slowly(length);
    std::uint8_t* at = _out.data() + _message_at;
    if (_length_bytes == 2) *at++ = static_cast<std::uint8_t>(length | 0x80), length >>= 7;
    *at = static_cast<std::uint8_t>(length);
    _count++;
    return true;
  }

  // Any other frame: frame([&](writer& out) { out.u64(lsn); }, type).
  template <class F>
  void frame(frame_type type, F payload) {
    close();
    std::size_t at = begin_frame(_out);
    payload(_out);
    end_frame(_out, at, type);
  }
  void frame(frame_type type) { frame(type, [](writer&) {}); }
  // Ends the open run, and sends if much has come together.
  void close() {
    if (_is_open) end_run();
    if (_out.size() >= send_bytes && send != nullptr) send(_out);
  }

  writer& bytes_out() { return _out; }
  bool was_bad() const { return _was_bad; }

  // Sends whole frames and clears the writer, as soon as much has come together, so that a handler may emit any amount. Null: all of it waits.
  std::function<void(writer&)> send;
  std::uint64_t emitted = 0;       // bytes of the runs that have ended
  std::uint64_t limit = 64 << 20;  // of a message (P3.4)
  std::uint64_t lsn = 0;           // of the record that is executed; 0: none, and then a run states no cause

 private:
  static constexpr std::size_t run_bytes = 60'000, run_bytes_most = 262'144, send_bytes = 256 * 1024;
  static constexpr std::size_t front_bytes = 64;  // more than a message has in front of its arguments, and the 16 bytes behind that are read at once
  struct destination_row {
    place_name place;
    std::uint64_t hash = 0, tickets = 0;
    bool is_declared = false;
  };

  void end_run();
  void open(std::uint32_t destination, run_kind kind, std::uint8_t flags = 0, std::string_view words = {});
  // Writes the method behind the place of the length, and the varint of a call, which may be of no bytes. An open run has room for it.
  void begin_message(short_varint method, std::uint64_t call_word = 0, std::size_t call_bytes = 0) {
    _message_at = _out.size();
    _cause_last = lsn;
    std::uint8_t* at = _out.data() + _message_at + _length_bytes;
    _out.grow(_length_bytes + method.length + call_bytes);
    detail::store(at, method.word);
    detail::store(at + method.length, call_word);
  }
  void put_other_call(std::uint64_t call);
  std::uint32_t find_destination(std::uint16_t shard, std::string_view name);
  void begin_run_for();
  bool end_slowly(std::size_t length);

  writer _out;
  std::map<place_name, std::uint32_t> _indices;
  std::vector<destination_row> _destinations;
  std::string _last_name;  // empty: none yet
  std::uint16_t _last_shard = 0;
  std::uint32_t _last_index = no_destination;

  // The open run.
  bool _is_open = false, _was_bad = false;
  std::uint32_t _last_open = no_destination;  // whereto the open run goes, if another message may follow in it
  run_kind _kind{};
  std::uint8_t _flags = 0;
  std::uint32_t _destination = 0, _count = 0;
  std::uint64_t _hash = 0, _first = 0, _cause = 0, _cause_last = 0;
  std::size_t _run_at = 0, _run_end = 0, _extension_bytes = 0, _message_at = 0;  // _run_end: behind which no message begins
  call_varint _last_call;
  std::size_t _length_bytes = 1;  // in front of the open message: 1 or 2, as the one before it needed
};

}  // namespace ambrosia
