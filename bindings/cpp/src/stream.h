// The bytes of a link: a TCP connection, or TLS around one (P7.4).
#pragma once

#include <ambrosia/client.h>

namespace ambrosia::inline v0 {

// One thread uses it. A failed send shows itself at the next receive, so nobody has to look at both.
class stream {
 public:
  explicit stream(int socket) : _socket(socket) {}
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;
  virtual ~stream();

  virtual void send(byte_span data);
  // What comes within this time, behind what `to` holds. False: the connection has ended.
  virtual bool receive(bytes& to, int wait_ms);

 protected:
  bool is_readable(int wait_ms) const;
  int _socket;
};

// A socket that is connected to host:port; -1, with the reason, if nobody answers or the address may not be called.
int dial(const std::string& address, bool is_loopback_only, std::string& why);
// TLS 1.3 around a socket, with an instance whose certificate names it (P7.5). Null, with the reason, where it cannot be had.
std::unique_ptr<stream> begin_tls(int socket, const client_certificates& certificates, const std::string& instance, std::string& why);

}  // namespace ambrosia::inline v0
