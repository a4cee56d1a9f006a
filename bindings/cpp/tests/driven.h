// A session of the probe that a test drives: what a coordinator would send, as bytes.
#pragma once

#include "../src/session.h"
#include "probe.h"

namespace driven {

using namespace ambrosia;

inline std::unique_ptr<session> new_session() { return std::make_unique<session>(std::make_unique<probe::Probe>(), [] {}); }

inline void welcome(session& to, std::uint64_t lsn, bool has_image) {
  writer out;
  out.u16(1), out.string("self"), out.u16(0), out.string("r0");
  for (int i = 0; i < 16; i++) out.u8(static_cast<std::uint8_t>(i));
  out.u64(1), out.u64(1), out.u32(64 << 20), out.u64(lsn), out.u8(has_image ? 1 : 0), out.varint(0);
  to.take(frame_type::app_welcome, out.view());
}

inline void give_image(session& to, std::uint64_t lsn, byte_span image) {
  writer begin, end;
  begin.u64(lsn), begin.u32(1);
  end.u64(image.size()), end.u64(crc64(image));
  to.take(frame_type::image_begin, begin.view());
  to.take(frame_type::image_chunk, image);
  to.take(frame_type::image_end, end.view());
}

inline bytes deliver(std::uint64_t lsn, std::int64_t time, std::uint8_t kind, byte_span body) {
  writer out;
  out.u64(lsn), out.i64(time), out.u64(0);
  out.u32(static_cast<std::uint32_t>(body.size())), out.u8(kind), out.u8(0), out.u16(0), out.raw(body);
  return out.take();
}

inline bytes run_record(std::uint8_t kind, std::uint32_t origin, std::uint32_t method, std::uint64_t call, byte_span arguments) {
  writer message, out;
  message.varint(method);
  if (kind != 1) message.varint(call);
  message.raw(arguments);
  out.u8(kind), out.u8(0), out.u16(0), out.u32(origin), out.u64(1), out.u32(1), out.u32(0), out.u64(0);
  out.byte_string(message.view());
  return out.take();
}

inline std::string hex(byte_span data) {
  std::string text;
  for (std::uint8_t byte : data) text += "0123456789abcdef"[byte >> 4], text += "0123456789abcdef"[byte & 15];
  return text;
}

}  // namespace driven
