#include <ambrosia/client.h>

#include <chrono>
#include <random>

#include "catalog.h"
#include "frames.h"
#include "sha256.h"
#include "stream.h"

namespace ambrosia::inline v0 {

namespace {

constexpr std::uint32_t message_most = 64 << 20;
constexpr std::uint64_t payload_most = (1ull << 30) + 65'536;

}  // namespace

// One connection: authenticated, welcomed, and given up when something on it is malformed.
class client::link {
 public:
  explicit link(std::unique_ptr<stream> over) : _stream(std::move(over)) {}

  // P7.1, P7.2: each side proves that it knows the secret and the address. Null, or what the other side does.
  const char* authenticate(const catalog_entry& to) {
    std::random_device chance;
    writer hello, proven;
    hello.raw(as_bytes("AMBRLINK"));
    for (int i = 0; i < 8; i++) hello.u32(chance());
    _stream->send(hello.view());
    if (!await(64)) return "ended the connection";
    proven.raw(hello.view(8)), proven.raw({_received.data(), 32});
    auto proof = [&](std::string_view role) {
      writer text;
      text.raw(as_bytes(role)), text.raw(proven.view()), text.raw(as_bytes(to.address));
      return hmac_sha256(to.secret, text.view());
    };
    auto expected = proof("acceptor");
    std::uint8_t difference = 0;
    for (std::size_t i = 0; i < 32; i++) difference |= static_cast<std::uint8_t>(expected[i] ^ _received[32 + i]);
    if (difference != 0) return "does not prove that it knows the catalog's secret";
    drop(64);
    _stream->send(proof("dialler"));
    _seed = crc32c(proven.view());
    return nullptr;
  }

  // Null, or why the instance does not take this caller (P10.1, P10.2).
  const char* greet(const std::string& instance, const std::string& name, std::string& refused) {
    writer hello;
    hello.u16(1), hello.u16(1), hello.u16(0), hello.string(instance), hello.raw(bytes(16)), hello.string(name);
    hello.u32(1u << 30), hello.u8(0), hello.varint(0);
    send(frame_type::client_hello, hello.view());
    frame_type type{};
    bytes payload;
    if (!next(type, payload)) return "ended the connection";
    reader in(payload, "P10.2");
    if (type == frame_type::goodbye) {
      goodbye_frame goodbye;
      refused = read_goodbye(in, goodbye) ? std::string(goodbye.why) : "";
      return "refuses this caller";
    }
    std::uint16_t version = in.u16();
    read_guid(in), in.name();
    byte_span session = in.take(16);
    in.u32(), in.u32(), read_options(in);
    if (type != frame_type::client_welcome || !in.finish() || version != 1) return "breaks P10.2";
    for (std::size_t i = 0; i < 8; i++) _epoch = _epoch << 8 | session[i], _session = _session << 8 | session[8 + i];
    _is_welcome = true;
    return nullptr;
  }

  void send(frame_type type, byte_span payload) {
    writer out;
    std::size_t at = begin_frame(out);
    out.raw(payload);
    end_frame(out, at, type, true, _seed);
    _stream->send(out.view());
    _sent = clock::now();
  }

  // The next frame that is no heartbeat. False: none came, or it is malformed.
  bool next(frame_type& type, bytes& payload) {
    for (;;) {
      frame_view frame;
      if (read_frame(_received, true, _seed, _is_welcome ? payload_most : 4'096, frame) != nullptr) return false;
      if (frame.consumed == 0) {
        if (!await(_received.size() + 1)) return false;
        continue;
      }
      type = frame.type;
      payload = to_bytes(frame.payload);
      drop(frame.consumed);
      if (type != frame_type::heartbeat) return true;
    }
  }

  // What came while nobody waited: an end, or nothing but heartbeats.
  bool is_alive() {
    if (!_stream->receive(_received, 0)) return false;
    frame_view frame;
    while (read_frame(_received, true, _seed, payload_most, frame) == nullptr) {
      if (frame.consumed == 0) return true;
      if (frame.type == frame_type::goodbye) return false;
      drop(frame.consumed);
    }
    return false;
  }

  // P10.6: the answer to a request of this session.
  bool is_answer(const run_view& run) const {
    return (run.kind == run_kind::answer || run.kind == run_kind::request_failure) && run.hash == _epoch && run.first == _session;
  }

  std::uint64_t messages = 0, queries = 0;

 private:
  using clock = std::chrono::steady_clock;

  // Until so many bytes are there. It says each second that it is there, and gives up after 5 s of silence (P6.9).
  bool await(std::size_t count) {
    auto heard = clock::now();
    while (_received.size() < count) {
      std::size_t before = _received.size();
      if (!_stream->receive(_received, 250)) return false;
      auto now = clock::now();
      if (_received.size() != before) heard = now;
      if (now - heard > std::chrono::seconds(5)) return false;
      if (_is_welcome && now - _sent > std::chrono::seconds(1)) send(frame_type::heartbeat, {});
    }
    return true;
  }
  void drop(std::size_t count) { _received.erase(_received.begin(), _received.begin() + static_cast<std::ptrdiff_t>(count)); }

  std::unique_ptr<stream> _stream;
  bytes _received;
  std::uint32_t _seed = 0;
  std::uint64_t _epoch = 0, _session = 0;
  bool _is_welcome = false;
  clock::time_point _sent = clock::now();
};

client::client(std::string catalog, std::string instance, std::string name, client_certificates certificates)
    : _catalog(std::move(catalog)), _instance(std::move(instance)), _name(std::move(name)), _certificates(std::move(certificates)) {}

client::~client() = default;

bool client::connect(std::string& why) {
  if (_link != nullptr && !_link->is_alive()) _link.reset();
  if (_link != nullptr) return true;
  catalog_entry to;
  bool has_tls = !_certificates.certificate.empty();
  int socket = read_catalog(_catalog, _instance, to, why) ? dial(to.address, !has_tls, why) : -1;
  if (socket < 0) return false;
  auto over = has_tls ? begin_tls(socket, _certificates, _instance, why) : std::make_unique<stream>(socket);
  if (over == nullptr) return false;
  auto made = std::make_unique<link>(std::move(over));
  std::string refused;
  const char* wrong = made->authenticate(to);
  if (wrong == nullptr) wrong = made->greet(_instance, _name, refused);
  if (wrong != nullptr) return why = to.address + " " + wrong + (refused.empty() ? "." : ": " + refused), false;
  _link = std::move(made);
  return true;
}

// Sends one frame and waits for what answers it: for a query its answer; for a request one of that number, for an impulse that it is logged.
client::answer client::exchange(frame_type sent, const writer& payload, std::uint64_t number, bool is_impulse) {
  bool is_query = sent == frame_type::query;
  _link->send(sent, payload.view());
  frame_type type{};
  bytes content;
  while (_link->next(type, content)) {
    reader in(content);
    if (type == frame_type::query_answer) {
      std::uint64_t query = in.u64();
      std::uint8_t status = in.u8();
      std::uint64_t lsn = in.u64();
      byte_span value = in.rest();
      if (!in.ok() || status > 2) break;
      if (!is_query || query != number) continue;
      failure what("Ambrosia.NotNow", std::string(as_text(value)));
      if (status == 0) return told{to_bytes(value), lsn};
      return status == 2 || read_failure(value, what) ? what : failures::bad_failure();
    }
    if (type == frame_type::client_logged) {
      std::uint64_t logged = in.u64(), lsn = in.u64();
      if (!in.finish()) break;
      if (is_impulse && logged >= number) return told{{}, lsn};
      continue;
    }
    run_view run;
    if (type != frame_type::run || read_run(content, UINT64_MAX, run) != nullptr || !_link->is_answer(run)) break;
    reader at(run.messages);
    message_view message;
    for (std::uint32_t i = 0; i < run.count; i++) {
      read_message(run, at, UINT64_MAX, message);
      if (is_query || is_impulse || message.call != number) continue;
      if (run.kind == run_kind::answer) return told{to_bytes(message.arguments)};
      failure what;
      return read_failure(message.arguments, what) ? what : failures::bad_failure();
    }
  }
  _link.reset();
  return failure("Ambrosia.ConnectionLost", "The connection to " + _instance + " ended before the answer came: whether the call took effect is unknown.");
}

client::answer client::send(run_kind kind, std::uint32_t method, byte_span key, writer& arguments) {
  std::string why;
  if (arguments.bad) return failures::misuse("a value");
  if (key.size() > 128) return failures::misuse("a key");
  if (arguments.size() > message_most) return failures::too_long(message_most);
  if (!connect(why)) return failure("Ambrosia.NotConnected", why);
  writer message, run;
  message.varint(method);
  if (!key.empty()) message.byte_string(key);
  message.raw(arguments.view());
  std::uint64_t number = ++_link->messages;
  run.u8(static_cast<std::uint8_t>(kind)), run.u8(key.empty() ? 0 : 1), run.u16(0), run.u32(0), run.u64(number), run.u32(1), run.u32(0), run.u64(0);
  run.byte_string(message.view());
  return exchange(frame_type::run, run, number, kind == run_kind::impulse);
}

client::answer client::ask(std::uint32_t method, writer& arguments) {
  std::string why;
  if (arguments.bad) return failures::misuse("a value");
  if (!connect(why)) return failure("Ambrosia.NotConnected", why);
  writer query;
  std::uint64_t number = ++_link->queries;
  query.u64(number), query.u64(0), query.u32(10'000), query.u32(method), query.raw(arguments.view());
  return exchange(frame_type::query, query, number, false);
}

}  // namespace ambrosia::inline v0
