# Makes PAGE, a file of ASCII, into the source SOURCE, whose report_page_template() is its text.
file(READ ${PAGE} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
file(WRITE ${SOURCE} "#include \"result/report_page.h\"

namespace trnsim {
namespace {
constexpr char bytes[] = {
${bytes}};
}  // namespace

std::string_view report_page_template() { return {bytes, sizeof bytes}; }

}  // namespace trnsim
")
