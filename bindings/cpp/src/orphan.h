// An app does not outlive the coordinator that started it (P5.0, P5.13), and says where a long handler stands (P5.20).
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "channel.h"
#include "session.h"

namespace ambrosia::inline v0 {

// Whether the coordinator that started this process has ended; `coordinator` is its process id as AMBROSIA_PARENT states it, null where nobody
// did. `processes` is the folder of the system's that tells about processes; where there is none, nobody is said to be gone.
bool coordinator_is_gone(const char* coordinator, const std::string& processes = "/proc");

// A thread that looks once a second. It tells where a long handler stands, and ends a process whose coordinator is gone in the middle of one.
class watcher {
 public:
  watcher(channel& of, const session& at) : _channel(of), _session(at), _thread([this] { watch(); }) {}
  watcher(const watcher&) = delete;
  watcher& operator=(const watcher&) = delete;
  ~watcher();

 private:
  void watch();
  void tell_place(std::uint64_t lsn, std::uint32_t index);

  channel& _channel;
  const session& _session;
  std::mutex _lock;
  std::condition_variable _more;
  bool _ends = false;
  std::thread _thread;
};

}  // namespace ambrosia
