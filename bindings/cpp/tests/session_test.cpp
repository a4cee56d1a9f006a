// Random programs of flows, stopped before every record: a session that is restored there must say the same and have the same image as one that
// goes on. And a restore whose code does something else must be refused exactly where it would have acted otherwise.
// Arguments: programs, and a seed (default 1).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "../src/sha256.h"
#include "driven.h"

namespace {

using namespace ambrosia;
using namespace driven;
using probe::Operation;
using probe::Step;

int failures_found = 0;

void expect(bool holds, const char* what, unsigned long long of = 0) {
  if (holds) return;
  if (++failures_found <= 20) std::printf("session_test: %s (%llu)\n", what, of);
}

// What a session has said, without what may differ between two sessions: indices, cuts into runs, causes, and reports of positions.
struct spoken {
  std::vector<std::string> lines;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> calls;  // id, method
  std::vector<std::pair<std::uint64_t, std::int64_t>> timers;
};

spoken listen(session& to, std::vector<std::string>& destinations) {
  spoken all;
  to.out.close();
  byte_span data = to.out.bytes_out().view();
  for (frame_view frame; !data.empty(); data = data.subspan(frame.consumed)) {
    if (read_frame(data, false, 0, 1u << 30, frame) != nullptr || frame.consumed == 0) {
      expect(false, "a frame that is none");
      break;
    }
    reader in(frame.payload);
    if (frame.type == frame_type::destination) {
      std::uint32_t index = in.u32();
      in.u16();
      if (destinations.size() <= index) destinations.resize(index + 1);
      destinations[index] = in.string(100);
    } else if (frame.type == frame_type::run) {
      run_view run;
      expect(read_run(frame.payload, UINT64_MAX, run) == nullptr, "a run that is none");
      std::string to_whom = run.kind >= run_kind::request ? "" : destinations[run.peer];
      reader at(run.messages);
      message_view message;
      for (std::uint32_t i = 0; i < run.count; i++) {
        read_message(run, at, UINT64_MAX, message);
        if (run.kind == run_kind::call) all.calls.emplace_back(message.call, message.method);
        all.lines.push_back(to_whom + " " + std::to_string(static_cast<int>(run.kind)) + " " + std::to_string(message.method) + " " +
                            std::to_string(message.call) + " " + hex(message.arguments));
      }
    } else if (frame.type != frame_type::processed) {
      if (frame.type == frame_type::timer_set) {
        std::uint64_t timer = in.u64();
        all.timers.emplace_back(timer, in.i64());
      }
      all.lines.push_back(std::to_string(static_cast<int>(frame.type)) + " " + hex(frame.payload));
    }
  }
  to.out.bytes_out().clear();
  return all;
}

std::vector<Step> random_steps(std::mt19937_64& chance, int depth) {
  static const Operation flat[] = {Operation::Say, Operation::Add, Operation::Read, Operation::Fork, Operation::Guid, Operation::Random, Operation::Now, Operation::Ask,
                                   Operation::Ask, Operation::Through, Operation::Delay, Operation::Task, Operation::Pass, Operation::Pulse};
  static const Operation begun[] = {Operation::Ask, Operation::Delay, Operation::Task};
  std::vector<Step> steps;
  for (std::uint64_t n = 1 + chance() % 5; n != 0; n--) {
    Step step;
    step.Number = static_cast<std::int64_t>(chance() % 1'000);
    step.To = "bank" + std::to_string(chance() % 3);
    std::uint64_t which = chance() % 20;
    if (which == 0 && depth < 2) {
      step.Op = Operation::Again, step.Steps = random_steps(chance, depth + 1);
    } else if (which < 4) {
      step.Op = which == 1 ? Operation::Within : which == 2 ? Operation::All : Operation::Any;
      for (std::uint64_t k = 1 + chance() % 3; k != 0; k--) {
        Step inner;
        inner.Op = step.Op == Operation::Within ? Operation::Ask : begun[chance() % 3];
        inner.To = step.To;
        inner.Number = static_cast<std::int64_t>(chance() % 1'000);
        step.Steps.push_back(inner);
      }
    } else if (which == 19) {
      step.Op = Operation::Throw, step.Text = "no";
    } else {
      step.Op = flat[chance() % std::size(flat)];
    }
    steps.push_back(step);
  }
  return steps;
}

// Whether a flow of this image has forked before it waited: then a change of where it forks to must be noticed.
bool has_forked(byte_span image) {
  cbor_reader in(image);
  in.read_array(), in.skip(), in.skip(), in.skip(), in.skip();
  for (std::size_t count = in.read_array(); count != 0 && in.ok(); count--) {
    in.read_array();
    for (int i = 0; i < 5; i++) in.skip();
    reader operations(in.read_bytes());
    while (operations.left() != 0) {
      if (operations.u8() == static_cast<std::uint8_t>(operation::fork)) return true;
      operations.varint();
    }
    in.skip(), in.skip();
  }
  return false;
}

bytes first_start() {
  writer body;
  for (int i = 0; i < 16; i++) body.u8(static_cast<std::uint8_t>(i));
  body.i64(1), body.u32(1), body.string("self");
  return body.take();
}

// The peer "bank0" has origin number 1, and so on.
bytes peer(std::uint32_t origin) {
  writer body;
  body.u32(origin), body.u16(0);
  for (int i = 0; i < 16; i++) body.u8(static_cast<std::uint8_t>(origin));
  body.u64(1), body.string("bank" + std::to_string(origin - 1));
  return body.take();
}

// Three messages that come together and each lead to much: it is sent while they are executed, in pieces of whole runs, and together these are what
// is sent at the end where nobody takes them. Behind each stands the report that it was executed.
void send_while_running() {
  std::size_t pieces = 0, longest = 0;
  std::vector<std::uint64_t> ends;
  auto emitted = [&](bool in_pieces) {
    auto at = new_session();
    welcome(*at, 0, false);
    bytes sent;
    auto take = [&](writer& frames) {
      sent.insert(sent.end(), frames.view().begin(), frames.view().end());
      frames.clear();
    };
    if (in_pieces) at->out.send = [&](writer& frames) { pieces++, longest = std::max(longest, frames.size()), take(frames); };
    std::uint64_t lsn = 0;
    auto give = [&](byte_span frame) {
      expect(at->take(frame_type::deliver, frame), at->end().why.c_str());
      lsn += frame.size() - 24;
    };
    give(deliver(lsn, 1, 3, first_start()));
    give(deliver(lsn, 1, 4, peer(1)));
    at->out.close();
    at->out.bytes_out().clear();
    writer arguments;
    encode(arguments, std::string("bank0")), encode(arguments, std::int64_t{1} << 40), encode(arguments, std::int32_t{60'000});
    bytes record = deliver(lsn, 1, 1, run_record(1, 1, probe::IProbe::id::SendMany, 0, arguments.view())), all = record;
    for (int i = 0; i < 2; i++) all.insert(all.end(), record.begin() + 24, record.end());
    ends.clear();
    for (int i = 1; i <= 3; i++) ends.push_back(lsn + i * (record.size() - 24));
    give(all);
    at->out.close();
    take(at->out.bytes_out());
    return sent;
  };
  bytes sent = emitted(true);
  expect(sent == emitted(false), "what is sent while a handler runs is something else");
  expect(pieces >= 6 && longest < 350'000, "what a handler emits waits for its end", longest);
  std::vector<std::uint64_t> reports;
  byte_span rest = sent;
  for (frame_view frame; read_frame(rest, false, 0, 1u << 30, frame) == nullptr && frame.consumed != 0; rest = rest.subspan(frame.consumed)) {
    reader in(frame.payload);
    if (frame.type == frame_type::processed) reports.push_back(in.u64());
  }
  expect(reports == ends, "what has emitted much is not reported", reports.size());
}

// A request with a key, as a caller outside sends it.
bytes request_record(std::uint64_t number, std::string_view key, std::uint32_t method, byte_span arguments) {
  writer message, out;
  message.varint(method), message.string(key), message.raw(arguments);
  for (int i = 0; i < 16; i++) out.u8(static_cast<std::uint8_t>(i));
  out.u64(number), out.u8(1), out.varint(message.size()), out.raw(message.view());
  return out.take();
}

template <class... T>
bytes arguments_of(const T&... values) {
  writer out;
  (encode(out, values), ...);
  return out.take();
}

// Arguments of which a caller's build writes more or fewer, and others. `waits`: they are asked for again before the answer, which comes later.
struct repeated {
  std::uint32_t method;
  std::vector<bytes> same;
  bytes other;
  bool waits = false;
};

std::vector<repeated> repeated_requests() {
  using id = probe::IProbe::id;
  using namespace std::string_view_literals;
  std::optional<std::int64_t> none, five = 5;
  std::vector<repeated> all{
      {id::Defaults, {arguments_of(), arguments_of(7), arguments_of(7, "seven"sv), arguments_of(7, "seven"sv, none), arguments_of(7, "seven"sv, none, "new"sv)}, arguments_of(8)},
      {id::Defaults, {arguments_of(7, "seven"sv, five), arguments_of(7, "seven"sv, five, 1)}, arguments_of(7, "seven"sv, none)},
      {id::Defaults, {arguments_of(1), arguments_of(1, "seven"sv)}, arguments_of(1, "one"sv)},
      {id::Add, {arguments_of(1), arguments_of(1, "beside"sv)}, arguments_of(2)},
  };
  Step delay;
  delay.Op = Operation::Delay;
  delay.Number = 1'000;
  writer whole;
  encode(whole, std::vector<Step>{delay});
  // The same list of one step, with a member that this build does not know: a map of one pair more.
  bytes more = whole.take();
  if ((more[1] >> 5) == 5 && (more[1] & 31) < 23) {
    more[1]++;
    for (char each : "\x6azzzzzzzzzz\xf6"sv) more.push_back(static_cast<std::uint8_t>(each));
  }
  delay.Number = 2'000;
  writer other;
  encode(other, std::vector<Step>{delay});
  all.push_back({id::Do, {whole.take(), more}, other.take(), true});
  return all;
}

// A request that is repeated with its key from another build is the same request (contract.md C1.9), behind an image, too.
void repeat_from_other_builds() {
  for (const repeated& each : repeated_requests()) {
    for (const bytes& first : each.same) {
      auto at = new_session();
      welcome(*at, 0, false);
      std::uint64_t lsn = 0, number = 0;
      std::vector<std::string> names;
      auto give = [&](std::uint8_t kind, byte_span body) {
        bytes frame = deliver(lsn, 1'700'000'000'000'000, kind, body);
        expect(at->take(frame_type::deliver, frame), at->end().why.c_str());
        lsn += frame.size() - 24;
        return listen(*at, names);
      };
      auto ask = [&](const bytes& arguments) { return give(static_cast<std::uint8_t>(record_kind::client_request), request_record(++number, "k", each.method, arguments)).lines; };
      give(3, first_start());
      std::vector<std::string> answer = ask(first);
      expect(each.waits || answer.size() == 1, "a request has no answer", each.method);
      for (int restored = 0; restored < 2; restored++) {
        for (const bytes& again : each.same) {
          std::vector<std::string> found = ask(again);
          expect(each.waits ? found.empty() : found.size() == 1 && found[0].substr(found[0].rfind(' ')) == answer[0].substr(answer[0].rfind(' ')),
                 "a request of another build is executed again, or refused", each.method);
        }
        std::vector<std::string> refused = ask(each.other);
        expect(refused.size() == 1 && refused[0].find(hex(as_bytes("KeyReused"))) != std::string::npos, "another request has the answer of the first", each.method);
        writer image;
        at->write_image(image);
        at = new_session();
        welcome(*at, lsn, true);
        give_image(*at, lsn, image.view());
        expect(at->end().code == 0, at->end().why.c_str());
        names.clear();
        listen(*at, names);
        writer same;
        at->write_image(same);
        expect(hex(image.view()) == hex(same.view()), "an image that is restored is another one");
      }
    }
  }
}

class play {
 public:
  explicit play(std::uint64_t seed) : _chance(seed) {}

  void run() {
    _live = new_session();
    welcome(*_live, 0, false);
    give(3, first_start());
    for (std::uint32_t origin = 1; origin <= 3; origin++) give(4, peer(origin));
    for (int n = 0; n < 3; n++) begin_program();
    for (int steps = 0; steps < 60 && failures_found == 0; steps++) {
      if (_calls.empty() && _timers.empty() && _tasks_begun == _tasks_done) break;
      answer_something();
    }
  }

 private:
  void begin_program() {
    writer arguments;
    encode(arguments, random_steps(_chance, 0));
    give(1, run_record(_chance() % 3 == 0 ? 1 : 2, 1, probe::IProbe::id::Do, ++_asked, arguments.view()));
  }

  void answer_something() {
    std::uint64_t which = _chance() % 3;
    if (which == 0 && _tasks_done < _tasks_begun) {
      writer result;
      result.u64(++_tasks_done), result.u8(0), encode(result, static_cast<std::int64_t>(_chance() % 100));
      return give(8, result.view());
    }
    if (which == 1 && !_timers.empty()) {
      auto [timer, due] = take_one(_timers);
      writer fired;
      fired.u64(timer), fired.i64(due);
      return give(9, fired.view());
    }
    if (!_calls.empty()) {
      auto [id, method] = take_one(_calls);
      bool fails = _chance() % 4 == 0;
      writer value;
      if (fails) {
        write_failure(value, {"Bank.Closed", "no"});
      } else {
        encode(value, static_cast<std::int64_t>(_chance() % 1'000));
      }
      // Whoever is asked, the answer comes from each bank in turn: only that of the instance that was called counts (P3.9).
      for (std::uint32_t origin = 1; origin <= 3; origin++) give(1, run_record(fails ? 4 : 3, origin, method, id, value.view()));
    }
  }

  template <class T>
  T take_one(std::vector<T>& from) {
    std::size_t at = _chance() % from.size();
    T one = from[at];
    from.erase(from.begin() + static_cast<std::ptrdiff_t>(at));
    return one;
  }

  // Executes one record in the session that lives, and in one that was restored before it.
  void give(std::uint8_t kind, byte_span body) {
    _time += 1'000 + static_cast<std::int64_t>(_chance() % 5'000);
    bytes frame = deliver(_lsn, _time, kind, body);
    std::unique_ptr<session> restored;
    std::vector<std::string> names;
    if (_lsn != 0) {
      writer image;
      _live->write_image(image);
      restored = new_session();
      welcome(*restored, _lsn, true);
      give_image(*restored, _lsn, image.view());
      expect(restored->end().code == 0, restored->end().why.c_str(), _lsn);
      listen(*restored, names);
      writer again;
      restored->write_image(again);
      expect(hex(again.view()) == hex(image.view()), "an image that is restored is another one", _lsn);
      refuse_change(image.view());
    }
    expect(_live->take(frame_type::deliver, frame), _live->end().why.c_str(), _lsn);
    spoken said = listen(*_live, _names);
    if (restored != nullptr) {
      restored->take(frame_type::deliver, frame);
      spoken other = listen(*restored, names);
      expect(said.lines == other.lines, "a restored session says something else", _lsn);
      writer a, b;
      _live->write_image(a), restored->write_image(b);
      expect(hex(a.view()) == hex(b.view()), "a restored session has another image behind a record", _lsn);
    }
    _calls.insert(_calls.end(), said.calls.begin(), said.calls.end());
    _timers.insert(_timers.end(), said.timers.begin(), said.timers.end());
    _tasks_begun = _live->next_task - 1;
    _lsn += frame.size() - 24;
  }

  void refuse_change(byte_span image) {
    if (_chance() % 4 != 0) return;
    probe::forks_elsewhere = true;
    auto changed = new_session();
    welcome(*changed, _lsn, true);
    give_image(*changed, _lsn, image);
    expect((changed->end().code == 2) == has_forked(image), "a change of the code is refused if and only if it acts otherwise", _lsn);
    probe::forks_elsewhere = false;
  }

  std::mt19937_64 _chance;
  std::unique_ptr<session> _live;
  std::vector<std::string> _names;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> _calls;
  std::vector<std::pair<std::uint64_t, std::int64_t>> _timers;
  std::uint64_t _lsn = 0, _asked = 0, _tasks_begun = 0, _tasks_done = 0;
  std::int64_t _time = 1'700'000'000'000'000;
};

}  // namespace

int main(int count, char** arguments) {
  int programs = count > 1 ? std::atoi(arguments[1]) : 100;
  std::uint64_t seed = count > 2 ? static_cast<std::uint64_t>(std::atoll(arguments[2])) : 1;
  // RFC 4231, test case 2; FIPS 180-2, the two-block message.
  expect(hex(hmac_sha256(as_bytes("Jefe"), as_bytes("what do ya want for nothing?"))) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843", "HMAC");
  expect(hex(sha256(as_bytes("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"))) == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1", "SHA-256");
  send_while_running();
  repeat_from_other_builds();
  for (int i = 0; i < programs && failures_found == 0; i++) {
    play(seed + static_cast<std::uint64_t>(i)).run();
    if (failures_found != 0) std::printf("session_test: repeat with: session_test 1 %llu\n", static_cast<unsigned long long>(seed) + static_cast<unsigned long long>(i));
  }
  std::printf("session_test: %d plays of 3 programs, %d failures\n", programs, failures_found);
  return failures_found == 0 ? 0 : 1;
}
