// Whatever a coordinator sends, an app neither crashes nor hangs, and what it keeps is bounded by what was sent. The first byte chooses: frames of
// a session, of a view, or an image.
#include "../src/session.h"
#include "../tests/probe.h"

using namespace ambrosia;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  byte_span input(data + 1, size - 1);
  session at(std::make_unique<probe::Probe>(), [] {});
  writer welcome;
  welcome.u16(1), welcome.string("self"), welcome.u16(0), welcome.string("r0"), welcome.raw(bytes(16)), welcome.u64(1), welcome.u64(1);
  bool is_view = data[0] == 1, is_image = data[0] > 1;
  welcome.u32(1 << 20), welcome.u64(0), welcome.u8(is_image ? 1 : 0), welcome.varint(is_view ? 1 : 0);
  if (is_view) welcome.varint(1), welcome.varint(1), welcome.u8(1);
  at.take(frame_type::app_welcome, welcome.view());
  if (!is_image) {
    // Frames without their headers' checksums, which a fuzzer cannot make: type, length of two bytes, payload.
    writer start;
    start.u64(0), start.i64(1), start.u64(0), start.u32(33), start.u32(3);
    start.raw(bytes(16)), start.i64(1), start.u32(1), start.string("self");
    at.take(frame_type::deliver, start.view());
    while (input.size() >= 3) {
      std::size_t length = std::min<std::size_t>(input[1] | input[2] << 8, input.size() - 3);
      if (!at.take(static_cast<frame_type>(input[0]), input.subspan(3, length))) break;
      input = input.subspan(3 + length);
    }
  } else {
    at.restore(input);
  }
  return 0;
}
