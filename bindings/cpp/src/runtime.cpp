#include <ambrosia/runtime.h>

#include <algorithm>

namespace ambrosia::inline v0 {

// ---- Memory of coroutines ----

namespace {

constexpr std::size_t class_bytes = 64, classes = 32;
thread_local void* free_frames[classes];

}  // namespace

void* take_frame(std::size_t size) {
  std::size_t index = (size + class_bytes - 1) / class_bytes;
  if (index < classes && free_frames[index] != nullptr) return std::exchange(free_frames[index], *static_cast<void**>(free_frames[index]));
  void* frame = std::malloc(index * class_bytes);
  if (frame == nullptr) std::abort();
  return frame;
}

void give_frame(void* frame, std::size_t size) {
  std::size_t index = (size + class_bytes - 1) / class_bytes;
  if (index >= classes) return std::free(frame);
  *static_cast<void**>(frame) = std::exchange(free_frames[index], frame);
}

// ---- The calls that are awaited ----

void call_table::reserve(std::size_t calls) {
  if (calls <= _ring.size()) return;
  std::vector<row> before(std::bit_ceil(calls));
  before.swap(_ring);
  _mask = _ring.size() - 1;
  _size = _old.size();
  for (const row& one : before) {
    if (one.id != 0) add(one.id) = one;
  }
}

call_table::row* call_table::make_place(std::uint64_t id) {
  if (2 * _size > _mask) reserve(2 * _ring.size());
  row& at = _ring[id & _mask];
  if (at.id != 0) _old.emplace(at.id, at);
  return &at;
}

bool call_table::have_flows() const {
  auto has_flow = [](const row& one) { return one.id == 0 || one.flow != nullptr; };
  return std::all_of(_ring.begin(), _ring.end(), has_flow) && std::all_of(_old.begin(), _old.end(), [&](const auto& old) { return has_flow(old.second); });
}

std::vector<call_table::row> call_table::sorted() const {
  std::vector<row> rows;
  rows.reserve(_size);
  for (const auto& [id, one] : _old) rows.push_back(one);
  for (const row& one : _ring) {
    if (one.id != 0) rows.push_back(one);
  }
  std::sort(rows.begin(), rows.end(), [](const row& a, const row& b) { return a.id < b.id; });
  return rows;
}

// ---- Flows ----

runtime::~runtime() {
  while (first_flow != nullptr) remove_flow(*first_flow);
  for (flow_core* flow : _free_flows) delete flow;
}

guid runtime::chance_guid() {
  guid id;
  std::uint64_t high = chance(), low = chance();
  for (std::size_t i = 0; i < 8; i++) id.value[i] = static_cast<std::uint8_t>(high >> (8 * i)), id.value[8 + i] = static_cast<std::uint8_t>(low >> (8 * i));
  id.value[6] = static_cast<std::uint8_t>((id.value[6] & 0x0F) | 0x40);  // version 4
  id.value[8] = static_cast<std::uint8_t>((id.value[8] & 0x3F) | 0x80);
  return id;
}

flow_core& runtime::add_flow() {
  flow_core* flow;
  if (_free_flows.empty()) {
    flow = new flow_core(*this);
  } else {
    flow = _free_flows.back();
    _free_flows.pop_back();
  }
  flow->number = last_flow == nullptr ? 1 : last_flow->number + 1;
  flow->before = last_flow;
  flow->behind = nullptr;
  (last_flow == nullptr ? first_flow : last_flow->behind) = flow;
  last_flow = flow;
  return *flow;
}

void runtime::remove_flow(flow_core& flow) {
  (flow.before == nullptr ? first_flow : flow.before->behind) = flow.behind;
  (flow.behind == nullptr ? last_flow : flow.behind->before) = flow.before;
  flow.clear();
  if (_free_flows.size() < 4096) {
    _free_flows.push_back(&flow);
  } else {
    delete &flow;
  }
}

}  // namespace ambrosia
