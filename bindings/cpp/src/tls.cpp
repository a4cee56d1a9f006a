// TLS by OpenSSL, where CMake has found it.
#include "stream.h"

#if defined(AMBROSIA_OPENSSL)

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
namespace ambrosia::inline v0 {

namespace {

using context_handle = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;
using session_handle = std::unique_ptr<SSL, decltype(&SSL_free)>;

// P7.5: the DNS alternative names are the instances, compared byte by byte, without wildcards.
bool names(X509* certificate, std::string_view instance) {
  auto* found = static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  bool is_named = false;
  for (int i = 0; found != nullptr && i < sk_GENERAL_NAME_num(found); i++) {
    const GENERAL_NAME* one = sk_GENERAL_NAME_value(found, i);
    if (one->type != GEN_DNS) continue;
    const auto* text = reinterpret_cast<const char*>(ASN1_STRING_get0_data(one->d.dNSName));
    is_named = is_named || std::string_view(text, static_cast<std::size_t>(ASN1_STRING_length(one->d.dNSName))) == instance;
  }
  GENERAL_NAMES_free(found);
  return is_named;
}

// OpenSSL sees memory, and the bytes go through the stream: a write of its own to a connection that has ended would raise SIGPIPE.
class tls_stream final : public stream {
 public:
  tls_stream(int socket, session_handle session) : stream(socket), _session(std::move(session)) {
    SSL_set_bio(_session.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_connect_state(_session.get());
  }
  ~tls_stream() override {
    SSL_shutdown(_session.get());
    flush();
  }

  // A connection on which nothing comes for 5 s is given up (P7.3).
  bool connect() {
    for (;;) {
      int done = SSL_do_handshake(_session.get());
      flush();
      if (done == 1) return true;
      if (SSL_get_error(_session.get(), done) != SSL_ERROR_WANT_READ || !fill(5'000) || _raw.empty()) return false;
    }
  }
  bool is_with(std::string_view instance) const {
    X509* shown = SSL_get0_peer_certificate(_session.get());
    return shown != nullptr && names(shown, instance);
  }
  void send(byte_span data) override {
    if (!data.empty()) SSL_write(_session.get(), data.data(), static_cast<int>(data.size()));
    flush();
  }
  bool receive(bytes& to, int wait_ms) override {
    std::size_t before = to.size();
    if (!take(to)) return false;
    return to.size() != before || (fill(wait_ms) && take(to));
  }

 private:
  // What is whole by now. False: the other side has ended.
  bool take(bytes& to) {
    std::uint8_t piece[16'384];
    int count;
    while ((count = SSL_read(_session.get(), piece, sizeof piece)) > 0) to.insert(to.end(), piece, piece + count);
    return SSL_get_error(_session.get(), count) == SSL_ERROR_WANT_READ;
  }
  bool fill(int wait_ms) {
    _raw.clear();
    if (!stream::receive(_raw, wait_ms)) return false;
    BIO_write(SSL_get_rbio(_session.get()), _raw.data(), static_cast<int>(_raw.size()));
    return true;
  }
  void flush() {
    char* from = nullptr;
    BIO* out = SSL_get_wbio(_session.get());
    if (long count = BIO_get_mem_data(out, &from); count > 0) stream::send(as_bytes({from, static_cast<std::size_t>(count)}));
    (void)BIO_reset(out);
  }

  session_handle _session;
  bytes _raw;
};

std::string last_error() {
  const char* text = ERR_reason_error_string(ERR_get_error());
  ERR_clear_error();
  return text == nullptr ? "it ended" : text;
}

}  // namespace

std::unique_ptr<stream> begin_tls(int socket, const client_certificates& certificates, const std::string& instance, std::string& why) {
  context_handle context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  bool can_be_used = SSL_CTX_load_verify_locations(context.get(), certificates.authorities.c_str(), nullptr) == 1 &&
                     SSL_CTX_use_certificate_chain_file(context.get(), certificates.certificate.c_str()) == 1 &&
                     SSL_CTX_use_PrivateKey_file(context.get(), certificates.key.c_str(), SSL_FILETYPE_PEM) == 1;
  auto made = std::make_unique<tls_stream>(socket, session_handle(SSL_new(context.get()), SSL_free));
  if (!can_be_used) return why = "The certificates of this caller cannot be used: " + last_error() + ".", nullptr;
  if (!made->connect()) return why = "TLS with " + instance + " failed: " + last_error() + ".", nullptr;
  if (!made->is_with(instance)) return why = "The certificate that was shown is not for " + instance + ".", nullptr;
  return made;
}

}  // namespace ambrosia::inline v0

#else

namespace ambrosia::inline v0 {

std::unique_ptr<stream> begin_tls(int socket, const client_certificates&, const std::string&, std::string& why) {
  stream closes(socket);
  return why = "This build has no TLS: OpenSSL was not there when the binding was built.", nullptr;
}

}  // namespace ambrosia::inline v0

#endif
