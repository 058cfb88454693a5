#include "browser/arm_launcher.hpp"

#include "browser/cdp_transport.hpp"
#include "browser/chrome_host.hpp"
#include "browser/command_host.hpp"
#include "contract/arm.hpp"

namespace assay {

namespace {

class launcher final : public arm_launcher {
  public:
    launcher(launcher_options options, const clock& time, random_source& random)
        : options_(std::move(options)), time_(time), random_(random) {}

    result<std::unique_ptr<arm_host>> make_host(std::string_view arm, std::string_view page_origin) override {
        const auto kind = arm_kind_of(arm);
        if (!kind) return kind.error();
        if (*kind == arm_kind::native || *kind == arm_kind::external) return make_command(std::string(arm));
        return make_browser(page_origin);
    }

  private:
    result<std::unique_ptr<arm_host>> make_browser(std::string_view page_origin) {
        if (options_.attach) {
            const auto address = parse_websocket_address(*options_.attach);
            if (!address) return address.error();
            chrome_host_options host;
            host.attach_url = *options_.attach;
            host.page_url = std::string(page_origin) + "/arm/";
            host.limits = options_.limits;
            return make_chrome_host(std::move(host), time_, random_);
        }
        auto browser = choose_browser(options_.browser, this_system(), process_environment, is_executable_file);
        if (!browser) return browser.error();
        chrome_host_options host;
        host.launch.binary = browser->path;
        host.launch.switches = chrome_switches(detect_conditions(browser->flavour, options_.gpu), options_.extra_switches);
        host.launch.environment = options_.browser_environment;
        host.launch.home = options_.home;
        host.page_url = std::string(page_origin) + "/arm/";
        host.limits = options_.limits;
        return make_chrome_host(std::move(host), time_, random_);
    }

    result<std::unique_ptr<arm_host>> make_command(const std::string& arm) {
        constexpr std::string_view prefix = "external:";
        const std::string name = arm.starts_with(prefix) ? arm.substr(prefix.size()) : arm;
        const auto command = options_.commands.find(name);
        if (command == options_.commands.end())
            return error{error_code::not_found, "no command is configured for the arm '" + arm + "'", "/arms",
                         "Add it to the configuration's commands."};
        return make_command_host({arm, command->second, {}, options_.limits});
    }

    launcher_options options_;
    const clock& time_;
    random_source& random_;
};

}  // namespace

result<std::pair<std::string, std::string>> parse_environment_entry(const std::string& text) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        return error{error_code::invalid_argument, "'" + text + "' is not NAME=VALUE", "--browser-env"};
    return std::pair{text.substr(0, equals), text.substr(equals + 1)};
}

std::unique_ptr<arm_launcher> make_arm_launcher(launcher_options options, const clock& time, random_source& random) {
    return std::make_unique<launcher>(std::move(options), time, random);
}

}  // namespace assay
