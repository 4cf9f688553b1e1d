#include "result/cluster_picture.h"

#include <algorithm>

#include "system/shape.h"

namespace trnsim {
namespace {

constexpr double unit_width = 1.9;

std::string rate(BytesPerSecond value) { return format_quantity(value, Unit::bytes_per_second, 4); }

class ClusterPicture {
 public:
  ClusterPicture(Picture& picture, const System& system)
      : picture_(picture), system_(system), layers_(layers_in_use(system)) {}

  /// Draws it below `top`.
  void draw(double top) {
    const ScaleOut& out = system_.scale_out;
    picture_.caption("How " + std::to_string(system_.units) + " units join over " + out.name +
                         "; rates are payload, of one direction",
                     {0, top - line_of_text}, "black");
    std::string spread;
    if (out.rails > 1)
      spread = std::to_string(out.rails) + " rails, of which the first and the last are drawn; " +
               "NIC i of a unit is on rail i mod " + std::to_string(out.rails);
    if (out.tors_per_nic > 1)
      spread += (spread.empty() ? "" : "; ") + std::string("a NIC's ports go to ") +
                std::to_string(out.tors_per_nic) + " switches, drawn as one";
    if (!spread.empty()) picture_.caption(spread, {0, top - 2 * line_of_text}, "black");
    y_of_top_ = top - 5 * line_of_text;
    const double centre = draw_below(layers_.size(), 0, system_.units, "top");
    switch_node("top", {centre, y_of_top_}, "joins everything");
  }

 private:
  static constexpr double step = 0.95;       // from layer to layer
  static constexpr double rail_width = 1.7;  // from the first to the last rail

  double y_of(size_t height) const {
    return y_of_top_ - step * static_cast<double>(layers_.size() - height);
  }

  void switch_node(const std::string& name, const Place& place, const std::string& below) {
    picture_.node(
        name, place,
        "shape=box style=\"rounded,filled\" fillcolor=\"#e3eef8\" label=" + two_lines(name, below));
  }

  static std::string two_lines(const std::string& first, const std::string& second) {
    return quoted(first).substr(0, first.size() + 1) + "\\n" + quoted(second).substr(1);
  }

  // Draws what is below the switches of layer `height` - 1 that have the units from `first` up to
  // `last`, joins it to `parent`, and returns the x of its middle.
  double draw_below(size_t height, Rank first, Rank last, const std::string& parent) {
    const Rank size = height == 0 ? 1 : layers_[height - 1].units;
    const Rank parts = (last - first + size - 1) / size;
    std::vector<Rank> shown{first};
    if (parts > 1) shown.push_back(first + (parts - 1) * size);
    std::vector<double> centres;
    for (const Rank part : shown) {
      if (parts > 2 && part == shown.back()) dots(height);
      centres.push_back(draw_part(height, part, std::min(part + size, last), parent));
    }
    return (centres.front() + centres.back()) / 2;
  }

  double draw_part(size_t height, Rank first, Rank last, const std::string& parent) {
    if (height == 0) {
      const Place place{next_x_ += unit_width, y_of(0) - step};
      const std::string name = "unit " + std::to_string(first);
      const Rank nics = system_.nics_per_unit();
      picture_.node(name, place,
                    "shape=box style=filled fillcolor=\"#f2f2f2\" label=" +
                        two_lines(name, std::to_string(nics) + " NICs of " +
                                            rate(nic_payload(system_.scale_out))));
      join(name, 0, parent, "");
      return place.x;
    }
    const size_t layer = height - 1;
    const std::string name =
        layers_[layer].name + ' ' + std::to_string(first / layers_[layer].units);
    const double centre = draw_below(layer, first, last, name);
    const Rank units = last - first;
    const Rank rails = rails_of(system_, layer);
    const std::string below = std::to_string(units) + (units == 1 ? " unit, " : " units, ") +
                              rate(uplinks(system_, layer).payload / rails) + " up";
    for (const Rank rail : rails_drawn(layer)) {
      const double beside = rails == 1 ? 0 : rail == 0 ? -rail_width / 2 : rail_width / 2;
      switch_node(on_rail(name, layer, rail), {centre + beside, y_of(layer)}, below);
    }
    if (rails > 2)
      picture_.node("dots " + std::to_string(dots_++), {centre, y_of(layer)},
                    "shape=plaintext fontsize=14 label=\"...\"");
    join(name, height, parent, "penwidth=2");
    return centre;
  }

  // The first and the last rail of a layer.
  std::vector<Rank> rails_drawn(size_t layer) const {
    const Rank rails = rails_of(system_, layer);
    return rails == 1 ? std::vector<Rank>{0} : std::vector<Rank>{0, rails - 1};
  }

  std::string on_rail(const std::string& name, size_t layer, Rank rail) const {
    return rails_of(system_, layer) == 1 ? name : name + " rail " + std::to_string(rail);
  }

  // Joins what stands at `height` (0: a unit) to what is above it, rail by rail.
  void join(const std::string& name, size_t height, const std::string& parent,
            const std::string& style) {
    const bool rails_above = height < layers_.size() && rails_of(system_, height) > 1;
    for (const Rank rail : rails_drawn(rails_above || height == 0 ? height : height - 1)) {
      const std::string below = height == 0 ? name : on_rail(name, height - 1, rail);
      picture_.edge(below, rails_above ? on_rail(parent, height, rail) : parent, style);
    }
  }

  // Between the first and the last part.
  void dots(size_t height) {
    const Place place{next_x_ + unit_width * 0.5,
                      y_of(height == 0 ? 0 : height - 1) - (height == 0 ? step : 0)};
    picture_.node("dots " + std::to_string(dots_++), place,
                  "shape=plaintext fontsize=14 label=\"...\"");
  }

  Picture& picture_;
  const System& system_;
  std::vector<ClosLayer> layers_;
  double y_of_top_ = 0;
  double next_x_ = -unit_width / 2;
  int dots_ = 0;
};

}  // namespace

void draw_cluster(Picture& picture, const System& system, double top) {
  ClusterPicture(picture, system).draw(top);
}

}  // namespace trnsim
