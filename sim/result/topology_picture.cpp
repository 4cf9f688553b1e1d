#include "result/topology_picture.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "result/cluster_picture.h"
#include "result/graph_picture.h"
#include "system/shape.h"

namespace trnsim {
namespace {

using Kind = FabricDimension::Kind;

constexpr double chip_width = 0.36;
constexpr double chip_height = 0.22;
constexpr double column = 0.62;  // from chip to chip
constexpr double row = 0.5;

// How much of each dimension is drawn: columns, rows, blocks of rows, rows of blocks.
constexpr std::array<Rank, 4> most_drawn{16, 24, 4, 2};
constexpr Rank most_in_a_circle = 96;

const std::string& colour(size_t dimension) {
  static const std::vector<std::string> colours{"#1b6ca8", "#c2571a", "#2e8b57", "#8e44ad",
                                                "#7f6000"};
  return colours[dimension % colours.size()];
}

std::string number(double value) { return format_number(value, 6); }

std::string rate(BytesPerSecond value) { return format_quantity(value, Unit::bytes_per_second, 4); }

std::string chip_name(Rank chip) { return "chip " + std::to_string(chip); }

class UnitPicture {
 public:
  UnitPicture(Picture& picture, const System& system) : picture_(picture), system_(system) {
    Rank stride = 1;
    for (const FabricDimension& dimension : system.scale_up) {
      const size_t index = strides_.size();
      const Rank most = round()                     ? most_in_a_circle
                        : index < most_drawn.size() ? most_drawn[index]
                                                    : 1;
      drawn_.push_back(std::min(dimension.size, most));
      strides_.push_back(stride);
      stride *= dimension.size;
    }
  }

  /// Draws it below y = 0 and returns the y of its lower edge.
  double draw() {
    draw_captions();
    draw_chips(0, 0);
    for (size_t i = 0; i < drawn_.size(); ++i) draw_lines(i, 0, 0);
    return bottom_ - 2 * row;
  }

 private:
  bool round() const { return system_.scale_up.size() == 1; }
  Rank drawn(size_t dimension) const { return dimension < drawn_.size() ? drawn_[dimension] : 1; }

  double radius() const { return std::max(0.9, drawn(0) * 0.45 / (2 * M_PI)); }
  double block_width() const { return (drawn(0) + 1.2) * column; }
  double over_block() const { return (drawn_.size() > 2 ? drawn(0) * 0.13 + 0.3 : 0.3); }
  double block_height() const { return drawn(1) * row + over_block() + row; }
  double top() const {
    return -line_of_text * (static_cast<double>(drawn_.size()) + 2.5) -
           (round() ? radius() : over_block());
  }

  Rank coordinate(Rank chip, size_t dimension) const {
    if (dimension >= strides_.size()) return 0;
    return chip / strides_[dimension] % system_.scale_up[dimension].size;
  }

  Place place(Rank chip) const {
    if (round()) {
      const double angle = 2 * M_PI * chip / drawn(0);
      return {radius() * (1 + std::sin(angle)) + chip_width, top() + radius() * std::cos(angle)};
    }
    Rank block_row = 0;
    for (size_t i = drawn_.size(); i-- > 3;)
      block_row = block_row * drawn_[i] + coordinate(chip, i);
    return {coordinate(chip, 0) * column + coordinate(chip, 2) * block_width() + chip_width,
            top() - coordinate(chip, 1) * row - block_row * block_height()};
  }

  std::string style(size_t dimension) const {
    const Kind kind = system_.scale_up[dimension].kind;
    return "color=" + quoted(colour(dimension)) +
           (kind == Kind::switched ? " penwidth=2"
            : kind == Kind::mesh   ? " style=dashed penwidth=1.2"
                                   : " penwidth=1.2");
  }

  void draw_captions() {
    const Rank chips = system_.chips_per_unit();
    double y = -line_of_text;
    picture_.caption("One unit of " + system_.name + ": " + std::to_string(chips) + ' ' +
                         system_.chip.name + " on " + system_.scale_up_name,
                     {0, y}, "black");
    for (size_t i = 0; i < drawn_.size(); ++i) {
      const FabricDimension& dimension = system_.scale_up[i];
      std::string text = dimension.name + ": " + name_of(dimension.kind) + " of " +
                         std::to_string(dimension.size) + ", " +
                         std::to_string(ports_of_chip(dimension)) + " x " +
                         rate(dimension.bandwidth) + " a chip and direction, " +
                         format_quantity(dimension.latency, Unit::seconds, 4) + " a hop";
      if (drawn_[i] < dimension.size)
        text += "; the first " + std::to_string(drawn_[i]) + " are drawn";
      if (i == 2) text += "; drawn from the first row of chips";
      if (i > 2) text += "; drawn from the first chip";
      picture_.caption(text, {0, y -= line_of_text}, colour(i));
    }
  }

  void draw_chips(size_t dimension, Rank chip) {
    if (dimension < drawn_.size()) {
      for (Rank i = 0; i < drawn_[dimension]; ++i)
        draw_chips(dimension + 1, chip + i * strides_[dimension]);
      return;
    }
    bottom_ = std::min(bottom_, place(chip).y);
    picture_.node(
        chip_name(chip), place(chip),
        "shape=box style=filled fillcolor=\"#f2f2f2\" fixedsize=true width=" + number(chip_width) +
            " height=" + number(chip_height) + " label=" + quoted(std::to_string(chip)));
  }

  // Draws the lines of chips along `along` that begin at `first` or differ from it in `dimension`
  // and the dimensions after it: all of them along the first two, those of the first row along the
  // third, and that of the first chip along others.
  void draw_lines(size_t along, Rank first, size_t dimension) {
    if (dimension == drawn_.size()) {
      if (drawn_[along] > 1) draw_line(along, first);
      return;
    }
    const bool alone = dimension == along || (along == 2 && dimension != 0) || along > 2;
    const Rank count = alone ? 1 : drawn_[dimension];
    for (Rank i = 0; i < count; ++i)
      draw_lines(along, first + i * strides_[dimension], dimension + 1);
  }

  void draw_line(size_t along, Rank first) {
    std::vector<Rank> chips;
    for (Rank i = 0; i < drawn_[along]; ++i) chips.push_back(first + i * strides_[along]);
    if (round())
      draw_round(chips);
    else if (system_.scale_up[along].kind == Kind::ring && along < 2)
      draw_ring(along, chips);
    else if (chips.size() == 2 && along < 2 && system_.scale_up[along].kind == Kind::mesh)
      picture_.edge(chip_name(chips[0]), chip_name(chips[1]), style(along));
    else
      draw_bus(along, chips);
  }

  void draw_round(const std::vector<Rank>& chips) {
    const Kind kind = system_.scale_up[0].kind;
    if (kind == Kind::switched) {
      const Place centre{radius() + chip_width, top()};
      picture_.node("switch", centre,
                    "shape=circle style=filled fillcolor=white fontsize=10 label=" +
                        quoted(system_.scale_up[0].name) + " color=" + quoted(colour(0)));
      for (const Rank chip : chips) picture_.edge(chip_name(chip), "switch", style(0));
      return;
    }
    for (size_t i = 0; i < chips.size(); ++i)
      for (size_t j = i + 1; j < chips.size(); ++j)
        if (kind == Kind::mesh || j == i + 1 || (i == 0 && j + 1 == system_.scale_up[0].size))
          picture_.edge(chip_name(chips[i]), chip_name(chips[j]), style(0));
  }

  // How far the line of a dimension runs beside the chips that it joins.
  Place beside(size_t along, Rank first) const {
    if (along == 0) return {0, row * 0.45};
    if (along == 1) return {column * 0.45, 0};
    if (along == 2) return {0.06 * coordinate(first, 0), row * 0.6 + 0.13 * coordinate(first, 0)};
    return {-column * 0.5, 0};
  }

  std::string corner_at(size_t along, Rank first, Rank chip) {
    const Place at = place(chip);
    const Place by = beside(along, first);
    return picture_.corner({at.x + by.x, at.y + by.y});
  }

  // Neighbours are joined, and a line beside them closes the ring.
  void draw_ring(size_t along, const std::vector<Rank>& chips) {
    for (size_t i = 0; i + 1 < chips.size(); ++i)
      picture_.edge(chip_name(chips[i]), chip_name(chips[i + 1]), style(along));
    if (chips.size() < system_.scale_up[along].size || chips.size() < 3) return;
    const std::string begin = corner_at(along, chips.front(), chips.front());
    const std::string end = corner_at(along, chips.front(), chips.back());
    picture_.edge(chip_name(chips.front()), begin, style(along));
    picture_.edge(begin, end, style(along));
    picture_.edge(end, chip_name(chips.back()), style(along));
  }

  // A line beside the chips, to which each of them is joined.
  void draw_bus(size_t along, const std::vector<Rank>& chips) {
    std::string before;
    for (const Rank chip : chips) {
      const std::string here = corner_at(along, chips.front(), chip);
      picture_.edge(chip_name(chip), here, style(along));
      if (!before.empty()) picture_.edge(before, here, style(along));
      before = here;
    }
  }

  Picture& picture_;
  const System& system_;
  std::vector<Rank> drawn_;  // chips along each dimension
  std::vector<Rank> strides_;
  double bottom_ = 0;
};

}  // namespace

std::string topology_picture(const System& system) {
  Picture picture;
  if (system.graph) {
    draw_graph(picture, system.graph->graph());
    return picture.text();
  }
  const double bottom = UnitPicture(picture, system).draw();
  if (system.units > 1) draw_cluster(picture, system, bottom);
  return picture.text();
}

}  // namespace trnsim
