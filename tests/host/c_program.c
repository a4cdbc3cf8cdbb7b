/* A program in C that knows the header alone: two ends over a model link that loses packets. */
#include <matchrdma_host.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGES = 8, BYTES = 300000 };

static void must(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "%s: %s\n", what, mrdma_error());
  exit(1);
}

static void refusals(mrdma_nic* nic) {
  must(mrdma_nic_fd(nic) == -1 && mrdma_nic_arm(nic) == 0 && mrdma_nic_event(nic) == NULL, "a model sleeps for nobody");
  struct mrdma_options o;
  MRDMA_OPTIONS(o);
  o.scheme = 17;
  must(mrdma_endpoint_create(nic, &o, 0) == NULL && strstr(mrdma_error(), "scheme 17: no such scheme"), "a scheme that is none");
  MRDMA_OPTIONS(o);
  o.scheme = MRDMA_ERASURE_CODE;
  o.code_k = 300;
  must(mrdma_endpoint_create(nic, &o, 0) == NULL && strstr(mrdma_error(), "300"), "a code that is none");
  struct mrdma_nic_options n;
  MRDMA_OPTIONS(n);
  n.device = "no-such-device";
  must(mrdma_nic_open(&n) == NULL && mrdma_error()[0] != 0, "a device that is none");
}

/* Best effort on numbers: all of them a little off, none of them zero; NaN is refused. */
static void numbers(mrdma_model* model) {
  enum { NUMBERS = 65536 };
  struct mrdma_options o;
  MRDMA_OPTIONS(o);
  o.transform = MRDMA_F32;
  must(mrdma_endpoint_create(mrdma_model_nic(model, 0), &o, 0) == NULL && strstr(mrdma_error(), "only best effort"),
       "a transform of what is repaired");
  o.scheme = MRDMA_BEST_EFFORT;
  o.expected_loss = 0.05;
  mrdma_endpoint* end[2];
  struct mrdma_address at[2];
  for (int e = 0; e < 2; ++e) {
    end[e] = mrdma_endpoint_create(mrdma_model_nic(model, e), &o, mrdma_model_now(model));
    must(end[e] != NULL, "endpoint");
    mrdma_endpoint_address(end[e], &at[e]);
  }
  for (int e = 0; e < 2; ++e) must(mrdma_endpoint_connect(end[e], &at[1 - e]) == 0, "connect");
  float* from = malloc(NUMBERS * sizeof *from);
  float* to = calloc(NUMBERS, sizeof *to);
  for (int i = 0; i < NUMBERS; ++i) from[i] = 1;
  struct mrdma_region region;
  must(mrdma_register(mrdma_model_nic(model, 0), from, NUMBERS * sizeof *from, &region) == 0, "register");
  const float one = from[7];
  memset(&from[7], 0xff, sizeof *from);
  must(mrdma_send(end[0], from, NUMBERS * sizeof *from, &region) == -1 && strstr(mrdma_error(), "NaN"), "NaN");
  from[7] = one;
  must(mrdma_send(end[0], from, NUMBERS * sizeof *from, &region) == 0, "send");
  must(mrdma_receive(end[1], to, NUMBERS * sizeof *to, mrdma_model_now(model)) == 0, "receive");
  struct mrdma_received r;
  while (mrdma_take_received(end[1], &r) == 0) {
    for (int e = 0; e < 2; ++e) must(mrdma_poll(end[e], mrdma_model_now(model)) == 0, "poll");
    mrdma_model_advance(model, 1000000);
  }
  double off = 0;
  for (int i = 0; i < NUMBERS; ++i) off += ((double)to[i] - 1) * ((double)to[i] - 1) / NUMBERS;
  must(off < 0.2, "numbers that are far off");
  printf("transform: %llu of %zu bytes missing, mean squared error %.3f\n", (unsigned long long)r.missing_bytes,
         NUMBERS * sizeof *from, off);
  mrdma_unregister(mrdma_model_nic(model, 0), &region);
  for (int e = 0; e < 2; ++e) mrdma_endpoint_destroy(end[e]);
  free(from);
  free(to);
}

/* Ends that were made with other options do not connect: their packets would be taken for others. */
static void others(mrdma_model* model, const struct mrdma_address* peer) {
  struct mrdma_options o;
  MRDMA_OPTIONS(o);
  o.path_mtu = 1024;
  mrdma_endpoint* end = mrdma_endpoint_create(mrdma_model_nic(model, 1), &o, mrdma_model_now(model));
  must(end != NULL, "endpoint");
  must(mrdma_endpoint_connect(end, peer) == -1 && strstr(mrdma_error(), "different options"), "other options");
  mrdma_endpoint_destroy(end);
}

static void transfer(mrdma_model* model, int scheme) {
  struct mrdma_options o;
  MRDMA_OPTIONS(o);
  o.scheme = scheme;
  o.message_bytes = BYTES;
  o.code_k = 8;
  o.code_m = 2;
  o.expected_loss = 0.05;
  mrdma_endpoint* end[2];
  struct mrdma_address at[2];
  for (int e = 0; e < 2; ++e) {
    o.peer_has_no_uc = !mrdma_nic_has_uc(mrdma_model_nic(model, 1 - e));
    end[e] = mrdma_endpoint_create(mrdma_model_nic(model, e), &o, mrdma_model_now(model));
    must(end[e] != NULL, "endpoint");
    const int uc = mrdma_nic_has_uc(mrdma_model_nic(model, 0)) && mrdma_nic_has_uc(mrdma_model_nic(model, 1));
    must(mrdma_endpoint_scheme(end[e]) == (uc ? scheme : MRDMA_RC), "another scheme than there can be");
    mrdma_endpoint_address(end[e], &at[e]);
  }
  for (int e = 0; e < 2; ++e) must(mrdma_endpoint_connect(end[e], &at[1 - e]) == 0, "connect");
  uint8_t* from = malloc(MESSAGES * BYTES);
  uint8_t* to = calloc(MESSAGES, BYTES);
  for (int i = 0; i < MESSAGES * BYTES; ++i) from[i] = (uint8_t)(i * 2654435761u >> 13);
  struct mrdma_region region;
  must(mrdma_register(mrdma_model_nic(model, 0), from, MESSAGES * BYTES, &region) == 0, "register");
  for (int m = 0; m < MESSAGES; ++m) must(mrdma_send(end[0], from + m * BYTES, BYTES, &region) == m, "send");
  must(mrdma_unregister(mrdma_model_nic(model, 0), &region) == -1 && strstr(mrdma_error(), "8 messages"),
       "a region that is in use");
  int posted = 0, sent = 0, received = 0;
  while (sent < MESSAGES) {
    const int64_t now = mrdma_model_now(model);
    while (posted < MESSAGES) {
      const int64_t n = mrdma_receive(end[1], to + posted * BYTES, BYTES, now);
      must(n != -1, "receive");
      if (n == MRDMA_AGAIN) break;
      ++posted;
    }
    for (int e = 0; e < 2; ++e) must(mrdma_poll(end[e], now) == 0, "poll");
    struct mrdma_received r;
    while (mrdma_take_received(end[1], &r) == 1) {
      ++received;
      must(r.bytes == BYTES && r.missing_bytes == 0, "a message that is not whole");
    }
    struct mrdma_sent s;
    while (mrdma_take_sent(end[0], &s) == 1) {
      ++sent;
      must(!s.failed && sent <= received, "sent before it was received");
    }
    mrdma_model_advance(model, 1000000);
  }
  must(memcmp(from, to, MESSAGES * BYTES) == 0, "wrong bytes");
  must(mrdma_send(end[0], from + 1, MESSAGES * BYTES, &region) == -1, "a message that reaches beyond its region");
  must(mrdma_unregister(mrdma_model_nic(model, 0), &region) == 0, "unregister");
  must(mrdma_unregister(mrdma_model_nic(model, 0), &region) == -1, "a region that is unregistered twice");
  must(mrdma_send(end[0], from, BYTES, &region) == -1, "a message of a region that is gone");
  if (mrdma_endpoint_scheme(end[0]) != MRDMA_RC) others(model, &at[0]);
  for (int e = 0; e < 2; ++e) mrdma_endpoint_destroy(end[e]);
  free(from);
  free(to);
  printf("scheme %d: %d messages in %.1f ms of virtual time\n", scheme, MESSAGES, (double)mrdma_model_now(model) / 1e6);
}

/* Several paths, or a channel: the program carries what the ends say to each other. */
static void carry(mrdma_endpoint* from, mrdma_endpoint* to, int64_t now) {
  static uint8_t frame[MRDMA_CONTROL_FRAME];
  for (int64_t n; (n = mrdma_control_take(from, frame, sizeof frame)) != 0;) {
    must(n > 0, "control frame");
    must(mrdma_control_give(to, frame, (size_t)n, now) == 0, "control frame given");
  }
}

/* What an older or newer program, or a mistake, would lose in silence. */
static void options(void) {
  struct mrdma_model_options m;
  MRDMA_OPTIONS(m);
  mrdma_model* model = mrdma_model_open(&m);
  struct mrdma_options o = {0};
  o.scheme = MRDMA_ERASURE_CODE;
  must(mrdma_endpoint_create(mrdma_model_nic(model, 0), &o, 0) == NULL && strstr(mrdma_error(), "MRDMA_OPTIONS"),
       "options without a size");
  struct {
    struct mrdma_options now;
    int later;
  } newer = {{.size = sizeof newer}, 1};
  must(mrdma_endpoint_create(mrdma_model_nic(model, 0), &newer.now, 0) == NULL && strstr(mrdma_error(), "newer"),
       "an option that is not known");
  MRDMA_OPTIONS(o);
  o.paths = 2;
  must(mrdma_endpoint_create(mrdma_model_nic(model, 0), &o, 0) == NULL && strstr(mrdma_error(), "MRDMA_CELLS alone"),
       "paths of selective repeat");
  mrdma_endpoint* end[2];
  for (int e = 0; e < 2; ++e) {
    MRDMA_OPTIONS(o);
    o.scheme = MRDMA_CHANNEL;
    o.offers = e;
    o.path_mtu = e == 0 ? 1024 : 4096;
    end[e] = mrdma_endpoint_create(mrdma_model_nic(model, e), &o, 0);
    must(end[e] != NULL && mrdma_control_begin(end[e], 1, 0) == 0, "channel");
  }
  static uint8_t frame[MRDMA_CONTROL_FRAME];
  const int64_t n = mrdma_control_take(end[0], frame, sizeof frame);
  must(n > 0 && mrdma_control_give(end[1], frame, (size_t)n, 0) == -1 &&
           strstr(mrdma_error(), "path_mtu is 4096 here and 1024 there"),
       "ends of different options");
  must(mrdma_next_wakeup(end[1]) == 0 && mrdma_poll(end[1], 1) == -1, "a refused end goes on");
  for (int e = 0; e < 2; ++e) mrdma_endpoint_destroy(end[e]);
  mrdma_model_close(model);
}

static void talking(int scheme) {
  struct mrdma_model_options m;
  MRDMA_OPTIONS(m);
  m.seed = 1;
  m.paths = 4;
  mrdma_model* model = mrdma_model_open(&m);
  must(model != NULL, "model");
  mrdma_endpoint* end[2];
  for (int e = 0; e < 2; ++e) {
    struct mrdma_options o;
    MRDMA_OPTIONS(o);
    o.scheme = scheme;
    if (scheme == MRDMA_CELLS) o.paths = 4;
    if (scheme == MRDMA_CHANNEL) o.offers = e == 0;
    end[e] = mrdma_endpoint_create(mrdma_model_nic(model, e), &o, 0);
    must(end[e] != NULL, "endpoint");
    must(mrdma_control_begin(end[e], 1, 0) == 0, "begin");
  }
  struct mrdma_address at;
  must(mrdma_endpoint_address(end[0], &at) == -1 && strstr(mrdma_error(), "mrdma_control_begin"), "an address of cells");
  must(mrdma_control_give(end[0], "nonsense", 8, 0) == -1, "nonsense as a control frame");
  uint8_t* from = malloc(MESSAGES * BYTES);
  uint8_t* to = calloc(MESSAGES, BYTES);
  for (int i = 0; i < MESSAGES * BYTES; ++i) from[i] = (uint8_t)(i * 2654435761u >> 13);
  struct mrdma_region region;
  must(mrdma_register(mrdma_model_nic(model, 0), from, MESSAGES * BYTES, &region) == 0, "register");
  for (int i = 0; i < MESSAGES; ++i) must(mrdma_send(end[0], from + i * BYTES, BYTES, &region) == i, "send");
  int posted = 0, sent = 0, received = 0;
  while (sent < MESSAGES) {
    const int64_t now = mrdma_model_now(model);
    while (posted < MESSAGES && mrdma_receive(end[1], to + posted * BYTES, BYTES, now) >= 0) ++posted;
    for (int e = 0; e < 2; ++e) must(mrdma_poll(end[e], now) == 0, "poll");
    for (int e = 0; e < 2; ++e) carry(end[e], end[1 - e], now);
    struct mrdma_received r;
    while (mrdma_take_received(end[1], &r) == 1) {
      ++received;
      must(r.bytes == BYTES, "a message that is not whole");
    }
    struct mrdma_sent s;
    while (mrdma_take_sent(end[0], &s) == 1) {
      ++sent;
      must(!s.failed && sent <= received, "sent before it was received");
    }
    must(mrdma_endpoint_news(end[0]) == NULL, "nothing befell a path");
    mrdma_model_advance(model, 1000);
  }
  must(memcmp(from, to, MESSAGES * BYTES) == 0, "wrong bytes");
  for (int e = 0; e < 2; ++e) mrdma_endpoint_destroy(end[e]);
  printf("scheme %d: %d messages in %.1f ms of virtual time\n", scheme, MESSAGES, (double)mrdma_model_now(model) / 1e6);
  mrdma_model_close(model);
  free(from);
  free(to);
}

int main(void) {
  options();
  talking(MRDMA_CELLS);
  talking(MRDMA_CHANNEL);
  for (int scheme = MRDMA_SELECTIVE_REPEAT; scheme <= MRDMA_RC; ++scheme) {
    if (scheme == MRDMA_BEST_EFFORT) continue;
    struct mrdma_model_options m;
    MRDMA_OPTIONS(m);
    m.seed = 1;
    m.one_way_ns = 1000000;
    m.loss = 0.01;
    mrdma_model* model = mrdma_model_open(&m);
    must(model != NULL, "model");
    refusals(mrdma_model_nic(model, 0));
    transfer(model, scheme);
    if (scheme == MRDMA_SELECTIVE_REPEAT) numbers(model);
    mrdma_model_close(model);
  }
  /* One NIC without UC: RC by itself, and nothing is lost. */
  struct mrdma_model_options m;
  MRDMA_OPTIONS(m);
  m.seed = 1;
  m.loss = 0.01;
  m.without_uc = 2;
  mrdma_model* model = mrdma_model_open(&m);
  must(model != NULL, "model");
  struct mrdma_options o;
  MRDMA_OPTIONS(o);
  o.transport = MRDMA_TRANSPORT_UC;
  must(mrdma_endpoint_create(mrdma_model_nic(model, 1), &o, 0) == NULL && strstr(mrdma_error(), "no UC"), "UC that is not there");
  transfer(model, MRDMA_ERASURE_CODE);
  mrdma_model_close(model);
  return 0;
}
