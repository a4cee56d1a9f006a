#include "stream.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace ambrosia::inline v0 {

namespace {

bool is_loopback(const sockaddr* address) {
  if (address->sa_family == AF_INET) return ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr) >> 24 == 127;
  return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

}  // namespace

int dial(const std::string& address, bool is_loopback_only, std::string& why) {
  std::size_t colon = address.rfind(':');
  std::string host = address.substr(0, colon), port = colon == std::string::npos ? "" : address.substr(colon + 1);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0 || found == nullptr) return why = address + " is no address.", -1;
  int connected = -1;
  if (is_loopback_only && !is_loopback(found->ai_addr)) {
    why = "Without certificates this client calls on loopback alone, and the address is " + address + ".";
  } else {
    connected = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connected < 0 || connect(connected, found->ai_addr, found->ai_addrlen) != 0) {
      why = address + " does not answer.";
      if (connected >= 0) close(std::exchange(connected, -1));
    }
  }
  freeaddrinfo(found);
  int on = 1;
  if (connected >= 0) setsockopt(connected, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return connected;
}

stream::~stream() { close(_socket); }

bool stream::is_readable(int wait_ms) const {
  pollfd wait = {_socket, POLLIN, 0};
  return poll(&wait, 1, wait_ms) > 0;
}

void stream::send(byte_span data) {
  while (!data.empty()) {
    ssize_t count = ::send(_socket, data.data(), data.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    data = data.subspan(static_cast<std::size_t>(count));
  }
}

bool stream::receive(bytes& to, int wait_ms) {
  if (!is_readable(wait_ms)) return true;
  std::uint8_t piece[65'536];
  ssize_t count = recv(_socket, piece, sizeof piece, 0);
  if (count > 0) to.insert(to.end(), piece, piece + count);
  return count > 0 || (count < 0 && errno == EINTR);
}

}  // namespace ambrosia::inline v0
