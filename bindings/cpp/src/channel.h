// The connection to the coordinator (P5.0, P5.19): a stream socket, and with rings two rings in shared memory, for which the socket only wakes.
#pragma once

#include <ambrosia/wire.h>

#include <atomic>
#include <mutex>

namespace ambrosia::inline v0 {

// The executing thread reads and waits. Any thread may write whole frames, one at a time, and `wake` the one that waits.
class channel {
 public:
  channel();
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;
  ~channel();

  // Tries for 10 s, since a coordinator that is just starting may not listen yet. On failure `code` is the exit code and `why` the line.
  bool connect(const std::string& address, int& code, std::string& why);
  bool map_rings(const std::string& path, std::uint32_t capacity, std::string& why);

  byte_span received() const { return {_in.data() + _from, _to - _from}; }
  void consume(std::size_t bytes) { _from += bytes; }
  // Takes what is there, without waiting. False: there was nothing, or the connection has ended (`has_ended`).
  bool read_more();
  bool has_ended() const { return _has_ended; }
  // Until something is there, or `wake` was called.
  void wait();
  void wake();
  bool write(byte_span frames);
  // Whether the other side is gone, for the thread that watches.
  bool is_broken() const;

 private:
  // One direction's part of the file.
  struct ring {
    std::uint8_t* base = nullptr;
    std::atomic_ref<std::uint64_t> written() const { return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(base)); }
    std::atomic_ref<std::uint64_t> read() const { return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(base + 128)); }
    std::atomic_ref<std::uint32_t> reader_waits() const { return std::atomic_ref(*reinterpret_cast<std::uint32_t*>(base + 256)); }
    std::atomic_ref<std::uint32_t> writer_waits() const { return std::atomic_ref(*writer_word()); }
    std::uint32_t* writer_word() const { return reinterpret_cast<std::uint32_t*>(base + 384); }
    std::uint8_t* data() const { return base + 4'096; }
  };

  std::uint8_t* room(std::size_t& bytes);
  bool read_ring();
  bool read_socket();
  bool drain_bytes();
  bool write_ring(byte_span frames);
  bool write_socket(byte_span frames);
  bool send_byte();

  int _socket = -1, _wake = -1;
  bool _has_ended = false;
  bytes _in;
  std::size_t _from = 0, _to = 0;
  std::mutex _writing;
  ring _inbound, _outbound;
  std::size_t _capacity = 0, _mapped = 0;
};

}  // namespace ambrosia
