/* libmatchrdma-host: messages over long links that lose packets. The C interface.
 *
 * Handles are opaque. Every option structure begins with its size, so that programs built against an older
 * header go on working: set it with MRDMA_OPTIONS(). What fails returns NULL or a negative number, and
 * mrdma_error() says why. Handles and pointers are not NULL unless it is said here. Times are nanoseconds of
 * one monotonic clock that the caller chooses; the library reads none, starts no thread and installs no signal
 * handler. An endpoint and its NIC belong to one thread at a time. After fork() only the parent may use what
 * was opened before it. No C++ exception leaves the library.
 */
#ifndef MATCHRDMA_HOST_H
#define MATCHRDMA_HOST_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define MRDMA_PUBLIC __attribute__((visibility("default")))
#else
#define MRDMA_PUBLIC
#endif

/* struct mrdma_x o; MRDMA_OPTIONS(o); o.field = ...; Fields that are 0 take their defaults. */
#ifdef __cplusplus
#define MRDMA_OPTIONS(o) ((o) = decltype(o)(), (o).size = sizeof(o))
#else
#define MRDMA_OPTIONS(o) ((o) = (__typeof__(o)){.size = sizeof(o)})
#endif

MRDMA_PUBLIC const char* mrdma_version(void);
/* Why the last call of this thread failed: a sentence. Valid until its next call. */
MRDMA_PUBLIC const char* mrdma_error(void);

/* ---- NICs */

typedef struct mrdma_nic mrdma_nic;

struct mrdma_nic_options {
  size_t size;
  const char* device; /* as `rdma link` names it; NULL: the first */
  int gid_index;      /* with choose_gid != 0: this one; otherwise a RoCE v2 GID */
  int choose_gid;
};
/* An RDMA device. NULL where the library was built without rdma-core, too. */
MRDMA_PUBLIC mrdma_nic* mrdma_nic_open(const struct mrdma_nic_options* options);
/* For a program that sleeps: a descriptor that poll() shows readable when there is something for mrdma_poll()
 * since mrdma_nic_arm(), or an event; -1: a model, poll often. One NIC has one, whatever its endpoints. To
 * sleep: arm, mrdma_poll() once more, then poll() until mrdma_next_wakeup() of the first endpoint that is due.
 */
MRDMA_PUBLIC int mrdma_nic_fd(const mrdma_nic* nic);
MRDMA_PUBLIC int mrdma_nic_arm(mrdma_nic* nic);
/* What befell the NIC, a sentence: its port is down, a queue pair was lost (then mrdma_poll() says so, too).
 * NULL: nothing since the last call. Valid until this thread's next call of it. */
MRDMA_PUBLIC const char* mrdma_nic_event(mrdma_nic* nic);
/* 1 or 0: it has the UC service. Tell the other end, for its peer_has_no_uc. */
MRDMA_PUBLIC int mrdma_nic_has_uc(const mrdma_nic* nic);
/* Endpoints and regions on it must be gone. */
MRDMA_PUBLIC void mrdma_nic_close(mrdma_nic* nic);

/* Two NICs in virtual time with a link between them: to try a program without hardware. */
typedef struct mrdma_model mrdma_model;
struct mrdma_model_options {
  size_t size;
  uint64_t seed;
  double gigabits;    /* per second; 0: 100 */
  int64_t one_way_ns; /* 0: 10 us */
  double loss;        /* per packet, both ways */
  int without_uc;     /* 1: NIC 0 has no UC; 2: NIC 1; 3: neither */
  uint32_t paths;     /* links beside each other, each of so many gigabits; 0: 1 */
};
MRDMA_PUBLIC mrdma_model* mrdma_model_open(const struct mrdma_model_options* options);
/* Endpoints on its NICs must be gone. */
MRDMA_PUBLIC void mrdma_model_close(mrdma_model* model);
/* end: 0 or 1. Belongs to the model; mrdma_nic_close() does nothing to it. */
MRDMA_PUBLIC mrdma_nic* mrdma_model_nic(mrdma_model* model, int end);
MRDMA_PUBLIC int64_t mrdma_model_now(const mrdma_model* model);
/* Lets time pass, to the next event or by `most_ns`, whichever is sooner; returns the new time. */
MRDMA_PUBLIC int64_t mrdma_model_advance(mrdma_model* model, int64_t most_ns);

/* ---- memory */

struct mrdma_region {
  uint32_t handle, lkey, rkey, reserved;
  uint64_t remote;
};
/* Memory that messages are sent from. */
MRDMA_PUBLIC int mrdma_register(mrdma_nic* nic, void* memory, size_t bytes, struct mrdma_region* out);
/* Refused while messages of it are under way. */
MRDMA_PUBLIC int mrdma_unregister(mrdma_nic* nic, const struct mrdma_region* region);

/* ---- endpoints */

typedef struct mrdma_endpoint mrdma_endpoint;

enum mrdma_scheme {
  MRDMA_SELECTIVE_REPEAT = 0,
  MRDMA_ERASURE_CODE = 1,
  MRDMA_XOR = 2,
  MRDMA_BEST_EFFORT = 3,
  MRDMA_RC = 4,
  MRDMA_CELLS = 5,  /* over several RC queue pairs, each a path */
  MRDMA_CHANNEL = 6 /* over one RC queue pair, and over the control frames while there is none */
};

/* What messages are made of, for the randomised Hadamard transform: f32, bfloat16, IEEE 754 binary16. */
enum mrdma_element { MRDMA_NO_TRANSFORM = 0, MRDMA_F32 = 1, MRDMA_BF16 = 2, MRDMA_F16 = 3 };

/* Of the data. Over RC the NICs repair, so every scheme is MRDMA_RC there. */
enum mrdma_transport {
  MRDMA_TRANSPORT_AUTO = 0, /* UC where both NICs have it, otherwise RC */
  MRDMA_TRANSPORT_UC = 1,
  MRDMA_TRANSPORT_RC = 2
};

struct mrdma_options {
  size_t size;
  int scheme;              /* enum mrdma_scheme; all from here to epoch must be the same at both ends */
  uint32_t path_mtu;       /* 0: 4096 */
  uint64_t message_bytes;  /* the longest message; 0: 16 MiB */
  uint32_t code_k, code_m; /* chunks of data and of parity; 0: 32 and 8 */
  /* Granted beyond the one that comes in; 0: 4. What is granted at a time bounds the rate: for a link that is
   * to be full, four round trips of bytes (mrdma_messages_ahead()). */
  uint32_t messages_ahead;
  uint32_t epoch;           /* of this life of the connection; 0: 1 */
  uint64_t bits_per_second; /* of payload; 0: 100 Gb/s */
  double expected_loss;     /* 0: 0.01; far more halves the rate */
  int64_t round_trip_ns;    /* a guess; 0: 10 ms */
  int copy;                 /* receive into memory of the library and copy (tier C) */
  /* enum mrdma_element, the same at both ends, with MRDMA_BEST_EFFORT alone: what is lost costs every number a
   * little instead of some everything. All numbers are rounded. mrdma_send() refuses NaN and infinity. */
  int transform;
  uint64_t transform_seed; /* of the receiver's random signs, with the epoch and the message's number */
  int transport;           /* enum mrdma_transport, the same at both ends */
  int peer_has_no_uc; /* what mrdma_nic_has_uc() said at the other end, turned round: without UC there is 1 */
  uint32_t paths;     /* of MRDMA_CELLS, the same at both ends; 0: 4 */
  int proxied;        /* of MRDMA_CELLS: proxies answer for the far end, so silence is borne longer */
  int offers;         /* of MRDMA_CHANNEL: 1 at one of the two ends */
};
/* Messages ahead that keep a link of this rate and round trip full. */
MRDMA_PUBLIC uint32_t mrdma_messages_ahead(uint64_t bits_per_second, int64_t round_trip_ns,
                                           uint64_t message_bytes);
MRDMA_PUBLIC mrdma_endpoint* mrdma_endpoint_create(mrdma_nic* nic, const struct mrdma_options* options,
                                                   int64_t now_ns);
/* The enum mrdma_scheme that it works with: MRDMA_RC in place of another where a NIC has no UC. */
MRDMA_PUBLIC int mrdma_endpoint_scheme(const mrdma_endpoint* endpoint);
MRDMA_PUBLIC void mrdma_endpoint_destroy(mrdma_endpoint* endpoint);

/* What the other end's mrdma_endpoint_connect() wants; bring it there by any means. */
struct mrdma_address {
  uint8_t bytes[84];
};
MRDMA_PUBLIC int mrdma_endpoint_address(const mrdma_endpoint* endpoint, struct mrdma_address* out);
MRDMA_PUBLIC int mrdma_endpoint_connect(mrdma_endpoint* endpoint, const struct mrdma_address* peer);

/* MRDMA_CELLS and MRDMA_CHANNEL have no such address: their ends go on talking to each other, in control frames
 * that the program carries, in order and without loss, as over a TCP connection. Begin with
 * mrdma_control_begin() at both ends, once each can be reached; `peer_life`: a number of the peer's process,
 * another one after its restart. After each mrdma_poll() carry what mrdma_control_take() gives: the bytes of
 * one frame, 0: there is none, or negative. The other end's mrdma_control_give() takes one frame at a time. */
enum { MRDMA_CONTROL_FRAME = 32768 }; /* no frame is longer. Frames have no seal: carry them over TLS */
MRDMA_PUBLIC int mrdma_control_begin(mrdma_endpoint* endpoint, uint64_t peer_life, int64_t now_ns);
MRDMA_PUBLIC int64_t mrdma_control_take(mrdma_endpoint* endpoint, void* frame, size_t room);
MRDMA_PUBLIC int mrdma_control_give(mrdma_endpoint* endpoint, const void* frame, size_t bytes, int64_t now_ns);
/* What befell a path, a sentence; NULL: nothing since the last call. Valid until this thread's next call. */
MRDMA_PUBLIC const char* mrdma_endpoint_news(mrdma_endpoint* endpoint);

/* Takes a message of 1 byte or more; its number, counted from 0, or MRDMA_AGAIN while 4096 are under way. The
 * memory, all of it in `region`, stays untouched until mrdma_take_sent() names the message. A message that is
 * longer than the buffer it meets fails at the sender, and the buffer stays with the endpoint until it is
 * destroyed; over a channel it ends the receiving endpoint. */
MRDMA_PUBLIC int64_t mrdma_send(mrdma_endpoint* endpoint, const void* data, size_t bytes,
                                const struct mrdma_region* region);
enum { MRDMA_AGAIN = -2 };
/* The buffer of the next message that comes: its number, or MRDMA_AGAIN while all slots are taken. The n-th
 * message of the peer goes into the n-th buffer, and no byte of it changes any more once mrdma_take_received()
 * has named it. */
MRDMA_PUBLIC int64_t mrdma_receive(mrdma_endpoint* endpoint, void* buffer, size_t bytes, int64_t now_ns);

/* Does all that is due; call it again at mrdma_next_wakeup() at the latest, after each mrdma_control_give(),
 * and often. Negative: the queue pair has failed, and nothing that is under way will end: destroy both
 * endpoints and make new ones with another epoch. A peer that is gone is noticed by MRDMA_CHANNEL (10 s without
 * a frame) and by queue pairs of RC alone: otherwise whoever carries addresses and frames knows first. */
MRDMA_PUBLIC int mrdma_poll(mrdma_endpoint* endpoint, int64_t now_ns);
MRDMA_PUBLIC int64_t mrdma_next_wakeup(const mrdma_endpoint* endpoint);

struct mrdma_sent {
  uint64_t message;
  int failed; /* mrdma_error() says why */
};
struct mrdma_received {
  uint64_t message, bytes;
  uint64_t missing_bytes; /* best effort: zero-filled; with a transform: that never came of what was sent */
};
/* 1 and one message, or 0. A message is sent when the receiver has it whole. */
MRDMA_PUBLIC int mrdma_take_sent(mrdma_endpoint* endpoint, struct mrdma_sent* out);
MRDMA_PUBLIC int mrdma_take_received(mrdma_endpoint* endpoint, struct mrdma_received* out);

#ifdef __cplusplus
}
#endif
#endif
