// A caller outside: a process that is no immortal, and asks one (P10). On loopback, without certificates.
#pragma once

#include <ambrosia/failure.h>

namespace ambrosia::inline v0 {

// Calls one instance, which the catalog names. Each call waits for its answer; one thread uses a client at a time. When the connection breaks,
// the next call dials again, and what was under way has an unknown outcome (P10.7): give it a key, and it may be sent again.
class client {
 public:
  // `catalog` is the directory that the coordinators of the domain share, `name` that of the caller.
  client(std::string catalog, std::string instance, std::string name);
  client(const client&) = delete;
  client& operator=(const client&) = delete;
  ~client();

  // A method's result. With a key the same request takes effect once, however often it is sent.
  template <class R, class... P>
  result<R> call(std::uint32_t method, std::string_view key, const P&... arguments) {
    writer encoded;
    (encode(encoded, arguments), ...);
    return decoded<R>(method, request(method, as_bytes(key), encoded));
  }
  // What a query of the primary says.
  template <class R, class... P>
  result<R> query(std::uint32_t method, const P&... arguments) {
    writer encoded;
    (encode(encoded, arguments), ...);
    return decoded<R>(method, ask(method, encoded));
  }

 private:
  result<bytes> request(std::uint32_t method, byte_span key, writer& arguments);
  result<bytes> ask(std::uint32_t method, writer& arguments);
  template <class R>
  static result<R> decoded(std::uint32_t method, result<bytes> answer) {
    if (!answer) return answer.error();
    if constexpr (std::is_void_v<R>) {
      return {};
    } else {
      R value{};
      cbor_reader in(*answer);
      decode(in, value);
      if (in.ok()) return value;
      return in.union_name.empty() ? failures::bad_result(method, false) : failures::unknown_case(in);
    }
  }

  struct link;
  bool connect(std::string& why);
  result<bytes> exchange(frame_type type, const writer& payload, std::uint64_t number, bool is_query);

  std::string _catalog, _instance, _name;
  std::unique_ptr<link> _link;
};

// For the proofs of P7.2.
std::array<std::uint8_t, 32> sha256(byte_span data);
std::array<std::uint8_t, 32> hmac_sha256(byte_span key, byte_span data);

}  // namespace ambrosia
