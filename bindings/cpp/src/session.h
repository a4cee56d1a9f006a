// The conversation of an app with its coordinator (P5): frames in, frames out. It does no input or output of its own, so a test can drive it.
#pragma once

#include <ambrosia/immortal.h>

#include <atomic>

#include "frames.h"
#include "quarantine.h"
#include "tasks.h"
#include "window.h"

namespace ambrosia::inline v0 {

// How a session ended: the exit code of P5.13, and a line for people.
struct session_end {
  int code = 0;
  std::string why;
  bool begins_again = false;  // another session follows in this process
};

class session final : public runtime {
 public:
  // `wake` is called from other threads when `drain_tasks` has something to do.
  session(std::unique_ptr<immortal_base> app, std::function<void()> wake);

  // AppHello, with the token of this start.
  void greet(byte_span token);
  // One frame. False: the session has ended, and `end` says how; what is in `out` is still to be sent.
  bool take(frame_type type, byte_span payload);
  // A frame that is none, or rings that cannot be used.
  bool refuse(const char* sentence) { return fail_with(sentence, "a frame"); }
  bool refuse_rings(std::string why) { return end_with(1, 2, std::move(why)); }
  // The input has run dry: reports what was executed (P5.6). Everything in `out` must be sent before the app waits.
  void run_dry();
  // Results of tasks, and impulses of other threads, which wait for the executing thread.
  void drain_tasks();

  bool is_welcome() const { return _is_welcome; }
  const session_end& end() const { return _end; }
  // A view has stopped where a debugger is to stop, too, and has not yet; and the debugger's user goes on.
  bool takes_break() { return _view != nullptr && std::exchange(_view->wants_break, false); }
  void say_goes_on();
  std::uint64_t payload_most() const { return _is_welcome ? (1ull << 30) + 65'536 : 4'096; }
  std::string take_rings_path(std::uint32_t& capacity) { return capacity = _ring_bytes, std::exchange(_ring_path, {}); }

  // Restores an image and says whether it could be (AMBROSIA_CHECK_IMAGE); the reason is in `end`.
  bool restore(byte_span image);
  void write_image(writer& out) const;

  // ---- runtime ----
  void flow_ended(flow_core& flow) override;
  void flow_suspended(flow_core& flow) override;
  std::uint64_t begin_timer(flow_core& flow, std::uint32_t leaf, std::int64_t due) override;
  std::uint64_t begin_task(flow_core& flow, std::uint32_t leaf, std::string_view body, byte_span arguments, task_pool::work work) override;
  void know_task(std::uint64_t task, task_pool::work work) override;
  void drop_timer(std::uint64_t timer) override;
  void drop_task(std::uint64_t task) override;
  std::uint64_t set_timer(std::uint32_t method, std::int64_t in_us, std::int64_t period_us, byte_span arguments) override;
  void want_checkpoint() override { out.frame(frame_type::checkpoint_wanted); }

  // A place in the log, where Executing says that the app is: read by the thread that watches (run.cpp).
  std::atomic<std::uint64_t> executing_lsn{0};
  std::atomic<std::uint32_t> executing_index{0};

 private:
  struct origin {
    place_name place;
    bool is_known = false;
    std::uint32_t destination = no_destination;
  };
  struct duty {
    std::uint64_t mark = 0, latest = 0;  // latest 0: without a bound
    std::int64_t time = 0;
  };
  enum class stage { greeting, image, ready };

  bool fail_with(const char* sentence, std::string_view about);
  bool end_with(std::uint8_t goodbye, int code, std::string why);
  bool diverged(std::string why);

  bool take_welcome(byte_span payload);
  bool take_image(frame_type type, byte_span payload);
  bool become_primary(byte_span payload);
  bool take_goodbye(byte_span payload);
  bool take_query(byte_span payload);
  bool deliver(byte_span payload);
  bool execute_records(byte_span records, std::uint64_t mark);
  bool execute(const record_view& record);
  bool execute_run(const record_view& record);
  bool execute_results(const run_view& run);
  bool execute_viewed(const run_view& run, std::uint64_t lsn);
  bool execute_message(const run_view& run, const message_view& message);
  bool first_start(byte_span body);
  bool add_peer(byte_span body);
  bool forget(const record_view& record);
  bool take_mark(const record_view& record);
  bool take_nondet(byte_span body);
  bool take_timer(const record_view& record);
  bool take_request(const record_view& record);
  bool take_policy(byte_span body);
  bool take_quarantine(byte_span body);
  bool retry(const kept_message& message);
  void set_message(std::uint64_t lsn, std::uint32_t index, run_kind kind, const place_name& caller, bool can_be_kept, std::uint32_t tries = 0);
  void set_no_message() { _message.can_be_kept = false; }
  void complete_call(std::uint32_t destination, std::uint64_t call, bool is_failure, byte_span value);

  // Gives a message to its handler; `handled` is behind it, at once or when its flow has ended. Whom it answers stands in _in.answers.
  bool handle(std::uint32_t method, byte_span arguments, std::int64_t window_row = -1);
  // The two steps of this. Handlers do not nest, so one `incoming` serves all: making one costs more than many handlers. The first holds for all
  // messages of a run that are answered alike.
  void expect(std::int64_t window_row) {
    _in.window_row = window_row;
    _in.wants_result = _in.answers.who != reply_to::kind::nobody || window_row >= 0;
  }
  bool dispatch(std::uint32_t method, byte_span arguments) {
    _in.method = method;
    _in.arguments = arguments;
    _in.what = incoming::fate::no_method;
    _app->dispatch(_in);
    if (_in.what == incoming::fate::done && !_in.wants_result && refused == nullptr) [[likely]] return true;
    return handled_at_once();
  }
  bool handled_at_once();
  // A method with its arguments has been executed with this value, or has failed.
  struct outcome {
    std::uint32_t method;
    byte_span arguments;
    const failure* error;
    byte_span value;
  };
  void handled(const reply_to& answers, std::int64_t window_row, const outcome& of);
  void answer(const reply_to& to, bool is_failure, byte_span value, std::string_view words);
  bool keyed(std::uint32_t method, byte_span key, byte_span arguments);
  std::uint64_t read_hash(std::uint32_t method, byte_span arguments);
  // Does with a failure that nobody awaits what the fork policy says.
  void refuse_fork(const outcome& of);
  bool set_aside(const outcome& of);
  void say_set_aside(const kept_message& kept, bool is_unlogged);
  void check_flow(flow_core& flow);
  void restart(flow_core& flow);
  // The message in hand is that of a flow which had waited, if it is held. It stays there as long as `held` does.
  void resume_message(const flow_core& flow, held_message& held);

  // Views (views.cpp).
  bool take_look(byte_span payload);
  bool take_go(byte_span payload);
  bool stops_at(std::uint64_t lsn, std::uint32_t index, bool is_executed) const;
  void stop();
  void say_seen(std::uint8_t reason);
  // Versions (versions.cpp).
  std::uint32_t version() const;
  bool take_convert(byte_span payload);
  bool take_upgrade(byte_span body);

  void processed(std::uint64_t lsn);
  void advance();
  void record_boundary();
  void send_image(std::uint64_t lsn);
  void start_task(std::uint64_t number, task_row& task);
  void say_timer(std::uint64_t timer, std::int64_t due);

  bool read_image(cbor_reader& in);
  bool read_session(cbor_reader& in);
  void read_origins(cbor_reader& in);
  void read_calls(cbor_reader& in);
  void read_timers(cbor_reader& in);
  void read_tasks(cbor_reader& in);
  bool read_flows(cbor_reader& in);
  bool read_flow(cbor_reader& in, flow_image& of);
  void read_answers(cbor_reader& in, flow_image& of) const;
  bool restore_flow(const flow_image& of, bool aside, std::string& why);
  bool bind_flow(const flow_image& of, flow_core& flow);
  void write_session(writer& out) const;
  void write_waits(writer& out) const;
  const origin* find_origin(std::uint32_t number) const { return number < _origins.size() && _origins[number].is_known ? &_origins[number] : nullptr; }
  std::uint32_t origin_of(std::uint64_t shard, std::string_view name) const;

  std::unique_ptr<immortal_base> _app;
  task_pool _pool;
  std::function<void()> _wake;
  session_end _end;
  stage _stage = stage::greeting;
  bool _is_welcome = false, _has_started = false, _has_ended = false;
  std::string _replica;
  std::uint64_t _epoch = 0;
  // What a view does: where it stops, and the records that it was given and has not executed.
  struct view {
    look_frame look;
    bool is_looking = false, is_stopped = false, wants_break = false;
    std::uint32_t index = 0;      // so many messages of the record at _executed are executed
    std::uint64_t since = 0;      // messages, and records that hold none, since the last Look
    std::uint64_t whole_end = 0;  // the end of the last record that is executed whole
    bytes rest;
    std::uint64_t mark = 0;
  };
  std::unique_ptr<view> _view;  // null: the app lives
  // The version of an image that is to be converted (0: none), and why that cannot be.
  std::uint32_t _converts_from = 0;
  bool _is_converting = false;
  std::string _conversion_error;
  std::string _ring_path;
  std::uint32_t _ring_bytes = 0;
  bytes _image;  // while it comes

  std::uint64_t _executed = 0, _reported = 0, _emitted_then = 0;  // the last: what was emitted before the last report
  std::int64_t _key_time = 0;
  std::vector<origin> _origins;  // by origin number; 0 is the instance itself
  std::map<std::uint64_t, timer_row> _timers;
  std::map<std::uint64_t, task_row> _tasks;
  request_window _window;
  std::uint8_t _fork_policy = 0;
  std::vector<policy_change> _ahead;
  quarantine _quarantine;
  std::vector<duty> _duty;  // none or one
  std::map<std::uint32_t, std::uint64_t> _suspensions;
  std::pair<const std::uint32_t, std::uint64_t>* _last_suspended = nullptr;

  // The message in hand: what is needed to set it aside.
  struct {
    std::uint64_t lsn = 0;
    std::uint32_t index = 0, tries = 0;
    const place_name* caller = nullptr;
    run_kind kind{};
    bool can_be_kept = false, was_kept = false;
  } _message;
  std::int64_t _frame_time = 0, _record_time = 0;
  writer _result;
  incoming _in;
};

}  // namespace ambrosia::inline v0
