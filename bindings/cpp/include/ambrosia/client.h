// A caller outside: a process that is no immortal, and asks one (P10): on loopback, or with certificates wherever the instance is.
#pragma once

#include <ambrosia/failure.h>

namespace ambrosia::inline v0 {

// Files in PEM, as the coordinators have them (P7.4). They need a build with OpenSSL.
struct client_certificates {
  std::string certificate, key, authorities;
};

// Calls one instance, which the catalog names. Each call waits for its answer; one thread uses a client at a time. When the connection breaks,
// the next call dials again, and what was under way has an unknown outcome (P10.7): give it a key, and it may be sent again.
class client {
 public:
  // `catalog` is the directory that the coordinators of the domain share, `name` that of the caller, which its certificate states, too.
  client(std::string catalog, std::string instance, std::string name, client_certificates certificates = {});
  client(const client&) = delete;
  client& operator=(const client&) = delete;
  ~client();

  // A method's result. With a key the same request takes effect once, however often it is sent.
  template <class R, class... P>
  result<R> call(std::uint32_t method, std::string_view key, const P&... arguments) {
    writer encoded;
    (encode(encoded, arguments), ...);
    return decoded<R>(method, send(run_kind::request, method, as_bytes(key), encoded));
  }
  // An impulse, which nobody answers: the position behind its record in the log, as soon as it is logged.
  template <class... P>
  result<std::uint64_t> impulse(std::uint32_t method, std::string_view key, const P&... arguments) {
    writer encoded;
    (encode(encoded, arguments), ...);
    answer got = send(run_kind::impulse, method, as_bytes(key), encoded);
    if (!got) return got.error();
    return got->lsn;
  }
  // What a query of the primary says.
  template <class R, class... P>
  result<R> query(std::uint32_t method, const P&... arguments) {
    writer encoded;
    (encode(encoded, arguments), ...);
    return decoded<R>(method, ask(method, encoded));
  }

 private:
  // The value of a request or query, or where an impulse was logged.
  struct told {
    bytes value;
    std::uint64_t lsn = 0;
  };
  using answer = result<told>;
  answer send(run_kind kind, std::uint32_t method, byte_span key, writer& arguments);
  answer ask(std::uint32_t method, writer& arguments);
  template <class R>
  static result<R> decoded(std::uint32_t method, answer got) {
    if (!got) return got.error();
    if constexpr (std::is_void_v<R>) {
      return {};
    } else {
      R value{};
      cbor_reader in(got->value);
      decode(in, value);
      if (in.ok()) return value;
      return in.union_name.empty() ? failures::bad_result(method, false) : failures::unknown_case(in);
    }
  }

  class link;
  bool connect(std::string& why);
  answer exchange(frame_type sent, const writer& payload, std::uint64_t number, bool is_impulse);

  std::string _catalog, _instance, _name;
  client_certificates _certificates;
  std::unique_ptr<link> _link;
};

}  // namespace ambrosia::inline v0
