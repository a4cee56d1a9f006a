#include "channel.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

namespace ambrosia::inline v0 {

namespace {

constexpr std::size_t part_header = 4'096;

struct endpoint {
  sockaddr_storage address{};
  socklen_t bytes = 0;
};

bool parse(const std::string& text, endpoint& to, std::string& why) {
  std::size_t colon = text.find(':');
  std::string form = text.substr(0, colon), rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (form == "unix" || form == "ring") {
    auto& address = reinterpret_cast<sockaddr_un&>(to.address);
    if (rest.empty() || rest.size() > 107) {
      why = "AMBROSIA_APP names a socket path of " + std::to_string(rest.size()) + " bytes, and one has 1 to 107: give the coordinator a shorter --app-socket.";
      return false;
    }
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, rest.c_str(), rest.size() + 1);
    to.bytes = sizeof address;
    return true;
  }
  unsigned port = 0;
  auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), port);
  if (form != "tcp" || parsed.ec != std::errc() || parsed.ptr != rest.data() + rest.size() || port == 0 || port > 65'535) {
    why = "AMBROSIA_APP is \"" + text + "\", which is none of unix:PATH, ring:PATH and tcp:PORT: let the coordinator start the app, or copy what it names.";
    return false;
  }
  auto& address = reinterpret_cast<sockaddr_in&>(to.address);
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.bytes = sizeof address;
  return true;
}

long futex(std::uint32_t* word, int operation, std::uint32_t value, const timespec* timeout) {
  return syscall(SYS_futex, word, operation, value, timeout, nullptr, 0);
}

}  // namespace

channel::channel() : _wake(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)), _in(1 << 20) {}

channel::~channel() {
  if (_inbound.base != nullptr) munmap(_inbound.base, _mapped);
  if (_socket >= 0) close(_socket);
  if (_wake >= 0) close(_wake);
}

bool channel::connect(const std::string& address, int& code, std::string& why) {
  endpoint to;
  code = 2;
  if (!parse(address, to, why)) return false;
  auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  for (;;) {
    _socket = socket(to.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (_socket >= 0 && ::connect(_socket, reinterpret_cast<const sockaddr*>(&to.address), to.bytes) == 0) break;
    int error = errno;
    if (_socket >= 0) close(std::exchange(_socket, -1));
    if (std::chrono::steady_clock::now() > until) {
      code = 74;
      why = "Nobody answers at " + address + " (" + std::strerror(error) + "): is the coordinator running?";
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  int on = 1;
  if (to.address.ss_family == AF_INET) setsockopt(_socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return true;
}

bool channel::map_rings(const std::string& path, std::uint32_t capacity, std::string& why) {
  std::size_t part = part_header + capacity;
  int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct stat found {};
  bool fits = file >= 0 && fstat(file, &found) == 0 && static_cast<std::uint64_t>(found.st_size) == 2 * part;
  void* base = fits ? mmap(nullptr, 2 * part, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  if (file >= 0) close(file);
  if (base == MAP_FAILED) {
    why = "The rings of the coordinator (" + path + ") cannot be mapped: start it without --app-rings.";
    return false;
  }
  _capacity = capacity;
  _mapped = 2 * part;
  _inbound.base = static_cast<std::uint8_t*>(base);
  _outbound.base = _inbound.base + part;
  return true;
}

// Room behind what was received; what was consumed leaves first. The buffer grows with what has come, never with what a frame announces.
std::uint8_t* channel::room(std::size_t& bytes) {
  if (_from == _to) _from = _to = 0;
  if (_in.size() - _to < _in.size() / 4) {
    std::memmove(_in.data(), _in.data() + _from, _to - _from);
    _to -= std::exchange(_from, 0);
    if (_to > _in.size() / 2) _in.resize(_in.size() * 2);
  }
  bytes = _in.size() - _to;
  return _in.data() + _to;
}

bool channel::read_more() {
  if (_has_ended && _inbound.base == nullptr) return false;
  return _inbound.base != nullptr ? read_ring() : read_socket();
}

bool channel::read_socket() {
  std::size_t bytes;
  std::uint8_t* to = room(bytes);
  ssize_t count;
  do count = recv(_socket, to, bytes, MSG_DONTWAIT);
  while (count < 0 && errno == EINTR);
  if (count > 0) return _to += static_cast<std::size_t>(count), true;
  if (count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) _has_ended = true;
  return false;
}

bool channel::read_ring() {
  std::uint64_t read = _inbound.read().load(std::memory_order_relaxed), written = _inbound.written().load(std::memory_order_acquire);
  if (written == read) return false;
  if (written - read > _capacity) return _has_ended = true, false;
  std::size_t bytes;
  std::uint8_t* to = room(bytes);
  bytes = std::min<std::size_t>(bytes, written - read);
  std::size_t at = read & (_capacity - 1), first = std::min(bytes, _capacity - at);
  std::memcpy(to, _inbound.data() + at, first);
  std::memcpy(to + first, _inbound.data(), bytes - first);
  _to += bytes;
  _inbound.read().store(read + bytes, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  bool has_room = written - read - bytes <= _capacity / 2;
  if (has_room && _inbound.writer_waits().load(std::memory_order_relaxed) != 0 && _inbound.writer_waits().exchange(0) != 0) {
    futex(_inbound.writer_word(), FUTEX_WAKE, INT32_MAX, nullptr);
  }
  return true;
}

// The bytes that only wake. False: the connection has ended.
bool channel::drain_bytes() {
  char bytes[64];
  ssize_t count;
  do count = recv(_socket, bytes, sizeof bytes, MSG_DONTWAIT);
  while (count > 0 || (count < 0 && errno == EINTR));
  return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

void channel::wait() {
  if (_inbound.base != nullptr) {
    _inbound.reader_waits().store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (_inbound.written().load(std::memory_order_acquire) != _inbound.read().load(std::memory_order_relaxed)) return;
  }
  pollfd waits[2] = {{_socket, POLLIN, 0}, {_wake, POLLIN, 0}};
  poll(waits, 2, -1);
  std::uint64_t count;
  if ((waits[1].revents & POLLIN) != 0) (void)!::read(_wake, &count, sizeof count);
  if (_inbound.base != nullptr && waits[0].revents != 0 && !drain_bytes()) _has_ended = true;
}

void channel::wake() {
  std::uint64_t one = 1;
  (void)!::write(_wake, &one, sizeof one);
}

bool channel::is_broken() const {
  pollfd look = {_socket, POLLRDHUP, 0};
  return poll(&look, 1, 0) > 0 && (look.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

bool channel::write(byte_span frames) {
  if (frames.empty()) return true;
  std::lock_guard hold(_writing);
  return _outbound.base != nullptr ? write_ring(frames) : write_socket(frames);
}

bool channel::write_socket(byte_span frames) {
  while (!frames.empty()) {
    ssize_t count = send(_socket, frames.data(), frames.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      frames = frames.subspan(static_cast<std::size_t>(count));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return false;
    pollfd waits = {_socket, POLLOUT, 0};
    poll(&waits, 1, -1);
  }
  return true;
}

bool channel::send_byte() {
  std::uint8_t byte = 0;
  ssize_t count = send(_socket, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
  return count == 1 || errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

bool channel::write_ring(byte_span frames) {
  while (!frames.empty()) {
    std::uint64_t written = _outbound.written().load(std::memory_order_relaxed), read = _outbound.read().load(std::memory_order_acquire);
    if (read > written || written - read > _capacity) return false;
    std::size_t room = _capacity - static_cast<std::size_t>(written - read);
    if (room == 0) {
      _outbound.writer_waits().store(1, std::memory_order_relaxed);
      std::atomic_thread_fence(std::memory_order_seq_cst);
      if (_outbound.read().load(std::memory_order_acquire) != read) continue;
      timespec while_ms{0, 100'000'000};
      if (futex(_outbound.writer_word(), FUTEX_WAIT, 1, &while_ms) != 0 && errno == ETIMEDOUT && !send_byte()) return false;
      continue;
    }
    std::size_t bytes = std::min(room, frames.size()), at = written & (_capacity - 1), first = std::min(bytes, _capacity - at);
    std::memcpy(_outbound.data() + at, frames.data(), first);
    std::memcpy(_outbound.data(), frames.data() + first, bytes - first);
    frames = frames.subspan(bytes);
    _outbound.written().store(written + bytes, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (_outbound.reader_waits().load(std::memory_order_relaxed) != 0 && _outbound.reader_waits().exchange(0) != 0 && !send_byte()) return false;
  }
  return true;
}

}  // namespace ambrosia
