#pragma once
// What a client may say, and what comes of it.
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "controlplane/service/daemon_control.h"
#include "controlplane/service/json_fields.h"
#include "controlplane/service/view_board.h"

namespace matchrdma::service {

/// Asked each round until it has the reply line.
using Pending = std::function<std::optional<std::string>(Instant now)>;
/// The reply line, or something to wait for.
using Outcome = std::variant<std::string, Pending>;

enum class Rights : uint8_t {
  kAll,           ///< Unix socket
  kRegistration,  ///< TCP: register and unregister alone
};

/// Runs one request line. Knows no connection; never waits.
class Commands {
 public:
  Commands(DaemonControl& control, const ViewBoard& board) : control_(&control), board_(&board) {}

  Outcome run(std::string_view line, Rights rights, Instant now);

 private:
  struct Command;
  static std::span<const Command> list();

  Outcome show(Fields& f, Instant now);
  Outcome register_pair(Fields& f, Instant now);
  Outcome unregister_pair(Fields& f, Instant now);
  Outcome mode(Fields& f, Instant now);
  Outcome drain(Fields& f, Instant now);
  Outcome reload(Fields& f, Instant now);
  Outcome capture(Fields& f, Instant now);

  DaemonControl* control_;
  const ViewBoard* board_;
};

/// Reply lines, newline included.
std::string reply(Json result);
std::string refusal(const std::string& sentence);

}  // namespace matchrdma::service
