// A platform that SimGrid reads has the hosts, links and routes of ours.

#include "result/simgrid_platform.h"

#include <gtest/gtest.h>

#include <random>
#include <simgrid/s4u.hpp>
#include <sstream>

#include "errors.h"
#include "system/systems.h"
#include "temporary_folder.h"

namespace trnsim {
namespace {

namespace s4u = simgrid::s4u;

std::string platform_of(const System& system, const Network& network) {
  std::ostringstream text;
  write_simgrid_platform(text, system, network);
  return text.str();
}

std::string host_name(const System& system, Rank chip) {
  return "unit " + std::to_string(chip / system.chips_per_unit()) + " chip " +
         std::to_string(chip % system.chips_per_unit());
}

class EveryPlatform : public testing::TestWithParam<std::pair<const char*, Rank>> {};

TEST_P(EveryPlatform, IsReadBackBySimGrid) {
  const System system = test::load_system(GetParam().first, GetParam().second);
  const Network network(system);
  const test::TemporaryFolder folder;
  const std::string file = folder.write("platform.xml", platform_of(system, network));
  s4u::Engine engine("test");
  engine.load_platform(file);

  ASSERT_EQ(engine.get_host_count(), system.chips());
  for (Link link = 0; link < network.links(); ++link) {
    const s4u::Link* read = s4u::Link::by_name_or_null(network.name(link));
    ASSERT_NE(read, nullptr) << network.name(link);
    EXPECT_DOUBLE_EQ(read->get_bandwidth(), network.capacity(link)) << network.name(link);
  }
  std::mt19937 random(1);
  std::vector<Link> ours;
  for (int i = 0; i < 500; ++i) {
    const Rank from = random() % system.chips();
    const Rank to = random() % system.chips();
    if (from == to) continue;
    const Seconds latency = network.route(from, to, ours);
    std::vector<s4u::Link*> theirs;
    double their_latency = 0;
    s4u::Host::by_name(host_name(system, from))
        ->route_to(s4u::Host::by_name(host_name(system, to)), theirs, &their_latency);
    std::erase_if(theirs, [](auto* link) { return link->get_name() == "lowest switch"; });
    ASSERT_EQ(theirs.size(), ours.size()) << from << " to " << to;
    for (size_t at = 0; at < ours.size(); ++at)
      EXPECT_EQ(theirs[at]->get_name(), network.name(ours[at])) << from << " to " << to;
    EXPECT_NEAR(their_latency, latency, 1e-15) << from << " to " << to;
  }
}

INSTANTIATE_TEST_SUITE_P(Systems, EveryPlatform,
                         testing::Values(std::pair{"trn3-gen2-ultraserver.json", 2U},
                                         std::pair{"trn2-ultraserver.json", 1U},
                                         std::pair{"mi300x-roce.json", 20U},
                                         std::pair{"trn1.json", 9U}));

// One message takes its latency and its bytes over the narrowest link, as the settings in the
// platform have it: 4.7 us and 102.4 MB over 102.4 GB/s.
TEST(Platform, CarriesAMessageAtTheRateOfItsRoute) {
  const System system = test::load_system("trn3-gen2-ultraserver.json", 1);
  const Network network(system);
  const test::TemporaryFolder folder;
  const std::string file = folder.write("platform.xml", platform_of(system, network));
  s4u::Engine engine("test");
  engine.load_platform(file);
  // SimGrid 3.32 crashes if nobody holds a communication until it has ended.
  const s4u::CommPtr comm = s4u::Comm::sendto_init(s4u::Host::by_name("unit 0 chip 17"),
                                                   s4u::Host::by_name("unit 0 chip 103"));
  comm->set_payload_size(102'400'000)->start();
  engine.run();
  EXPECT_NEAR(s4u::Engine::get_clock(), 1e-3 + 4.7e-6, 2e-9);
}

TEST(Platform, EscapesWhatXmlReserves) {
  System system = test::load_system("p5.json", 1);
  system.scale_up[0].name = "a<b & \"c\"";
  const std::string text = platform_of(system, Network(system));
  EXPECT_NE(text.find("unit 0 chip 0 a&lt;b &amp; &quot;c&quot;, out"), std::string::npos);
}

// 4 x 144 x 145 + 4 x 3 = 83,532 of four UltraServers; 24 of them have 501,672.
TEST(Platform, IsRefusedIfItHasTooManyRoutes) {
  EXPECT_EQ(test::error_of(
                [] { require_platform_size(test::load_system("trn3-gen2-ultraserver.json", 23)); }),
            "");
  EXPECT_EQ(test::error_of(
                [] { require_platform_size(test::load_system("trn3-gen2-ultraserver.json", 24)); }),
            "--platform: 501 672 routes would be needed, more than the 500 000 that are written at "
            "most; take fewer units or smaller dimensions");
}

}  // namespace
}  // namespace trnsim
