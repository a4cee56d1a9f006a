#include <ambrosia/client.h>

#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "frames.h"

namespace ambrosia::inline v0 {

// ---- SHA-256 (FIPS 180-4) and HMAC (RFC 2104) ----

namespace {

constexpr std::array<std::uint32_t, 64> rounds = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void mix(std::array<std::uint32_t, 8>& state, const std::uint8_t* block) {
  std::array<std::uint32_t, 64> w;
  for (std::size_t i = 0; i < 16; i++) {
    w[i] = static_cast<std::uint32_t>(block[4 * i]) << 24 | static_cast<std::uint32_t>(block[4 * i + 1]) << 16 |
           static_cast<std::uint32_t>(block[4 * i + 2]) << 8 | block[4 * i + 3];
  }
  for (std::size_t i = 16; i < 64; i++) {
    std::uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + w[i - 7] + (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t i = 0; i < 64; i++) {
    std::uint32_t one = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) + rounds[i] + w[i];
    std::uint32_t two = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + one, d = c, c = b, b = a, a = one + two;
  }
  std::array<std::uint32_t, 8> more = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; i++) state[i] += more[i];
}

}  // namespace

std::array<std::uint8_t, 32> sha256(byte_span data) {
  std::array<std::uint32_t, 8> state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  bytes padded = to_bytes(data);
  padded.push_back(0x80);
  while (padded.size() % 64 != 56) padded.push_back(0);
  for (int shift = 56; shift >= 0; shift -= 8) padded.push_back(static_cast<std::uint8_t>(static_cast<std::uint64_t>(data.size()) * 8 >> shift));
  for (std::size_t at = 0; at < padded.size(); at += 64) mix(state, padded.data() + at);
  std::array<std::uint8_t, 32> digest;
  for (std::size_t i = 0; i < 32; i++) digest[i] = static_cast<std::uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

std::array<std::uint8_t, 32> hmac_sha256(byte_span key, byte_span data) {
  std::array<std::uint8_t, 64> pad{};
  if (key.size() > 64) {
    auto short_key = sha256(key);
    std::copy(short_key.begin(), short_key.end(), pad.begin());
  } else {
    std::copy(key.begin(), key.end(), pad.begin());
  }
  writer inner, outer;
  for (std::uint8_t byte : pad) inner.u8(byte ^ 0x36), outer.u8(byte ^ 0x5C);
  inner.raw(data);
  outer.raw(sha256(inner.view()));
  return sha256(outer.view());
}

// ---- The link ----

namespace {

constexpr std::uint32_t message_most = 64 << 20;

bool read_all(const std::filesystem::path& path, std::string& content) {
  std::ifstream file(path, std::ios::binary);
  content.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  return !file.bad() && !content.empty();
}

// The text of a member of a flat JSON object, as a coordinator writes an entry (P8.1): no name or address has a quote in it.
std::string member(std::string_view object, std::string_view name) {
  std::string key = "\"" + std::string(name) + "\"";
  std::size_t at = object.find(key);
  if (at == std::string_view::npos) return "";
  at = object.find('"', object.find(':', at + key.size()));
  std::size_t end = object.find('"', at + 1);
  return at == std::string_view::npos || end == std::string_view::npos ? "" : std::string(object.substr(at + 1, end - at - 1));
}

// The address of the primary in the entry with the highest epoch (P8.2).
std::string find_primary(const std::string& catalog, const std::string& instance) {
  std::uint64_t highest = 0;
  std::string entry;
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(catalog, error)) {
    std::string name = file.path().filename();
    std::uint64_t epoch = 0;
    if (name.rfind(instance + ".", 0) != 0) continue;
    const char *from = name.data() + instance.size() + 1, *end = name.data() + name.size();
    auto parsed = std::from_chars(from, end, epoch);
    std::string content;
    if (parsed.ec != std::errc() || parsed.ptr != end || epoch <= highest || !read_all(file.path(), content)) continue;
    highest = epoch;
    entry = content;
  }
  std::size_t list = entry.find("\"replicas\"");
  for (std::size_t at = list; at != std::string::npos && (at = entry.find('{', at)) != std::string::npos; at++) {
    std::string_view replica(entry.data() + at, std::min(entry.find('}', at), entry.size()) - at);
    if (member(replica, "role") == "primary") return member(replica, "address");
  }
  return "";
}

}  // namespace

struct client::link {
  int socket = -1;
  std::uint32_t seed = 0;
  std::uint64_t session_hash = 0, session = 0, requests = 0, queries = 0;
  std::uint64_t payload_most = 4'096;
  bytes received;

  ~link() {
    if (socket >= 0) close(socket);
  }
  bool send_all(byte_span data) const {
    while (!data.empty()) {
      ssize_t count = ::send(socket, data.data(), data.size(), MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      data = data.subspan(static_cast<std::size_t>(count));
    }
    return true;
  }
  bool send_frame(frame_type type, byte_span payload) const {
    writer out;
    std::size_t at = begin_frame(out);
    out.raw(payload);
    end_frame(out, at, type, true, seed);
    return send_all(out.view());
  }
  // Waits for more, and says each second that it is there (P6.9); 5 s of silence end the connection.
  bool receive(std::size_t at_least) {
    int silent = 0;
    while (received.size() < at_least) {
      pollfd wait = {socket, POLLIN, 0};
      int ready = poll(&wait, 1, 1'000);
      if (ready < 0 && errno != EINTR) return false;
      if (ready <= 0) {
        if (++silent > 5 || (seed != 0 && payload_most > 4'096 && !send_frame(frame_type::heartbeat, {}))) return false;
        continue;
      }
      std::uint8_t piece[65'536];
      ssize_t count = recv(socket, piece, sizeof piece, 0);
      if (count <= 0) return false;
      received.insert(received.end(), piece, piece + count);
      silent = 0;
    }
    return true;
  }
  bytes take(std::size_t count) {
    bytes taken(received.begin(), received.begin() + static_cast<std::ptrdiff_t>(count));
    received.erase(received.begin(), received.begin() + static_cast<std::ptrdiff_t>(count));
    return taken;
  }
  // The next frame; its payload stays valid until the next call. Null: none came, or it is malformed.
  bool next(frame_type& type, bytes& payload) {
    for (;;) {
      frame_view frame;
      if (read_frame(received, true, seed, payload_most, frame) != nullptr) return false;
      if (frame.consumed != 0) {
        type = frame.type;
        payload = to_bytes(frame.payload);
        take(frame.consumed);
        return true;
      }
      if (!receive(received.size() + 1)) return false;
    }
  }
};

client::client(std::string catalog, std::string instance, std::string name)
    : _catalog(std::move(catalog)), _instance(std::move(instance)), _name(std::move(name)) {}

client::~client() = default;

bool client::connect(std::string& why) {
  std::string secret, address = find_primary(_catalog, _instance);
  if (address.empty()) return why = _instance + " has no primary in the catalog " + _catalog + ": is its coordinator running?", false;
  if (!read_all(std::filesystem::path(_catalog) / "secret", secret) || secret.size() != 32) {
    return why = "The secret of the catalog " + _catalog + " cannot be read.", false;
  }
  auto to = std::make_unique<link>();
  std::size_t colon = address.rfind(':');
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<std::uint16_t>(std::atoi(address.c_str() + colon + 1)));
  bool parses = inet_pton(AF_INET, address.substr(0, colon).c_str(), &at.sin_addr) == 1;
  if (!parses || (ntohl(at.sin_addr.s_addr) >> 24) != 127) return why = "This client calls on loopback alone, and the address is " + address + ".", false;
  to->socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int on = 1;
  setsockopt(to->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(to->socket, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0) return why = address + " does not answer.", false;

  // P7.1, P7.2: each side proves that it knows the secret and the address.
  std::random_device chance;
  writer hello, proven;
  hello.raw(as_bytes("AMBRLINK"));
  for (int i = 0; i < 8; i++) hello.u32(chance());
  if (!to->send_all(hello.view()) || !to->receive(64)) return why = address + " ended the connection.", false;
  bytes answer = to->take(64);
  byte_span own = hello.view(8), theirs(answer.data(), 32);
  auto proof = [&](std::string_view role) {
    writer text;
    text.raw(as_bytes(role)), text.raw(own), text.raw(theirs), text.raw(as_bytes(address));
    return hmac_sha256(as_bytes(secret), text.view());
  };
  auto expected = proof("acceptor");
  std::uint8_t difference = 0;
  for (std::size_t i = 0; i < 32; i++) difference |= static_cast<std::uint8_t>(expected[i] ^ answer[32 + i]);
  if (difference != 0) return why = address + " does not prove that it knows the catalog's secret.", false;
  to->send_all(proof("dialler"));
  proven.raw(own), proven.raw(theirs);
  to->seed = crc32c(proven.view());

  writer greeting;
  greeting.u16(1), greeting.u16(1), greeting.u16(0), greeting.string(_instance), greeting.raw(bytes(16)), greeting.string(_name);
  greeting.u32(1u << 30), greeting.u8(0), greeting.varint(0);
  frame_type type{};
  bytes payload;
  if (!to->send_frame(frame_type::client_hello, greeting.view()) || !to->next(type, payload)) return why = address + " ended the connection.", false;
  reader in(payload, "P10.2");
  if (type == frame_type::goodbye) {
    goodbye_frame refused;
    return why = read_goodbye(in, refused) ? std::string(refused.why) : "It was refused.", false;
  }
  in.u16(), read_guid(in), in.name();
  byte_span session = in.take(16);
  if (type != frame_type::client_welcome || !in.ok()) return why = address + " breaks P10.2.", false;
  for (std::size_t i = 0; i < 8; i++) to->session_hash = to->session_hash << 8 | session[i], to->session = to->session << 8 | session[8 + i];
  to->payload_most = (1ull << 30) + 65'536;
  _link = std::move(to);
  return true;
}

// Sends one frame and waits for what answers it.
result<bytes> client::exchange(frame_type sent, const writer& payload, std::uint64_t number, bool is_query) {
  failure lost("Ambrosia.ConnectionLost", "The connection to " + _instance + " ended before the answer came: whether the call took effect is unknown.");
  if (!_link->send_frame(sent, payload.view())) return _link.reset(), lost;
  frame_type type{};
  bytes content;
  while (_link->next(type, content)) {
    if (type == frame_type::query_answer && is_query) {
      reader in(content);
      std::uint64_t query = in.u64();
      std::uint8_t status = in.u8();
      in.u64();
      if (query != number) continue;
      byte_span answer = in.rest();
      failure what("Ambrosia.NotNow", std::string(as_text(answer)));
      if (status == 0) return to_bytes(answer);
      if (status == 1 && !read_failure(answer, what)) what = failures::bad_failure();
      return what;
    }
    run_view run;
    if (type == frame_type::run && !is_query && read_run(content, UINT64_MAX, run) == nullptr) {
      reader at(run.messages);
      message_view message;
      for (std::uint32_t i = 0; i < run.count; i++) {
        read_message(run, at, UINT64_MAX, message);
        if (message.call != number) continue;
        if (run.kind == run_kind::answer) return to_bytes(message.arguments);
        failure what;
        return read_failure(message.arguments, what) ? what : failures::bad_failure();
      }
    }
    if (type == frame_type::goodbye) break;
  }
  _link.reset();
  return lost;
}

result<bytes> client::request(std::uint32_t method, byte_span key, writer& arguments) {
  std::string why;
  if (arguments.bad) return failures::misuse("a value");
  if (key.size() > 128) return failures::misuse("a key");
  if (arguments.size() > message_most) return failures::too_long(message_most);
  if (_link == nullptr && !connect(why)) return failure("Ambrosia.NotConnected", why);
  writer message, run;
  message.varint(method);
  if (!key.empty()) message.byte_string(key);
  message.raw(arguments.view());
  std::uint64_t number = ++_link->requests;
  run.u8(static_cast<std::uint8_t>(run_kind::request)), run.u8(key.empty() ? 0 : 1), run.u16(0), run.u32(0), run.u64(number), run.u32(1), run.u32(0), run.u64(0);
  run.byte_string(message.view());
  return exchange(frame_type::run, run, number, false);
}

result<bytes> client::ask(std::uint32_t method, writer& arguments) {
  std::string why;
  if (arguments.bad) return failures::misuse("a value");
  if (_link == nullptr && !connect(why)) return failure("Ambrosia.NotConnected", why);
  writer query;
  std::uint64_t number = ++_link->queries;
  query.u64(number), query.u64(0), query.u32(10'000), query.u32(method), query.raw(arguments.view());
  return exchange(frame_type::query, query, number, true);
}

}  // namespace ambrosia
