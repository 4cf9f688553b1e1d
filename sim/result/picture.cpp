#include "result/picture.h"

namespace trnsim {
namespace {

constexpr double width_of_letter = 0.095;  // at most, on average

std::string number(double value) { return format_number(value, 6); }

// Left-justified: the last thing of the label is a backslash and an l.
std::string left(const std::string& text) {
  std::string made = quoted(text);
  made.insert(made.size() - 1, "\\l");
  return made;
}

}  // namespace

std::string quoted(const std::string& text) {
  std::string made = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') made += '\\';
    made += c;
  }
  return made + '"';
}

void Picture::node(const std::string& name, const Place& place, const std::string& attributes) {
  text_ += "  " + quoted(name) + " [pos=\"" + number(place.x) + ',' + number(place.y) + "!\" " +
           attributes + "]\n";
}

void Picture::edge(const std::string& from, const std::string& to, const std::string& attributes) {
  text_ += "  " + quoted(from) + " -- " + quoted(to) + " [" + attributes + "]\n";
}

std::string Picture::corner(const Place& place) {
  std::string name = "corner " + std::to_string(corners_++);
  node(name, place, "shape=point width=0.01");
  return name;
}

void Picture::caption(const std::string& text, const Place& place, const std::string& colour) {
  const double width = width_of_letter * static_cast<double>(text.size());
  node("caption " + std::to_string(captions_++), {place.x + width / 2, place.y},
       "shape=plaintext fixedsize=true height=0.2 fontsize=11 width=" + number(width) +
           " fontcolor=" + quoted(colour) + " label=" + left(text));
}

std::string Picture::text() const {
  return "// Rendered by: dot -Tsvg FILE -o picture.svg\n"
         "graph trnsim {\n"
         "  layout=neato splines=line outputorder=edgesfirst overlap=true notranslate=true\n"
         "  node [fontname=\"Helvetica\" fontsize=8]\n" +
         text_ + "}\n";
}

}  // namespace trnsim
