#include "caller.h"

#include <iostream>

#include "Probe.contract.h"
#include "json.h"

namespace caller {

namespace {

using Conformance::IProbe;

template <std::integral T>
json::value shown(T number) {
  json::value made = 0;
  made.text = std::to_string(number);
  return made;
}
json::value shown(const ambrosia::failure& what) {
  json::value chain = json::value::array();
  chain.list = {json::value(what.type), json::value(what.message), what.inner ? shown(*what.inner) : json::value()};
  return chain;
}

template <class T>
json::value outcome(const ambrosia::result<T>& of) {
  json::value line = json::value::object();
  if (of) {
    if constexpr (std::is_void_v<T>) {
      line.set("value", json::value());
    } else {
      line.set("value", shown(*of));
    }
    return line;
  }
  if (of.error().type == "Ambrosia.ConnectionLost") return line.set("unknown", true);
  if (of.error().type == "Ambrosia.NotConnected") return line.set("refused", true).set("why", of.error().message);
  if (of.error().type == "Ambrosia.NotNow") return line.set("notNow", true).set("why", of.error().message);
  return line.set("failure", shown(of.error()));
}

json::value ask(ambrosia::client& instance, const json::value& said) {
  std::string method = said.string("method"), what = said.string("do"), key = said.string("key");
  const json::value* arguments = said.find("arguments");
  std::string first = arguments == nullptr || arguments->list.empty() ? "" : arguments->list[0].text;
  if (method == "Peek") return outcome(instance.query<std::int64_t>(IProbe::id::Peek));
  if (method == "Total") return outcome(instance.call<std::int64_t>(IProbe::id::Total, key));
  if (method == "Add") return outcome(instance.call<std::int64_t>(IProbe::id::Add, key, std::int64_t{std::stoll(first)}));
  if (method == "Refuse") return outcome(instance.call<void>(IProbe::id::Refuse, key, first));
  auto logged = instance.impulse(IProbe::id::Tick, key, std::int64_t{std::stoll(first)});
  return logged ? json::value::object().set("logged", true) : outcome(logged);
}

}  // namespace

int converse(const char* catalog, const char* instance, const char* name, const ambrosia::client_certificates& certificates) {
  ambrosia::client to(catalog, instance, name, certificates);
  for (std::string line; std::getline(std::cin, line);) std::cout << ask(to, json::parser(line).parse()).write() << std::endl;
  return 0;
}

}  // namespace caller
