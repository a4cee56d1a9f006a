// The probe of the conformance kit (protocol/conformance/README.md), as an immortal of this binding.
#pragma once

#include "Probe.contract.h"

namespace probe {

// A change of the code, for tests: `Do` forks to another instance than it says. A restore must notice it where a flow has forked before it waited.
inline bool forks_elsewhere = false;

using Conformance::Everything;
using Conformance::IProbe;
using Conformance::IShape;
using Conformance::Operation;
using Conformance::Step;

struct Pulse {
  std::string to;
  std::int64_t number = 0;
  std::string key;
  static constexpr auto fields = ambrosia::fields("to", &Pulse::to, "number", &Pulse::number, "key", &Pulse::key);
};

struct State {
  std::int64_t total = 0;
  std::int64_t trail = 0;
  std::set<std::string> keys;
  ambrosia::bytes blob;
  std::vector<Pulse> pulses;
  std::uint64_t beat = 0;  // the timer of the beat; 0: none
  static constexpr auto fields = ambrosia::fields("total", &State::total, "trail", &State::trail, "keys", &State::keys, "blob", &State::blob, "pulses",
                                                  &State::pulses, "beat", &State::beat);

  std::int64_t count(std::int64_t amount) {
    total = static_cast<std::int64_t>(static_cast<std::uint64_t>(total) + static_cast<std::uint64_t>(amount));
    __int128 next = (static_cast<__int128>(trail) * 31 + amount) % 1'000'000'007;
    trail = static_cast<std::int64_t>(next < 0 ? next + 1'000'000'007 : next);
    return total;
  }
};

// What the probe serves beside its contract: the method that the timer of the beat executes.
struct Beats {
  static constexpr std::uint32_t beat = 0x00BEA700;
  static constexpr std::string_view manifest = "";
  template <class A>
  static void dispatch(A& app, ambrosia::incoming& in) {
    if (in.method == beat) ambrosia::invoke<void()>(in, app, &A::Beat);
  }
};

class Probe : public ambrosia::immortal<Probe, State, ambrosia::serves<IProbe, Beats>> {
 public:
  void first_start() override { get<IProbe>("greeter").AddFork(1); }
  void becoming_primary() override {
    for (const Pulse& pulse : state().pulses) impulses<IProbe>(pulse.to.empty() ? name() : pulse.to).Tick(pulse.number, pulse.key);
  }

  std::int64_t Add(std::int64_t amount) { return state().count(amount); }
  void Send(std::string_view to, std::int64_t amount) { get<IProbe>(to).AddFork(amount); }
  void SendMany(std::string_view to, std::int64_t first, std::int32_t count) {
    auto target = get<IProbe>(to);
    for (std::int64_t i = 0; i < count; i++) target.AddFork(first + i);
  }
  void Ship(std::string_view to, std::int32_t size) { get<IProbe>(to).TakeFork(pattern(size)); }
  void Take(ambrosia::byte_span content) { state().count(static_cast<std::int64_t>(content.size())); }
  ambrosia::bytes Echo(ambrosia::byte_span content) { return ambrosia::to_bytes(content); }
  std::int64_t Total() { return state().total; }
  std::int64_t Trail() { return state().trail; }
  std::int64_t Peek() const { return state().total; }
  ambrosia::result<void> Refuse(std::string_view why) {
    state().count(1);
    return refusal(why);
  }
  std::string Defaults(std::int32_t number, std::string_view word, std::optional<std::int64_t> more) {
    return std::to_string(number) + "/" + std::string(word) + "/" + (more ? std::to_string(*more) : "none");
  }
  Everything Mirror(Everything value) { return value; }
  std::int64_t Measure(IShape shape) {
    if (const auto* circle = shape.as<Conformance::Circle>()) return circle->Radius;
    const auto* square = shape.as<Conformance::Square>();
    return square != nullptr ? square->Side : 0;
  }
  std::int32_t Remember(std::string key) {
    state().keys.insert(std::move(key));
    return static_cast<std::int32_t>(state().keys.size());
  }
  std::vector<std::string> Recall() { return {state().keys.begin(), state().keys.end()}; }
  void Grow(std::int32_t size) {
    auto& blob = state().blob;
    std::size_t from = blob.size();
    blob.resize(from + static_cast<std::size_t>(std::max(size, 0)));
    for (std::size_t i = from; i < blob.size(); i++) blob[i] = static_cast<std::uint8_t>(i % 251);
  }
  void Tick(std::int64_t amount) { state().count(amount); }

  static ambrosia::flow<std::vector<std::string>> Do(ambrosia::context<Probe> at, std::vector<Step> steps);

  void Beat() {
    state().count(1);
    get<IProbe>("beat").AddFork(1);
  }

 private:
  struct Begun;
  static Begun begin(ambrosia::context<Probe> at, const Step& step);
  static ambrosia::failure refusal(std::string_view why) { return {"Conformance.Refused", std::string(why)}; }
  static ambrosia::bytes pattern(std::int32_t size) {
    ambrosia::bytes content(static_cast<std::size_t>(std::max(size, 0)));
    for (std::size_t i = 0; i < content.size(); i++) content[i] = static_cast<std::uint8_t>(i % 251);
    return content;
  }
};

}  // namespace probe
