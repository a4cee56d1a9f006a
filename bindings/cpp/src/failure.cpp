#include <ambrosia/failure.h>

namespace ambrosia::inline v0 {

namespace {

constexpr int depth_most = 16;
constexpr std::size_t bytes_most = 64'000;  // of the texts, so that a failure fits a message limit of 64 KiB (P4.4)

// What is no UTF-8 cannot travel, and a failure must.
std::string readable(std::string_view text) {
  std::string plain(text);
  if (is_utf8(as_bytes(text))) return plain;
  for (char& c : plain) c = static_cast<std::uint8_t>(c) < 0x80 ? c : '?';
  return plain;
}

}  // namespace

void write_failure(writer& out, const failure& what) {
  const failure* chain[depth_most];
  std::size_t depth = 0, before = 0;
  for (const failure* one = &what; one != nullptr && depth < depth_most; one = one->inner.get()) chain[depth++] = one;
  for (std::size_t i = 0; i < depth; i++) {
    std::size_t room = bytes_most - before;
    std::string all_type = readable(chain[i]->type), all_message = readable(chain[i]->message);
    std::string_view type = shortened(all_type, room), message = shortened(all_message, room - type.size());
    before += type.size() + message.size();
    cbor::put_array(out, 3);
    encode(out, type), encode(out, message);
  }
  cbor::put_null(out);
}

bool read_failure(byte_span data, failure& what) {
  cbor_reader in(data);
  std::vector<failure> chain;
  while (in.ok() && (chain.empty() || !in.take_null())) {
    in.read_array_of(3);
    failure& one = chain.emplace_back();
    one.type = in.read_text();
    one.message = in.read_text();
    if (chain.size() > depth_most) in.fail("TooDeep");
  }
  if (!in.ok()) return false;
  for (std::size_t i = chain.size() - 1; i != 0; i--) chain[i - 1].inner = std::make_shared<failure>(std::move(chain[i]));
  what = std::move(chain[0]);
  return true;
}

failure call_failed(failure what) {
  failure outer("Ambrosia.CallFailed", what.message);
  outer.words = std::exchange(what.words, {});
  outer.inner = std::make_shared<failure>(std::move(what));
  return outer;
}

std::string method_text(std::uint32_t method) {
  std::string text;
  do text.insert(text.begin(), "0123456789ABCDEF"[method & 15]);
  while ((method >>= 4) != 0);
  return text;
}

}  // namespace ambrosia
