// How flows of a session wait, end, begin anew, and are brought back from an image (I4.5, docs/flows.md).
#include "session.h"

namespace ambrosia::inline v0 {

void session::flow_suspended(flow_core& flow) {
  suspended++;
  // Under another policy a flow that waits has no message to keep (L5.12).
  if (_fork_policy == 2 && _message.can_be_kept && flow.answers.who == reply_to::kind::nobody) {
    _quarantine.hold(flow, {_message.lsn, _message.index, _message.kind, *_message.caller, _message.tries});
  }
  // What waits once has waited often: the count of the last method is at hand.
  if (_last_suspended == nullptr || _last_suspended->first != flow.method) _last_suspended = &*_suspensions.try_emplace(flow.method, 0).first;
  // Development check: at the 1st, 2nd, 4th … suspension of each method the flow is executed again beside itself, from its journal.
  std::uint64_t times = ++_last_suspended->second;
  if ((times & (times - 1)) == 0) check_flow(flow);
}

void session::flow_ended(flow_core& flow) {
  flow.abandon();
  if (flow.is_suspended) suspended--;
  if (flow.goes_on && flow.error == nullptr) return restart(flow);
  if (flow.error == nullptr && flow.result.bad) flow.error = std::make_unique<failure>(failures::bad_result(flow.method, true));
  if (flow.error == nullptr && flow.answers.who == reply_to::kind::nobody && flow.window_row < 0) {
    _quarantine.drop_held(flow);
    return remove_flow(flow);
  }
  held_message held;
  if (flow.is_suspended) resume_message(flow, held);
  handled(flow.answers, flow.window_row, {flow.method, flow.arguments, flow.error.get(), flow.result.view()});
  if (flow.is_suspended) set_no_message();
  remove_flow(flow);
}

void session::resume_message(const flow_core& flow, held_message& held) {
  bool is_held = _quarantine.take_held(flow, held);
  set_message(held.lsn, held.index, held.kind, held.caller, is_held && held.lsn != 0, held.tries);
}

// `again`: the same method with other arguments, for the same caller, from the beginning.
void session::restart(flow_core& flow) {
  bytes arguments = flow.result.take();
  incoming in(*this, _result, flow.method, arguments);
  in.answers = flow.answers;
  in.window_row = flow.window_row;
  bool had_waited = flow.is_suspended;
  held_message held;
  if (had_waited) resume_message(flow, held);
  remove_flow(flow);
  _app->dispatch(in);
  if (in.what != incoming::fate::flow) handled(in.answers, in.window_row, {in.method, in.arguments, &*in.error, {}});
  if (had_waited) set_no_message();
}

void session::check_flow(flow_core& flow) {
  writer image;
  flow.write_image(image, nullptr);
  cbor_reader in(image.view());
  flow_image of;
  std::string why;
  if (!read_flow(in, of)) return;
  if (restore_flow(of, true, why)) return;
  end_with(4, 1, "A flow of method 0x" + method_text(flow.method) + " does something else when it is executed again (" + why +
                     "): it looks at what at.step, at.now and the calls did not tell it.");
}

// ---- Bringing back ----

bool session::read_flow(cbor_reader& in, flow_image& of) {
  in.read_array_of(8);
  decode(in, of.number), decode(in, of.method);
  of.arguments = in.read_bytes();
  of.answers = {};
  if (!in.take_null()) read_answers(in, of);
  of.entries = in.read_array();
  const std::uint8_t* from = in.p;
  bool is_failure;
  byte_span value;
  for (std::size_t i = 0; i < of.entries && in.ok(); i++) {
    if (!take_result(in, is_failure, value)) in.skip();
  }
  of.journal = in.ok() ? byte_span(from, in.p) : byte_span();
  of.operations = in.read_bytes();
  decode(in, of.hash);
  of.waiting.clear();
  for (std::size_t count = in.read_array(); count != 0 && in.ok(); count--) {
    flow_image::wait one{};
    read_row(in, one.leaf, one.kind, one.number);
    if (one.kind > 2) in.fail("OutOfRange");
    of.waiting.push_back(one);
  }
  return in.ok();
}

// Whom a flow owes its answer: [shard, name, call id] or [session epoch, session number, request].
void session::read_answers(cbor_reader& in, flow_image& of) const {
  in.read_array_of(3);
  decode(in, of.answers.epoch);
  of.answers.method = of.method;
  if (in.next_is(cbor::major::text)) {
    of.answers.who = reply_to::kind::peer;
    of.answers.origin = origin_of(std::exchange(of.answers.epoch, 0), in.read_text());
    if (of.answers.origin == UINT32_MAX) in.fail("OutOfRange");
  } else {
    of.answers.who = reply_to::kind::outside;
    decode(in, of.answers.session);
  }
  decode(in, of.answers.call);
}

bool session::restore_flow(const flow_image& of, bool aside, std::string& why) {
  std::unique_ptr<flow_core> beside;
  if (aside) beside = std::make_unique<flow_core>(*this);
  flow_core& flow = aside ? *beside : add_flow();
  flow.number = of.number;
  flow.answers = of.answers;
  flow.arguments.assign(of.arguments.begin(), of.arguments.end());
  flow.begin_replay(of, aside);
  incoming in(*this, flow.result, of.method, of.arguments);
  in.restoring = &flow;
  _app->dispatch(in);
  if (in.what != incoming::fate::flow) {
    why = in.what == incoming::fate::failed ? in.error->message : "no flow of this method is there";
    return false;
  }
  if (auto different = flow.end_replay()) return why = std::move(*different), false;
  if (aside) return true;
  if (!bind_flow(of, flow)) return why = "the session does not know what it waits for", false;
  suspended++;
  return true;
}

// Tells calls, timers and tasks which flow goes on when they come.
bool session::bind_flow(const flow_image& of, flow_core& flow) {
  auto bind = [&](auto& row, std::uint32_t leaf) { return row.flow = &flow, row.leaf = leaf, true; };
  for (const flow_image::wait& one : of.waiting) {
    call_table::row* call = one.kind == 0 ? calls.find(one.number) : nullptr;
    auto timer = one.kind == 1 ? _timers.find(one.number) : _timers.end();
    auto task = one.kind == 2 ? _tasks.find(one.number) : _tasks.end();
    bool is_known = call != nullptr              ? bind(*call, one.leaf)
                    : timer != _timers.end()     ? bind(timer->second, one.leaf)
                    : task != _tasks.end() && bind(task->second, one.leaf);
    if (!is_known) return false;
  }
  return true;
}

bool session::read_flows(cbor_reader& in) {
  std::string refused_flows;
  std::uint64_t before = 0;
  flow_image of;
  for (std::size_t count = in.read_array(); count != 0; count--) {
    std::string why;
    if (!read_flow(in, of) || of.number <= before) return false;
    before = of.number;
    if (restore_flow(of, false, why)) continue;
    refused_flows += "\n  flow " + std::to_string(of.number) + " of method 0x" + method_text(of.method) + ": " + why;
    if (last_flow != nullptr && last_flow->number == of.number) last_flow->drop_frame();
  }
  if (!refused_flows.empty()) {
    return end_with(1, 2, "This build cannot continue what the image's flows were doing:" + refused_flows), false;
  }
  if (!calls.have_flows()) return false;
  for (const auto& [number, task] : _tasks) {
    if (task.flow == nullptr) return false;
  }
  return _quarantine.find_flows(*this) && _window.find_flows(*this);
}

}  // namespace ambrosia
