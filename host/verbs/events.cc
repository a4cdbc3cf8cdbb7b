#include "host/verbs/events.h"

#include <sys/epoll.h>
#include <unistd.h>

namespace matchrdma::host {

EventEffect effect_of(ibv_event_type type) {
  using What = EventEffect::What;
  switch (type) {
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_PATH_MIG_ERR:
      return {What::kOneQueuePair, ": a queue pair is lost; make the connection anew"};
    case IBV_EVENT_CQ_ERR:
    case IBV_EVENT_DEVICE_FATAL:
      return {What::kEveryQueuePair, ": every queue pair is lost; open the device anew"};
    case IBV_EVENT_PORT_ERR:
      return {What::kTold, ": the port is down; look at the cable and the interface"};
    case IBV_EVENT_PORT_ACTIVE:
      return {What::kTold, ": the port is up again"};
    case IBV_EVENT_GID_CHANGE:
      return {What::kTold, ": an address of the port has changed; connections of the old one may stop"};
    default:
      return {};
  }
}

WakeUp::WakeUp(std::initializer_list<int> fds) : fd_(::epoll_create1(EPOLL_CLOEXEC)) {
  for (const int fd : fds) {
    epoll_event e{};
    e.events = EPOLLIN;
    e.data.fd = fd;
    if (fd_ >= 0) ::epoll_ctl(fd_, EPOLL_CTL_ADD, fd, &e);
  }
}

WakeUp::~WakeUp() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace matchrdma::host
