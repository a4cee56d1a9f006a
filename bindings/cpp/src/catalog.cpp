#include "catalog.h"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace ambrosia::inline v0 {

namespace {

namespace files = std::filesystem;

bool read_all(const files::path& path, std::string& content) {
  std::ifstream file(path, std::ios::binary);
  content.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  return !file.bad() && !content.empty();
}

bool may_others(const files::path& path, files::perms what) {
  std::error_code error;
  files::perms found = files::status(path, error).permissions();
  return error || (found & what) != files::perms::none;
}

// The text of a member of a flat JSON object, as a coordinator writes an entry (P8.1): no name or address has a quote in it.
std::string_view member(std::string_view object, std::string_view name) {
  std::size_t at = object.find(std::string(1, '"').append(name).append(1, '"'));
  if (at == std::string_view::npos) return {};
  at = object.find('"', object.find(':', at + name.size() + 2));
  std::size_t end = object.find('"', at + 1);
  return at == std::string_view::npos || end == std::string_view::npos ? std::string_view() : object.substr(at + 1, end - at - 1);
}

// The epoch of a file that is called `instance.epoch`; 0: it is called otherwise.
std::uint64_t epoch_of(std::string_view file, std::string_view instance) {
  if (file.size() < instance.size() + 2 || !file.starts_with(instance) || file[instance.size()] != '.') return 0;
  std::uint64_t epoch = 0;
  auto [end, error] = std::from_chars(file.data() + instance.size() + 1, file.data() + file.size(), epoch);
  return error == std::errc() && end == file.data() + file.size() ? epoch : 0;
}

bool is_entry(std::string_view content) {
  std::size_t end = content.find_last_not_of(" \t\r\n");
  return end != std::string_view::npos && content[end] == '}' && content.find("\"replicas\"") != std::string_view::npos;
}

std::string primary_of(std::string_view entry) {
  for (std::size_t at = entry.find("\"replicas\""); (at = entry.find('{', at)) != std::string_view::npos; at++) {
    std::string_view replica = entry.substr(at, entry.find('}', at) - at);
    if (member(replica, "role") == "primary") return std::string(member(replica, "address"));
  }
  return "";
}

}  // namespace

bool read_catalog(const std::string& directory, const std::string& instance, catalog_entry& entry, std::string& why) {
  constexpr auto others = files::perms::group_all | files::perms::others_all, write = files::perms::group_write | files::perms::others_write;
  files::path folder(directory);
  std::string secret, content, newest;
  if (may_others(folder, write)) return why = "The catalog " + directory + " is not there, or others can change it (chmod 700).", false;
  if (may_others(folder / "secret", others)) return why = "The secret of the catalog " + directory + " is not there, or others can read it (chmod 600).", false;
  if (!read_all(folder / "secret", secret) || secret.size() != 32) return why = "The secret of the catalog " + directory + " has not 32 bytes.", false;
  std::uint64_t highest = 0;
  std::error_code error;
  for (const auto& file : files::directory_iterator(folder, error)) {
    std::uint64_t epoch = epoch_of(file.path().filename().native(), instance);
    if (epoch > highest && read_all(file.path(), content) && is_entry(content)) highest = epoch, newest = content;
  }
  entry.secret = to_bytes(as_bytes(secret));
  entry.address = primary_of(newest);
  if (entry.address.empty()) why = instance + " has no primary in the catalog " + directory + ": is its coordinator running?";
  return !entry.address.empty();
}

}  // namespace ambrosia::inline v0
