#include "tasks.h"

namespace ambrosia::inline v0 {

task_pool::~task_pool() {
  std::lock_guard hold(_of->lock);
  _of->ends = true;
  _of->waiting.clear();
  _of->more.notify_all();
}

void task_pool::run(std::uint64_t task, work body, std::function<void()> wake) {
  std::lock_guard hold(_of->lock);
  _of->waiting.push_back({task, std::move(body), std::move(wake)});
  if (_of->waiting.size() > _of->idle && _of->threads < threads_most) {
    _of->threads++;
    std::thread(work_on, _of).detach();
  }
  _of->more.notify_one();
}

bool task_pool::take(given& result) {
  std::lock_guard hold(_of->lock);
  if (_of->results.empty()) return false;
  result = std::move(_of->results.front());
  _of->results.pop_front();
  return true;
}

void task_pool::work_on(std::shared_ptr<shared> of) {
  std::unique_lock hold(of->lock);
  for (;;) {
    of->idle++;
    of->more.wait(hold, [&] { return of->ends || !of->waiting.empty(); });
    of->idle--;
    if (of->ends) return;
    begun next = std::move(of->waiting.front());
    of->waiting.pop_front();
    hold.unlock();
    writer out;
    bool failed = false;
    next.body(out, failed);
    if (out.bad) {
      failed = true;
      out.clear();
      write_failure(out, failures::bad_task_result(next.task, true));
    }
    hold.lock();
    if (of->ends) return;
    of->results.push_back({next.task, failed, out.take()});
    // Under the lock, so that whoever is woken still lives.
    next.wake();
  }
}

}  // namespace ambrosia
