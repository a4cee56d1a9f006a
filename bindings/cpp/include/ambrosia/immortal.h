// The class that an app's author derives from: state, handlers, and what handlers may ask for.
#pragma once

#include <ambrosia/contract.h>

namespace ambrosia::inline v0 {

template <class... I>
struct serves {};

// What the session knows of an app.
class immortal_base {
 public:
  virtual ~immortal_base() = default;

  // The first state is made by the constructor and this, which may send. It executes once in the life of the instance.
  virtual void first_start() {}
  // The process has become the primary: it may send impulses (outside().get<I>(…)).
  virtual void becoming_primary() {}
  // This version of the app takes the place of version `from`, whose state it has. It may send, and executes once.
  virtual void upgraded(std::uint32_t from) { (void)from; }

  virtual void dispatch(incoming& in) = 0;
  virtual void write_state(writer& out) const = 0;
  virtual bool read_state(cbor_reader& in) = 0;
  virtual std::vector<std::string_view> manifests() const = 0;
  virtual std::uint64_t contract_hash() const = 0;
  virtual std::uint32_t version() const = 0;
  // Calls one of the hooks above. False: it failed.
  enum class hook { first_start, becoming_primary, upgraded };
  virtual bool run_hook(hook which, failure& error, std::uint32_t from = 0) = 0;

  void attach(runtime& to) { _run = &to; }

 protected:
  runtime& run() const { return *_run; }

 private:
  runtime* _run = nullptr;
};

// Sends impulses: input from outside, logged before it acts. Only a primary sends them; from other threads they go through ambrosia::post (run.h).
class impulse_sender {
 public:
  impulse_sender(runtime& of, std::uint32_t destination) : _run(&of), _destination(destination) {}

 protected:
  template <class... P>
  void send(std::uint32_t method, std::string_view key, const P&... arguments) const {
    send_with(method, key, [&](writer& out) { (encode(out, arguments), ...); });
  }
  void send_raw(std::uint32_t method, std::string_view key, byte_span content) const {
    send_with(method, key, [&](writer& out) { out.raw(content); });
  }

 private:
  template <class F>
  void send_with(std::uint32_t method, std::string_view key, F arguments) const {
    if (!_run->is_primary || key.size() > 128) return;
    _run->out.begin_impulse(_destination, method, as_bytes(key));
    arguments(_run->out.bytes_out());
    _run->out.end();
  }

  runtime* _run;
  std::uint32_t _destination;
};

// class Bank : public ambrosia::immortal<Bank, Accounts, ambrosia::serves<IBank>>: its state is an Accounts, it serves the contract IBank.
template <class A, class State, class Contracts>
class immortal;

template <class A, class State, class First, class... More>
class immortal<A, State, serves<First, More...>> : public immortal_base {
 public:
  using state_type = State;

  State& state() { return _state; }
  const State& state() const { return _state; }

  void dispatch(incoming& in) final {
    A& app = static_cast<A&>(*this);
    First::dispatch(app, in);
    ((in.what == incoming::fate::no_method ? More::dispatch(app, in) : void()), ...);
  }
  void write_state(writer& out) const final {
    static_assert(described<State>,
                  "the state is an aggregate with a list of its fields: static constexpr auto fields = ambrosia::fields(\"name\", &State::name, …)");
    encode(out, _state);
  }
  bool read_state(cbor_reader& in) final {
    decode(in, _state);
    return in.ok();
  }
  std::vector<std::string_view> manifests() const final { return {First::manifest, More::manifest...}; }
  std::uint64_t contract_hash() const final { return First::contract_hash; }
  std::uint32_t version() const override { return 1; }
  bool run_hook(hook which, failure& error, std::uint32_t from) final {
#if defined(__cpp_exceptions)
    try {
#endif
      A& app = static_cast<A&>(*this);
      which == hook::first_start ? app.first_start() : which == hook::becoming_primary ? app.becoming_primary() : app.upgraded(from);
#if defined(__cpp_exceptions)
    } catch (...) {
      error = current_failure();
      return false;
    }
#endif
    if (run().refused == nullptr) return true;
    error = std::move(*std::exchange(run().refused, nullptr));
    return false;
  }

 protected:
  // What a plain handler sends to another instance, or to its own: forks.
  template <class I>
  auto get(std::string_view name, std::uint16_t shard = 0) {
    return typename I::forks(run(), nullptr, destination(name, shard));
  }
  template <class I>
  auto self() {
    return get<I>(run().self.name, run().self.shard);
  }
  template <class I>
  auto impulses(std::string_view name, std::uint16_t shard = 0) {
    return typename I::impulses(run(), destination(name, shard));
  }
  const std::string& name() const { return run().self.name; }
  // The time of the record that is executed, in µs since 1970.
  std::int64_t now() const { return run().now; }
  std::uint64_t random() { return run().chance(); }
  guid new_guid() { return run().chance_guid(); }
  void want_checkpoint() { run().want_checkpoint(); }

  // Executes a method of this instance when the time is over, and then each `period` if there is one; what it sends and changes is logged by
  // the record of the timer. Returns the timer's number, for drop_timer.
  template <class... X>
  std::uint64_t set_timer(std::uint32_t method, std::chrono::microseconds in, std::chrono::microseconds period, const X&... arguments) {
    writer encoded;
    (encode(encoded, arguments), ...);
    return run().set_timer(method, in.count(), period.count(), encoded.view());
  }
  void drop_timer(std::uint64_t timer) { run().drop_timer(timer); }

 private:
  std::uint32_t destination(std::string_view name, std::uint16_t shard) {
    std::uint32_t found = run().out.destination(shard, name);
    return found != no_destination ? found : no_such_destination(name);
  }
  [[gnu::noinline]] std::uint32_t no_such_destination(std::string_view name) {
    refuse(run(), failures::no_destination(name));
    return run().out.destination(0, run().self.name);
  }

  State _state{};
};

}  // namespace ambrosia::inline v0
