#include "model/ip_identification.h"

#include "dataplane/wire/frame.h"
#include "dataplane/wire/icrc.h"

namespace matchrdma::model {

void stamp_identification(MutableBytes frame, uint16_t identification) {
  const ParseResult r = parse_frame(frame);
  if (r.kind != ParseKind::kRoce || !r.frame.is_v4()) return;
  uint8_t* ip = frame.data() + r.frame.l3_offset();
  store_be16(ip + 4, identification);
  store_be16(ip + 10, 0);
  uint32_t sum = 0;
  const size_t header = size_t{4} * (ip[0] & 15);
  for (size_t i = 0; i < header; i += 2) sum += load_be16(ip + i);
  while ((sum >> 16) != 0) sum = (sum & 0xffff) + (sum >> 16);
  store_be16(ip + 10, static_cast<uint16_t>(~sum));
  write_icrc(r.frame, frame);  // it covers the identification (IBA A17.3.3)
}

}  // namespace matchrdma::model
