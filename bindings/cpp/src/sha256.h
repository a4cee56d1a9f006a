// SHA-256 (FIPS 180-4) and HMAC (RFC 2104), for the proofs of P7.2.
#pragma once

#include <ambrosia/wire.h>

#include <array>

namespace ambrosia::inline v0 {

std::array<std::uint8_t, 32> sha256(byte_span data);
std::array<std::uint8_t, 32> hmac_sha256(byte_span key, byte_span data);

}  // namespace ambrosia::inline v0
