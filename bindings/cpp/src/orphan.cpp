#include "orphan.h"

#include <cerrno>
#include <charconv>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace ambrosia::inline v0 {

namespace {

// The front of a small file, or the system's error number.
int read_front(const std::string& path, std::string& front) {
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno;
  char piece[4'096];
  ssize_t count = read(file, piece, sizeof piece);
  int error = count < 0 ? errno : 0;
  close(file);
  if (count > 0) front.assign(piece, static_cast<std::size_t>(count));
  return error;
}

}  // namespace

bool coordinator_is_gone(const char* coordinator, const std::string& processes) {
  int id = 0;
  const char* end = coordinator == nullptr ? nullptr : coordinator + std::strlen(coordinator);
  if (coordinator == nullptr || std::from_chars(coordinator, end, id).ptr != end || id <= 1) return false;
  // Only the system knows the parent for certain, and it tells each process its own, even where one may not look at those of others.
  if (getppid() == id) return false;
  // A wrapper may stand between the two. One that has ended and that nobody has waited for is gone, too.
  std::string line;
  if (read_front(processes + "/self/stat", line) != 0) return false;
  int error = read_front(processes + "/" + coordinator + "/stat", line);
  if (error != 0) return error == ENOENT || error == ESRCH;
  std::size_t name_end = line.rfind(')');
  return name_end != std::string::npos && name_end + 2 < line.size() && (line[name_end + 2] == 'Z' || line[name_end + 2] == 'X');
}

watcher::~watcher() {
  {
    std::lock_guard hold(_lock);
    _ends = true;
  }
  _more.notify_all();
  _thread.join();
}

void watcher::watch() {
  int broken = 0;
  std::uint64_t said_lsn = 0;
  std::uint32_t said_index = 0;
  std::unique_lock hold(_lock);
  while (!_more.wait_for(hold, std::chrono::seconds(1), [this] { return _ends; })) {
    broken = _channel.is_broken() ? broken + 1 : 0;
    if (broken >= 2) std::_Exit(74);
    std::uint64_t lsn = _session.executing_lsn.load(std::memory_order_relaxed);
    std::uint32_t index = _session.executing_index.load(std::memory_order_relaxed);
    if (lsn == 0 || (lsn == said_lsn && index == said_index)) continue;
    said_lsn = lsn, said_index = index;
    tell_place(lsn, index);
  }
}

void watcher::tell_place(std::uint64_t lsn, std::uint32_t index) {
  writer frame;
  std::size_t at = begin_frame(frame);
  frame.u64(lsn), frame.u32(index);
  end_frame(frame, at, frame_type::executing);
  _channel.write(frame.view());
}

}  // namespace ambrosia
