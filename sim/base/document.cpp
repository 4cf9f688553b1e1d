// Loading: bytes to one resolved JSON tree that still knows which file states each value.

#include <algorithm>
#include <sstream>

#include "base/input_file.h"
#include "base/json_reader.h"

namespace trnsim {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr int deepest_nesting = 64;

// "line 3, column 14" of a byte offset.
std::string line_and_column(std::string_view text, size_t offset) {
  size_t line = 1;
  size_t column = 1;
  for (size_t i = 0; i + 1 < offset && i < text.size(); ++i) {
    ++column;
    if (text[i] == '\n') {
      ++line;
      column = 1;
    }
  }
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

json parse_strictly(std::string_view text, const std::string& name) {
  std::vector<std::set<std::string>> keys_at_depth;
  const auto check = [&](int depth, json::parse_event_t event, json& parsed) {
    if (depth > deepest_nesting)
      throw InputError(name + ": is nested deeper than " + std::to_string(deepest_nesting));
    if (event == json::parse_event_t::object_start) {
      keys_at_depth.resize(static_cast<size_t>(depth) + 1);
      keys_at_depth.back().clear();
    }
    if (event == json::parse_event_t::key) {
      keys_at_depth.resize(static_cast<size_t>(depth));
      const auto key = parsed.get<std::string>();
      if (!keys_at_depth.back().insert(key).second)
        throw InputError(name + ": key \"" + key + "\" stands twice in one object");
    }
    return true;
  };
  // The parser would take it for the end of the text.
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos)
    throw InputError(name + ": " + line_and_column(text, nul + 1) + ": holds a NUL byte");
  try {
    return json::parse(text, check);
  } catch (const json::parse_error& error) {
    throw InputError(name + ": " + line_and_column(text, error.byte) + ": is not valid JSON");
  } catch (const json::out_of_range& error) {
    const std::string what = error.what();  // "... parsing '1e999'"
    const std::string number = what.substr(std::min(what.find('\''), what.size()));
    throw InputError(name + ": the number " + number + " is out of range");
  }
}

std::vector<std::string> split_path(const std::string& path) {
  std::vector<std::string> parts;
  std::istringstream stream(path);
  for (std::string part; std::getline(stream, part, '.');) parts.push_back(part);
  if (!path.empty() && path.back() == '.') parts.emplace_back();
  return parts;
}

bool is_index(const std::string& part) {
  return !part.empty() && part.size() < 10 &&
         part.find_first_not_of("0123456789") == std::string::npos;
}

std::string join(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + '.' + key;
}

bool is_number_object(const json& value) { return value.is_object() && value.contains("value"); }

}  // namespace

Override parse_override(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    throw InputError("--set " + std::string(text) +
                     ": write path=value, for example --set system.units=8");
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

struct Document::Loader {
  Document& document;
  int includes = 0;

  const Origin& origin(const std::string& path) const { return document.origin_of(path); }

  // Sets one value; makes the objects on the way to it.
  void apply(const Override& change) {
    const std::string where = "--set " + change.path;
    json value = json::parse(change.value, nullptr, /*allow_exceptions=*/false);
    if (value.is_discarded()) {
      value = change.value;
      if (json::parse(value.dump(-1, ' ', false, json::error_handler_t::ignore)) != value)
        throw InputError(where + ": is not valid UTF-8");
    } else {
      value = parse_strictly(change.value, where);
    }
    json* place = &document.root_;
    json* parent = place;
    for (const std::string& part : split_path(change.path)) {
      parent = place;
      if (part.empty()) throw InputError(where + ": has an empty part in its path");
      if (place->is_array()) {
        if (!is_index(part) || std::stoul(part) >= place->size())
          throw InputError(where + ": \"" + part + "\" is no index " +
                           (place->empty() ? "of an empty list; set the whole list"
                                           : "from 0 to " + std::to_string(place->size() - 1)));
        place = &(*place)[std::stoul(part)];
      } else if (place->is_object() || place->is_null()) {
        place = &(*place)[part];
      } else {
        throw InputError(where + ": \"" + part + "\" would stand inside " + place->dump());
      }
    }
    if (change.path.ends_with(".value") && parent->is_object() && parent->contains("source")) {
      // Another value is no longer what the source says.
      (*parent)["source"] = "stated by --set in place of: " + (*parent)["source"].dump();
      parent->erase("range");
      place = &(*parent)["value"];
    }
    *place = value;
    std::erase_if(document.origins_,
                  [&](const Origin& origin) { return origin.path.starts_with(change.path + '.'); });
    document.origins_.push_back({change.path, "--set", change.path, true});
    std::vector<std::string> including;
    if (!names_file(change)) resolve(*place, change.path, fs::path(), including);
  }

  // Whether it changes which file is included, which must be known before includes are resolved.
  static bool names_file(const Override& change) {
    return change.path == "file" || change.path.ends_with(".file");
  }

  // Replaces each object that names a file by that file's object with the other keys laid over it.
  // `folder` is what the names are relative to, `including` the files that are being read.
  void resolve(json& value, const std::string& path, const fs::path& folder,
               std::vector<std::string>& including) {
    if (value.is_array()) {
      for (size_t i = 0; i < value.size(); ++i)
        resolve(value[i], join(path, std::to_string(i)), folder, including);
      return;
    }
    if (!value.is_object()) return;
    if (value.contains("file") && value["file"].is_string()) {
      include(value, path, folder, including);
      return;
    }
    for (auto& [key, member] : value.items()) resolve(member, join(path, key), folder, including);
  }

  void include(json& value, const std::string& path, const fs::path& folder,
               std::vector<std::string>& including) {
    const std::string file_path = join(path, "file");
    // Inside a file that is being included its own names are meant, whatever led to it.
    const bool set_by_command = including.size() <= 1 && origin(file_path).file == "--set";
    const std::string asked_by = document.place(file_path) + ": ";
    const fs::path file =
        ((set_by_command ? fs::path() : folder) / value["file"].get<std::string>())
            .lexically_normal();
    const std::string name = file.string();
    for (const std::string& above : including)
      if (above == name) throw InputError(asked_by + name + ": includes itself");
    constexpr int most_includes = 1000;
    if (++includes > most_includes)
      throw InputError(asked_by + "there are more than " + std::to_string(most_includes) +
                       " includes in all");
    if (including.size() > 16) throw InputError(asked_by + "includes are nested deeper than 16");

    json included = parse_strictly(read_text(file, asked_by), name);
    if (!included.is_object()) throw InputError(name + ": must hold one JSON object");
    json overlay = value;
    overlay.erase("file");
    const std::vector<Origin> before = document.origins_;
    document.origins_.push_back({path, name, "", false});
    including.push_back(name);
    resolve(included, path, file.parent_path(), including);
    including.pop_back();
    value = std::move(included);
    lay_over(value, overlay, path, before, folder, including);
  }

  void lay_over(json& below, json& overlay, const std::string& path,
                const std::vector<Origin>& before, const fs::path& folder,
                std::vector<std::string>& including) {
    for (auto& [key, member] : overlay.items()) {
      const std::string here = join(path, key);
      const bool merge = member.is_object() && !member.contains("file") && below.contains(key) &&
                         below[key].is_object() && !is_number_object(member);
      if (merge) {
        lay_over(below[key], member, here, before, folder, including);
        continue;
      }
      const Origin& stated = find_origin(before, here);
      document.origins_.push_back({here, stated.file, inner_of(stated, here), stated.user});
      resolve(member, here, folder, including);
      below[key] = std::move(member);
    }
  }

  static std::string inner_of(const Origin& origin, const std::string& path) {
    if (path.size() <= origin.path.size()) return origin.inner;
    return join(origin.inner, path.substr(origin.path.empty() ? 0 : origin.path.size() + 1));
  }

  static const Origin& find_origin(const std::vector<Origin>& origins, const std::string& path) {
    // The longest prefix wins; of two alike the later one.
    const Origin* best = &origins.front();
    for (const Origin& origin : origins) {
      const bool covers = origin.path.empty() || path == origin.path ||
                          (path.size() > origin.path.size() && path.rfind(origin.path, 0) == 0 &&
                           path[origin.path.size()] == '.');
      if (covers && origin.path.size() >= best->path.size()) best = &origin;
    }
    return *best;
  }
};

Document Document::read(std::string_view text, const std::string& name, const fs::path& folder,
                        const std::vector<Override>& overrides, bool list) {
  Document document;
  document.root_ = parse_strictly(text, name);
  if (list ? !document.root_.is_array() : !document.root_.is_object())
    throw InputError(name + ": must hold one JSON " + (list ? "array" : "object"));
  document.origins_.push_back({"", name, "", true});
  Loader loader{document};
  for (const Override& change : overrides)
    if (Loader::names_file(change)) loader.apply(change);
  std::vector<std::string> including{name};
  loader.resolve(document.root_, "", folder, including);
  for (const Override& change : overrides)
    if (!Loader::names_file(change)) loader.apply(change);
  return document;
}

Document Document::parse(std::string_view text, const std::string& name, const fs::path& folder,
                         const std::vector<Override>& overrides) {
  return read(text, name, folder, overrides, /*list=*/false);
}

Document Document::load_list(const fs::path& file) {
  return read(read_text(file, ""), file.lexically_normal().string(), file.parent_path(), {},
              /*list=*/true);
}

Document Document::load(const fs::path& file, const std::vector<Override>& overrides) {
  return parse(read_text(file, ""), file.lexically_normal().string(), file.parent_path(),
               overrides);
}

const Document::Origin& Document::origin_of(const std::string& path) const {
  return Loader::find_origin(origins_, path);
}

std::string Document::inner_path(const std::string& path) const {
  return Loader::inner_of(origin_of(path), path);
}

std::string Document::place(const std::string& path) const {
  const std::string inner = inner_path(path);
  const std::string file = file_of(path);
  return inner.empty() ? file : file + (file == "--set" ? " " : ": ") + inner;
}

bool Document::stated_by_user(const std::string& path) const {
  const Origin& origin = origin_of(path);
  if (origin.file == "--set") return true;
  const auto included_above = [&](const Origin& other) {
    return !other.user && (other.path.empty() || path.starts_with(other.path + '.'));
  };
  return origin.user && std::any_of(origins_.begin(), origins_.end(), included_above);
}

std::string Document::file_of(const std::string& path) const { return origin_of(path).file; }

}  // namespace trnsim
