# The matchrdma tool in a small image, without DPDK and `span`:
#   docker build -t matchrdma . && docker run --rm -v "$PWD:/data:ro" matchrdma replay /data/my-capture.pcap
FROM debian:12 AS build
WORKDIR /src
COPY packages.txt .
RUN apt-get update \
 && awk '{ sub(/#.*/, "") } NF == 1 { print $1 }' packages.txt \
  | DEBIAN_FRONTEND=noninteractive xargs apt-get install -y --no-install-recommends
COPY . .
RUN cmake --preset no-dpdk -DMATCHRDMA_TESTS=OFF && cmake --build build/no-dpdk --target matchrdma

FROM debian:12-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends libisal2 libssl3 libyaml-cpp0.7 \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --no-create-home matchrdma
COPY --from=build /src/build/no-dpdk/bin/matchrdma /usr/local/bin/matchrdma
COPY --from=build /src/pcap/traces /usr/share/matchrdma/traces
COPY --from=build /src/LICENSE /usr/share/doc/matchrdma/LICENSE
USER matchrdma
WORKDIR /data
ENTRYPOINT ["matchrdma"]
CMD ["--help"]
