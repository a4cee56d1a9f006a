// The flow `Do` of the probe, which interprets steps.
#include "probe.h"

#include <charconv>

namespace probe {

namespace {

std::string text_of(const ambrosia::failure& what) { return what.type + ": " + what.message; }

std::string text_of(const ambrosia::guid& id) {
  std::string text;
  for (std::size_t i = 0; i < 16; i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += "0123456789abcdef"[id.value[i] >> 4];
    text += "0123456789abcdef"[id.value[i] & 15];
  }
  return text;
}

ambrosia::result<std::int64_t> twice(std::int64_t number, std::string text) {
  if (number < 0) return ambrosia::failure("Conformance.Refused", text);
  return 2 * number;
}

void see(const ambrosia::result<std::int64_t>& outcome, std::vector<std::string>& seen) {
  seen.push_back(outcome ? std::to_string(*outcome) : text_of(outcome.error()));
}

}  // namespace

// What a step has begun, of one of three types.
struct Probe::Begun {
  std::optional<ambrosia::pending<std::int64_t>> number;
  std::optional<ambrosia::pending<std::vector<std::string>>> texts;
  std::optional<ambrosia::pending<void>> time;

  std::uint32_t leaf() const { return number ? number->leaf() : texts ? texts->leaf() : time->leaf(); }
  void see_what_came(std::vector<std::string>& seen) {
    if (number) return see(number->take(), seen);
    if (time) return void(time->take());
    auto outcome = texts->take();
    if (!outcome) return seen.push_back(text_of(outcome.error()));
    seen.insert(seen.end(), outcome->begin(), outcome->end());
  }
};

Probe::Begun Probe::begin(ambrosia::context<Probe> at, const Step& step) {
  auto target = at.get<IProbe>(step.To.empty() ? at.name() : step.To);
  Begun begun;
  switch (step.Op) {
    case Operation::Call: begun.texts.emplace(target.Do(step.Steps)); break;
    case Operation::Delay: begun.time.emplace(at.delay(std::chrono::microseconds(step.Number))); break;
    case Operation::Task: begun.number.emplace(at.task("twice", &twice, step.Number, step.Text)); break;
    default: begun.number.emplace(target.Add(step.Number)); break;
  }
  return begun;
}

ambrosia::flow<std::vector<std::string>> Probe::Do(ambrosia::context<Probe> at, std::vector<Step> steps) {
  std::vector<std::string> seen;
  for (const Step& step : steps) {
    std::string to = step.To.empty() ? at.name() : step.To;
    switch (step.Op) {
      case Operation::Say: seen.push_back(step.Text); break;
      case Operation::Add: at.step([&](State& s) { s.count(step.Number); }); break;
      case Operation::Read: seen.push_back(std::to_string(at.step([](State& s) { return s.total; }))); break;
      case Operation::Fork: at.get<IProbe>(forks_elsewhere ? "elsewhere" : to).AddFork(step.Number); break;
      case Operation::ForkDo: at.get<IProbe>(to).DoFork(step.Steps); break;
      case Operation::Call: {
        auto outcome = co_await at.get<IProbe>(to).Do(step.Steps).outcome();
        if (!outcome) seen.push_back(text_of(outcome.error()));
        if (outcome) seen.insert(seen.end(), outcome->begin(), outcome->end());
        break;
      }
      case Operation::Ask: {
        auto outcome = co_await at.get<IProbe>(to).Add(step.Number).outcome();
        see(outcome, seen);
        break;
      }
      case Operation::Through: seen.push_back(std::to_string(co_await at.get<IProbe>(to).Add(step.Number))); break;
      case Operation::Throw: co_return refusal(step.Text);
      case Operation::Delay: co_await at.delay(std::chrono::microseconds(step.Number)); break;
      case Operation::All: {
        std::vector<Begun> begun;
        std::vector<std::uint32_t> leaves;
        for (const Step& one : step.Steps) begun.push_back(begin(at, one)), leaves.push_back(begun.back().leaf());
        co_await at.all_of(leaves);
        for (Begun& one : begun) one.see_what_came(seen);
        break;
      }
      case Operation::Any: {
        std::vector<Begun> begun;
        std::vector<std::uint32_t> leaves;
        for (const Step& one : step.Steps) begun.push_back(begin(at, one)), leaves.push_back(begun.back().leaf());
        std::size_t first = co_await at.any_of(leaves);
        seen.push_back(std::to_string(first));
        begun[first].see_what_came(seen);
        for (std::size_t i = 0; i < begun.size(); i++) {
          if (i != first) at.core().give_up(begun[i].leaf());
        }
        break;
      }
      case Operation::Within: {
        Begun begun = begin(at, step.Steps.at(0));
        auto outcome = co_await at.within(std::move(*begun.number), std::chrono::microseconds(step.Number));
        see(outcome, seen);
        break;
      }
      case Operation::Task: {
        auto outcome = co_await at.task("twice", &twice, step.Number, step.Text).outcome();
        see(outcome, seen);
        break;
      }
      case Operation::Guid: seen.push_back(text_of(at.guid())); break;
      case Operation::Random: seen.push_back(std::to_string(at.random() % 1'000'000)); break;
      case Operation::Now: seen.push_back(std::to_string(at.now())); break;
      case Operation::Checkpoint: at.want_checkpoint(); break;
      case Operation::Pulse: at.step([&](State& s) { s.pulses.push_back({step.To, step.Number, step.Text}); }); break;
      case Operation::Again: co_return at.again(step.Steps);
      case Operation::Pass: {
        std::int64_t number = 0;
        const std::string& last = seen.empty() ? std::string() : seen.back();
        std::from_chars(last.data(), last.data() + last.size(), number);
        at.get<IProbe>(forks_elsewhere ? "elsewhere" : to).AddFork(number);
        break;
      }
      case Operation::Every: {
        std::chrono::microseconds period(step.Number);
        std::uint64_t timer = at.set_timer(Beats::beat, period, period);
        std::uint64_t before = at.step([&](State& s) { return std::exchange(s.beat, timer); });
        if (before != 0) at.drop_timer(before);
        break;
      }
      case Operation::Stop: {
        std::uint64_t timer = at.step([](State& s) { return std::exchange(s.beat, 0); });
        if (timer != 0) at.drop_timer(timer);
        break;
      }
    }
  }
  co_return seen;
}

}  // namespace probe
