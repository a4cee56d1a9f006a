// Messages: those of runs, those of callers outside, queries, and what answers them (P3, P5.18, P10).
#include "session.h"

namespace ambrosia::inline v0 {

namespace {

// A number in a message that was checked. The highest bit of each byte but the last is taken off again with the next one.
inline std::uint64_t next_varint(const std::uint8_t*& p) {
  std::uint64_t value = *p++;
  for (int shift = 7; p[-1] >= 0x80; shift += 7) value += (static_cast<std::uint64_t>(*p++) - 1) << shift;
  return value;
}

// The next message of a run that was checked.
[[gnu::always_inline]] inline void next_message(const run_view& run, reader& at, message_view& message) {
  std::uint64_t length = next_varint(at.p);
  const std::uint8_t* end = at.p + length;
  message.method = static_cast<std::uint32_t>(next_varint(at.p));
  if (run.kind != run_kind::fork && run.kind != run_kind::impulse) message.call = next_varint(at.p);
  if (run.keyed) message.key = at.byte_string(UINT64_MAX);
  message.arguments = {at.p, end};
  at.p = end;
}

[[gnu::noinline]] std::uint64_t read_call(const std::uint8_t*& p, call_varint& into) {
  const std::uint8_t* from = p;
  std::uint64_t id = next_varint(p);
  into.set(id, from, static_cast<std::size_t>(p - from));
  return id;
}
// The call of a result. Mostly it is the one behind that of the result before, and then its bytes are compared, and not read.
[[gnu::always_inline]] inline std::uint64_t call_of(const std::uint8_t*& p, const std::uint8_t* end, call_varint& before) {
  std::uint64_t id = before.id + 1, word = before.word + 1;
  bool is_next = (id & 0x7F) != 0 && end - p >= 8 && (detail::load64(p) ^ word) << (64 - 8 * before.length) == 0;
  if (!is_next) [[unlikely]] return read_call(p, before);
  p += before.length, before.word = word;
  return before.id = id;
}

}  // namespace

void session::set_message(std::uint64_t lsn, std::uint32_t index, run_kind kind, const place_name& caller, bool can_be_kept, std::uint32_t tries) {
  _message = {lsn, index, tries, &caller, kind, can_be_kept, false};
}

bool session::execute_run(const record_view& record) {
  run_view run;
  if (const char* broken = read_run(record.body, UINT64_MAX, run)) return fail_with(broken, "a run at Lsn " + std::to_string(record.lsn));
  bool is_impulse = record.kind == record_kind::impulse_run;
  if (is_impulse != (run.kind == run_kind::impulse) || run.kind > run_kind::impulse) return fail_with(is_impulse ? "L5.3" : "L5.2", "a run of another kind");
  if (find_origin(run.peer) == nullptr) return fail_with("L5.4", "a run of an origin that no Peer record has named");
  bool can_be_kept = run.kind == run_kind::fork || is_impulse;
  set_message(record.lsn, 0, run.kind, _origins[run.peer].place, can_be_kept);
  // Handlers of such messages answer nobody. It is set where it is not so already, as what was just written cannot be copied quickly.
  if (can_be_kept && _in.answers.who != reply_to::kind::nobody) _in.answers = {};
  if (_view != nullptr) return execute_viewed(run, record.lsn);
  if (run.kind == run_kind::result) return execute_results(run);
  bool is_plain = can_be_kept && !run.keyed;
  if (is_plain) expect(-1);
  reader at(run.messages);
  message_view message;
  for (std::uint32_t index = 0; index < run.count; index++) {
    next_message(run, at, message);
    executing_index.store(index, std::memory_order_relaxed);
    _message.index = index;
    if (is_plain ? !dispatch(message.method, message.arguments) : !execute_message(run, message)) return false;
  }
  return true;
}

[[gnu::always_inline]] inline void session::complete_call(std::uint32_t destination, std::uint64_t call, bool is_failure, byte_span value) {
  call_table::row* awaited = calls.find(call);
  if (awaited == nullptr || awaited->destination != destination) return;  // P3.9
  flow_core* flow = awaited->flow;
  std::uint32_t leaf = awaited->leaf;
  calls.remove(awaited);
  flow->complete(leaf, is_failure, value);
}

// Results go to who awaits them, whatever their method is.
bool session::execute_results(const run_view& run) {
  std::uint32_t from = _origins[run.peer].destination, count = run.count;
  const std::uint8_t *p = run.messages.data(), *end = p + run.messages.size();
  call_varint last;
  for (std::uint32_t index = 0; index < count; index++) {
    std::uint64_t length = next_varint(p);
    const std::uint8_t* behind = p + length;
    next_varint(p);
    std::uint64_t call = call_of(p, end, last);
    executing_index.store(index, std::memory_order_relaxed);
    complete_call(from, call, false, {p, behind});
    if (_has_ended) return false;
    p = behind;
  }
  return true;
}

// As far as the view goes: from the message before which it stopped in this run, if it did, to the next such one.
bool session::execute_viewed(const run_view& run, std::uint64_t lsn) {
  reader at(run.messages);
  message_view message;
  for (std::uint32_t index = 0, first = std::exchange(_view->index, 0); index < run.count; index++) {
    if (index > first && stops_at(lsn, index, true)) return _view->index = index, true;
    next_message(run, at, message);
    if (index < first) continue;
    executing_index.store(index, std::memory_order_relaxed);
    _message.index = index;
    _view->since++;
    if (_message.can_be_kept && !run.keyed ? !handle(message.method, message.arguments) : !execute_message(run, message)) return false;
  }
  return true;
}

// A call, an answer, or an impulse with a key.
bool session::execute_message(const run_view& run, const message_view& message) {
  if (run.kind == run_kind::result || run.kind == run_kind::failure) {
    complete_call(_origins[run.peer].destination, message.call, run.kind == run_kind::failure, message.arguments);
    return !_has_ended;
  }
  if (run.kind == run_kind::call) _in.answers = {reply_to::kind::peer, message.method, run.peer, message.call, 0, 0};
  return run.keyed ? keyed(message.method, message.key, message.arguments) : handle(message.method, message.arguments);
}

bool session::take_request(const record_view& record) {
  reader in(record.body);
  client_request request;
  if (!read_request(in, request)) return fail_with(in.error, "a ClientRequest record");
  set_message(record.lsn, 0, run_kind::impulse, self, true);
  _in.answers = {};
  if (request.request != 0) {
    _in.answers = {reply_to::kind::outside, request.parts.method, 0, request.request, 0, 0};
    for (std::size_t i = 0; i < 8; i++) {
      _in.answers.epoch = _in.answers.epoch << 8 | request.session.value[i];
      _in.answers.session = _in.answers.session << 8 | request.session.value[8 + i];
    }
  }
  if (request.keyed) return keyed(request.parts.method, request.parts.key, request.parts.arguments);
  return handle(request.parts.method, request.parts.arguments);
}

bool session::keyed(std::uint32_t method, byte_span key, byte_span arguments) {
  std::int64_t place = -1;
  const request_window::row* found = nullptr;
  switch (_window.judge(method, key, {crc64(arguments), read_hash(method, arguments)}, _in.answers, place, found)) {
    case request_window::verdict::execute:
      return handle(method, arguments, place);
    case request_window::verdict::answered:
      answer(_in.answers, found->is_failure, found->answer, {});
      break;
    case request_window::verdict::reused: {
      writer what;
      write_failure(what, failures::key_reused());
      answer(_in.answers, true, what.view(), {});
      break;
    }
    case request_window::verdict::wait:
      break;
  }
  return true;
}

// The hash of the arguments as this build reads them, so that a caller of another build is known again (contract.md C1.9); of those that
// cannot be read that of their bytes.
std::uint64_t session::read_hash(std::uint32_t method, byte_span arguments) {
  writer again;
  incoming to(*this, again, method, arguments);
  to.purpose = incoming::use::read_again;
  _app->dispatch(to);
  return crc64(to.what == incoming::fate::done && !again.bad ? again.view() : arguments);
}

bool session::handle(std::uint32_t method, byte_span arguments, std::int64_t window_row) {
  expect(window_row);
  return dispatch(method, arguments);
}

bool session::handled_at_once() {
  if (refused != nullptr) _in.fail(std::move(*std::exchange(refused, nullptr)));
  if (_in.what == incoming::fate::no_method) _in.fail(failures::no_method(_in.method));
  _in.defaults.clear();
  if (_in.what != incoming::fate::flow) {
    std::optional<failure> error = std::exchange(_in.error, std::nullopt);
    handled(_in.answers, _in.window_row, {_in.method, _in.arguments, error ? &*error : nullptr, _result.view()});
    _result.clear();
  }
  return !_has_ended;
}

void session::handled(const reply_to& answers, std::int64_t window_row, const outcome& of) {
  writer what;
  if (of.error != nullptr) write_failure(what, *of.error);
  byte_span given = of.error != nullptr ? what.view() : of.value;
  std::string_view words = of.error != nullptr ? std::string_view(of.error->words) : std::string_view();
  std::vector<reply_to> others;
  if (window_row >= 0) others = _window.answer(window_row, of.error != nullptr, given);
  bool is_awaited = answers.who != reply_to::kind::nobody;
  if (is_awaited) answer(answers, of.error != nullptr, given, words);
  for (const reply_to& one : others) answer(one, of.error != nullptr, given, {});
  if (of.error != nullptr && !is_awaited) refuse_fork(of);
}

void session::answer(const reply_to& to, bool is_failure, byte_span value, std::string_view words) {
  auto send = [&](bool failed, byte_span data, std::string_view beside) {
    if (to.who == reply_to::kind::outside) {
      out.begin_answer(failed, to.epoch, to.session, to.method, to.call);
    } else if (failed) {
      out.begin_failure(_origins[to.origin].destination, to.method, to.call, beside);
    } else {
      out.begin(_origins[to.origin].destination, run_kind::result, to.method, to.call);
    }
    out.bytes_out().raw(data);
    return out.end();
  };
  if (to.who == reply_to::kind::nobody || (to.who == reply_to::kind::peer && find_origin(to.origin) == nullptr)) return;
  if (send(is_failure, value, words)) return;
  writer what;
  write_failure(what, failures::too_long(out.limit));
  send(true, what.view(), {});
}

bool session::take_query(byte_span payload) {
  reader in(payload, "P5.18");
  query_frame query;
  if (!read_query(in, query)) return fail_with(in.error, "Query");
  writer result;
  incoming to(*this, result, query.method, query.arguments);
  to.purpose = incoming::use::query;
  to.wants_result = true;
  _app->dispatch(to);
  if (to.what == incoming::fate::no_method) to.fail(failures::no_method(query.method));
  if (result.size() > out.limit) to.fail(failures::too_long(out.limit));
  bool is_failure = to.what == incoming::fate::failed;
  if (is_failure) result.clear(), write_failure(result, *to.error);
  out.frame(frame_type::query_answer, [&](writer& answer) {
    answer.u64(query.query), answer.u8(is_failure ? 1 : 0), answer.u64(std::max(query.lsn, _executed)), answer.raw(result.view());
  });
  return true;
}

}  // namespace ambrosia::inline v0
