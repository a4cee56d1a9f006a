// Timers and tasks: what an instance waits for besides other instances (P5.14, P5.15).
#pragma once

#include <ambrosia/runtime.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace ambrosia::inline v0 {

// One timer: a flow waits for it, or it executes a method.
struct timer_row {
  std::int64_t due = 0;
  flow_core* flow = nullptr;  // null: it executes `method`
  std::uint32_t leaf = 0, method = 0;
  std::int64_t period = 0;
  bytes arguments;
};

struct task_row {
  std::int64_t begun = 0;
  std::string body;
  bytes arguments;
  flow_core* flow = nullptr;
  std::uint32_t leaf = 0;
  std::function<void(writer&, bool& failed)> work;
  bool is_running = false;
};

// Runs tasks on a few threads, which begin with the first task of a primary. What they give waits here until the executing thread takes it.
// The threads own what they share, and nobody waits for them: a task that hangs does not keep the process from ending.
class task_pool {
 public:
  using work = std::function<void(writer&, bool& failed)>;
  struct given {
    std::uint64_t task = 0;
    bool is_failure = false;
    bytes value;
  };

  task_pool() : _of(std::make_shared<shared>()) {}
  task_pool(const task_pool&) = delete;
  task_pool& operator=(const task_pool&) = delete;
  ~task_pool();

  // `wake` is called on a worker's thread when something can be taken.
  void run(std::uint64_t task, work body, std::function<void()> wake);
  bool take(given& result);

 private:
  static constexpr std::size_t threads_most = 8;
  struct begun {
    std::uint64_t task;
    work body;
    std::function<void()> wake;
  };
  struct shared {
    std::mutex lock;
    std::condition_variable more;
    std::deque<begun> waiting;
    std::deque<given> results;
    std::size_t threads = 0, idle = 0;
    bool ends = false;
  };
  static void work_on(std::shared_ptr<shared> of);

  std::shared_ptr<shared> _of;
};

}  // namespace ambrosia
