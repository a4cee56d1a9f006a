// Timers and tasks of a session (P5.14, P5.15).
#include "session.h"

namespace ambrosia::inline v0 {

namespace {

constexpr std::size_t timers_most = 1u << 20;

}  // namespace

void session::say_timer(std::uint64_t timer, std::int64_t due) {
  out.frame(frame_type::timer_set, [&](writer& to) { to.u64(timer), to.i64(due); });
}

std::uint64_t session::begin_timer(flow_core& flow, std::uint32_t leaf, std::int64_t due) {
  std::uint64_t number = next_timer++;
  _timers[number] = {due, &flow, leaf, 0, 0, {}};
  say_timer(number, due);
  return number;
}

std::uint64_t session::set_timer(std::uint32_t method, std::int64_t in_us, std::int64_t period_us, byte_span arguments) {
  if (_timers.size() >= timers_most) return 0;
  std::uint64_t number = next_timer++;
  std::int64_t due = now + std::max<std::int64_t>(in_us, 0);
  _timers[number] = {due, nullptr, 0, method, std::max<std::int64_t>(period_us, 0), to_bytes(arguments)};
  say_timer(number, due);
  return number;
}

void session::drop_timer(std::uint64_t timer) {
  if (_timers.erase(timer) != 0) out.frame(frame_type::timer_dropped, [&](writer& to) { to.u64(timer); });
}

bool session::take_timer(const record_view& record) {
  reader in(record.body);
  timer_fired fired;
  if (!read_timer(in, fired)) return fail_with(in.error, "a TimerFired record");
  if (fired.timer == 0 || fired.timer >= next_timer) return diverged("The log fires timer " + std::to_string(fired.timer) + ", which this app has not set.");
  now = std::max(now, fired.due);
  advance();
  auto waiting = _timers.find(fired.timer);
  if (waiting == _timers.end() || waiting->second.due != fired.due) return true;
  timer_row timer = waiting->second;
  set_no_message();
  drop_timer(fired.timer);
  if (timer.flow == nullptr && timer.period > 0) {
    // The next time on its grid that is still to come: a process that was down for long does not make up for each.
    timer.due += timer.period * (std::max<std::int64_t>(now - timer.due, 0) / timer.period + 1);
    _timers[fired.timer] = timer;
    say_timer(fired.timer, timer.due);
  }
  if (timer.flow == nullptr) {
    _in.answers = {};
    return handle(timer.method, timer.arguments);
  }
  timer.flow->complete(timer.leaf, false, {});
  return !_has_ended;
}

std::uint64_t session::begin_task(flow_core& flow, std::uint32_t leaf, std::string_view body, byte_span arguments, task_pool::work work) {
  std::uint64_t number = next_task++;
  task_row& task = _tasks[number];
  task = {now, std::string(body), to_bytes(arguments), &flow, leaf, std::move(work), false};
  start_task(number, task);
  return number;
}

void session::know_task(std::uint64_t number, task_pool::work work) {
  auto task = _tasks.find(number);
  if (task != _tasks.end()) task->second.work = std::move(work);
}

void session::start_task(std::uint64_t number, task_row& task) {
  if (!is_primary || task.is_running || !task.work) return;
  task.is_running = true;
  _pool.run(number, task.work, _wake);
}

void session::drop_task(std::uint64_t task) { _tasks.erase(task); }

void session::drain_tasks() {
  task_pool::given given;
  while (_pool.take(given)) {
    if (_tasks.find(given.task) == _tasks.end() || _has_ended) continue;
    if (given.value.size() > out.limit) {
      writer what;
      write_failure(what, failures::too_long(out.limit));
      given.is_failure = true, given.value = what.take();
    }
    out.frame(frame_type::task_result, [&](writer& to) { to.u64(given.task), to.u8(given.is_failure ? 1 : 0), to.raw(given.value); });
  }
}

bool session::take_nondet(byte_span body) {
  reader in(body);
  nondet_result result;
  if (!read_nondet(in, result)) return fail_with(in.error, "a NondetResult record");
  if (result.task == 0 || result.task >= next_task) return diverged("The log has a result of task " + std::to_string(result.task) + ", which this app has not begun.");
  auto waiting = _tasks.find(result.task);
  if (waiting == _tasks.end()) return true;
  flow_core* flow = waiting->second.flow;
  std::uint32_t leaf = waiting->second.leaf;
  _tasks.erase(waiting);
  set_no_message();
  flow->complete(leaf, result.is_failure, result.result);
  return !_has_ended;
}

}  // namespace ambrosia
