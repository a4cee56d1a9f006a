// What a contract's header (`ambrosia generate cpp`) is made of: proxies, which send, and `invoke`, which gives a message to its handler.
#pragma once

#include <ambrosia/context.h>

namespace ambrosia::inline v0 {

// A message on its way to a handler, and what became of it.
struct incoming {
  enum class fate : std::uint8_t { no_method, failed, done, flow };
  // What the dispatch is for. `read_again` executes nothing: the arguments are written again as this build reads them (contract.md C1.9).
  enum class use : std::uint8_t { execute, query, read_again };

  incoming(runtime& of, writer& result, std::uint32_t method, byte_span arguments) : run(of), result(result), method(method), arguments(arguments) {}

  runtime& run;
  writer& result;  // where a value goes
  std::uint32_t method;
  byte_span arguments;
  use purpose = use::execute;
  bool wants_result = false;
  reply_to answers;
  std::int64_t window_row = -1;
  flow_core* restoring = nullptr;  // a flow that is executed again, in place of a new one

  fate what = fate::no_method;
  std::optional<failure> error;  // there where it failed
  std::vector<bytes> defaults;  // of parameters that may be views

  void fail(failure with) { what = fate::failed, error = std::move(with); }
};

namespace detail {

inline std::uint8_t nibble(char c) { return static_cast<std::uint8_t>(c <= '9' ? c - '0' : c - 'a' + 10); }

// The default that the manifest states for a parameter, as lower-case hexadecimal (contract.md C1.4).
template <class T>
void take_default(incoming& in_message, std::string_view hex, T& value) {
  bytes& data = in_message.defaults.emplace_back();
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) data.push_back(static_cast<std::uint8_t>(nibble(hex[i]) << 4 | nibble(hex[i + 1])));
  cbor_reader in(data);
  if (!data.empty()) decode(in, value);
}

// How a parameter of a handler is read: as the contract's type, or as a view of the message where a plain handler takes one.
template <class Contract, class Parameter>
using read_as = std::conditional_t<std::same_as<std::remove_cvref_t<Parameter>, std::string_view> && std::same_as<Contract, std::string>, std::string_view,
                                   std::conditional_t<std::same_as<std::remove_cvref_t<Parameter>, byte_span> && std::same_as<Contract, bytes>, byte_span, Contract>>;

template <class Handler>
struct handler_traits {
  static_assert(sizeof(Handler) == 0, "a handler is a member function (plain) or a static function that returns ambrosia::flow<T>");
};
template <class A, class R, class... P>
struct handler_traits<R (A::*)(P...)> {
  using result = R;
  using parameters = std::tuple<P...>;
  static constexpr bool waits = false, reads_only = false;
};
template <class A, class R, class... P>
struct handler_traits<R (A::*)(P...) const> : handler_traits<R (A::*)(P...)> {
  static constexpr bool reads_only = true;
};
template <class A, class R, class... P>
struct handler_traits<flow<R> (*)(context<A>, P...)> {
  using result = R;
  using parameters = std::tuple<P...>;
  static constexpr bool waits = true, reads_only = false;
};

// Reads the arguments that are there, and takes the default of each that is missing (P4.1). Surplus ones are passed over.
template <class Tuple, std::size_t... I>
bool read_arguments(incoming& in, Tuple& values, const std::string_view* defaults, std::index_sequence<I...>) {
  cbor_reader from(in.arguments);
  [[maybe_unused]] auto one = [&](auto& value, std::string_view missing) {
    if (from.p != from.end || !from.ok()) {
      decode(from, value);
    } else {
      take_default(in, missing, value);
    }
  };
  (one(std::get<I>(values), defaults[I]), ...);
  if (from.ok()) return true;
  in.fail(from.union_name.empty() ? failures::bad_arguments(in.method) : failures::unknown_case(from));
  return false;
}

// Writes the arguments as they were read, without those at the end that are what a missing one would be.
template <class Tuple, std::size_t... I>
void write_again(incoming& in, const Tuple& values, const std::string_view* defaults, std::index_sequence<I...>) {
  std::size_t end = 0;
  [[maybe_unused]] auto one = [&](const auto& value, std::string_view missing) {
    std::size_t from = in.result.size();
    encode(in.result, value);
    std::remove_cvref_t<decltype(value)> absent{};
    take_default(in, missing, absent);
    writer other;
    encode(other, absent);
    if (!std::ranges::equal(in.result.view(from), other.view())) end = in.result.size();
  };
  (one(std::get<I>(values), defaults[I]), ...);
  in.result.resize(end);
  in.what = incoming::fate::done;
}

template <class R, bool Raw, class V>
void write_result(incoming& in, const V& value) {
  in.what = incoming::fate::done;
  if (!in.wants_result) return;
  if constexpr (Raw) {
    in.result.raw(value);
  } else {
    encode<R>(in.result, value);
  }
  if (in.result.bad) in.result.clear(), in.fail(failures::bad_result(in.method, true));
}

template <class R, bool Raw, class Call>
void run_plain(incoming& in, Call call) {
  using given = std::invoke_result_t<Call>;
#if defined(__cpp_exceptions)
  try {
#endif
    if constexpr (std::is_void_v<given>) {
      call();
      in.what = incoming::fate::done;
    } else if constexpr (is_result<std::remove_cvref_t<given>>::value) {
      auto value = call();
      if (!value) return in.fail(value.error());
      if constexpr (std::is_void_v<R>) {
        in.what = incoming::fate::done;
      } else {
        write_result<R, Raw>(in, *value);
      }
    } else {
      write_result<R, Raw>(in, call());
    }
#if defined(__cpp_exceptions)
  } catch (...) {
    in.result.clear();
    in.fail(current_failure());
  }
#endif
}

// Starts a flow, or executes it again in place of one that an image holds.
template <class A, class Start>
void run_flow(incoming& in, A& app, Start start) {
  flow_core& core = in.restoring != nullptr ? *in.restoring : in.run.add_flow();
  core.app = &app;
  core.method = in.method;
  in.what = incoming::fate::flow;
  if (in.restoring == nullptr) {
    core.arguments.assign(in.arguments.begin(), in.arguments.end());
    core.answers = in.answers;
    core.window_row = in.window_row;
  }
  core.start(start(context<A>(core)).release());
}

template <class R, bool Raw, class A, class H, class Tuple>
void give(incoming& in, A& app, H handler, Tuple& values) {
  using traits = handler_traits<H>;
  if constexpr (traits::waits) {
    run_flow(in, app, [&](context<A> at) { return std::apply([&](auto&... value) { return handler(at, std::move(value)...); }, values); });
  } else {
    run_plain<R, Raw>(in, [&]() -> decltype(auto) { return std::apply([&](auto&... value) -> decltype(auto) { return (app.*handler)(std::move(value)...); }, values); });
  }
}

template <class R, class... P>
struct signature {
  template <bool Raw, class A, class H, class... Q>
  static void invoke(incoming& in, A& app, H handler, const std::string_view* defaults, std::type_identity<std::tuple<Q...>>) {
    static_assert(sizeof...(P) == sizeof...(Q), "the handler's parameters are those of the contract");
    std::tuple<read_as<P, Q>...> values;
    if (!read_arguments(in, values, defaults, std::index_sequence_for<P...>())) return;
    if (in.purpose == incoming::use::read_again) return write_again(in, values, defaults, std::index_sequence_for<P...>());
    give<R, Raw>(in, app, handler, values);
  }
};
template <class F>
struct signature_of;
template <class R, class... P>
struct signature_of<R(P...)> : signature<R, P...> {
  using result = R;
  static constexpr std::size_t count = sizeof...(P);
};

}  // namespace detail

// One case of a generated dispatch: the contract's signature, the app's handler, and the defaults of its parameters ("": the type's own).
// Each is a function of its own, so that a message pays for the case that it takes.
template <class Signature, bool RawResult = false, class A, class H, class... Default>
[[gnu::noinline]] void invoke(incoming& in, A& app, H handler, Default... defaults) {
  using traits = detail::handler_traits<H>;
  if (in.purpose == incoming::use::query) return;
  const std::string_view all[detail::signature_of<Signature>::count + 1] = {defaults...};
  detail::signature_of<Signature>::template invoke<RawResult>(in, app, handler, all, std::type_identity<typename traits::parameters>());
}
// The same of a query: its handler reads, so it is a const member function.
template <class Signature, bool RawResult = false, class A, class H, class... Default>
[[gnu::noinline]] void invoke_query(incoming& in, A& app, H handler, Default... defaults) {
  using traits = detail::handler_traits<H>;
  static_assert(traits::reads_only, "the handler of a query is a const member function: it changes nothing and sends nothing");
  if (in.purpose != incoming::use::query) return;
  const std::string_view all[detail::signature_of<Signature>::count + 1] = {defaults...};
  detail::signature_of<Signature>::template invoke<RawResult>(in, app, handler, all, std::type_identity<typename traits::parameters>());
}
// The same of a method whose only argument is bytes as they are (P4.2).
template <class R, bool RawResult = false, class A, class H>
[[gnu::noinline]] void invoke_raw(incoming& in, A& app, H handler) {
  using traits = detail::handler_traits<H>;
  using parameter = std::tuple_element_t<0, typename traits::parameters>;
  if (in.purpose != incoming::use::execute) return;
  if constexpr (std::same_as<detail::read_as<bytes, parameter>, byte_span> && !traits::waits) {
    detail::run_plain<R, RawResult>(in, [&]() -> decltype(auto) { return (app.*handler)(byte_span(in.arguments.data(), in.arguments.size())); });
  } else {
    std::tuple<bytes> values(to_bytes(in.arguments));
    detail::give<R, RawResult>(in, app, handler, values);
  }
}

// ---- Sending ----

// What a plain handler, or a flow, sends to one instance. The proxies of a contract derive from it.
class sender {
 public:
  sender(runtime& of, flow_core* flow, std::uint32_t destination) : _run(&of), _flow(flow), _destination(destination) {}

 protected:
  template <class... P>
  void tell(std::uint32_t method, const P&... arguments) const {
    tell_with(method, [&](writer& out) { (encode(out, arguments), ...); });
  }
  void tell_raw(std::uint32_t method, byte_span content) const {
    tell_with(method, [&](writer& out) { out.raw(content); });
  }
  // Begins a call, in a flow alone: co_await gives its result.
  template <class R, bool Raw = false, class... P>
  pending<R, Raw> ask(std::uint32_t method, const P&... arguments) const {
    return ask_with<R, Raw>(method, [&](writer& out) { (encode(out, arguments), ...); });
  }
  template <class R, bool Raw = false>
  pending<R, Raw> ask_raw(std::uint32_t method, byte_span content) const {
    return ask_with<R, Raw>(method, [&](writer& out) { out.raw(content); });
  }

 private:
  template <class F>
  void tell_with(std::uint32_t method, F arguments) const {
    outbound& out = _run->out;
    if (_flow != nullptr) return tell_in_flow(method, arguments);
    out.begin(_destination, run_kind::fork, method);
    arguments(out.bytes_out());
    if (!out.end()) refuse(*_run, not_sent(out));
  }
  template <class F>
  void tell_in_flow(std::uint32_t method, F arguments) const {
    writer with;
    arguments(with);
    check(*_flow, _flow->note(operation::fork, method, _run->out.hash_of(_destination), with.view()));
    if (_flow->is_replaying()) return;
    _run->out.begin(_destination, run_kind::fork, method);
    _run->out.bytes_out().raw(with.view());
    _run->out.bytes_out().bad = with.bad;
    if (!_run->out.end()) raise(*_flow, not_sent(_run->out));
  }
  template <class R, bool Raw, class F>
  pending<R, Raw> ask_with(std::uint32_t method, F arguments) const {
    arguments(_flow->begin_call(_destination, method));
    std::uint32_t leaf = _flow->end_call(_destination, method);
    settle(*_flow);
    return {*_flow, leaf, method};
  }

  runtime* _run;
  flow_core* _flow;
  std::uint32_t _destination;
};

template <class A>
template <class I>
auto context<A>::get(std::string_view name, std::uint16_t shard) const {
  std::uint32_t destination = _core->run.out.destination(shard, name);
  if (destination == no_destination) {
    raise(*_core, failures::no_destination(name));
    destination = _core->run.out.destination(0, _core->run.self.name);
  }
  return typename I::proxy(_core->run, _core, destination);
}

}  // namespace ambrosia
