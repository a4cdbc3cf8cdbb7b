# matchrdmad and the tool matchrdma in a small image, built by the preset of ./run build.
#   docker build -t matchrdma .
#   docker run --network host --cap-add NET_ADMIN --cap-add IPC_LOCK -v /etc/matchrdma:/etc/matchrdma:ro matchrdma
#   docker run --rm --entrypoint matchrdma -v "$PWD:/data:ro" matchrdma replay /data/my-capture.pcap
# Cards by PCI address need --device /dev/vfio and -v /dev/hugepages:/dev/hugepages besides. Key files belong to user
# 10001. A killed daemon fails exactly the senders that lost data if its journal is on a volume that outlives the
# container, -v /run/matchrdma:/run/matchrdma (docs/reliability.md).
FROM debian:12 AS build
WORKDIR /src
COPY packages.txt .
RUN apt-get update \
 && awk '{ sub(/#.*/, "") } NF == 1 { print $1 }' packages.txt \
  | DEBIAN_FRONTEND=noninteractive xargs apt-get install -y --no-install-recommends
COPY . .
RUN cmake --preset release -DMATCHRDMA_TESTS=OFF && cmake --build build --target matchrdma matchrdmad

FROM debian:12-slim
# librte-meta-net: every driver of DPDK, found at run time.
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends libcap2-bin libcivetweb1 libisal2 \
      libprometheus-cpp-core1.0 libspdlog1.10 libssl3 libyaml-cpp0.7 librte-meta-mempool librte-meta-net \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin matchrdma \
 && install -d -o matchrdma -g matchrdma -m 0750 /run/matchrdma /var/lib/matchrdma
COPY --from=build /src/build/bin/matchrdma /src/build/bin/matchrdmad /usr/local/bin/
COPY --from=build /src/pcap/traces /usr/share/matchrdma/traces
COPY --from=build /src/config/examples /usr/share/doc/matchrdma/examples
COPY --from=build /src/LICENSE /usr/share/doc/matchrdma/LICENSE
# Permitted only, and raised by the program: it starts, and says what it lacks, also where it is given less.
RUN setcap cap_net_admin,cap_net_raw,cap_ipc_lock=p /usr/local/bin/matchrdmad
USER matchrdma
WORKDIR /data
# /healthz at the default of metrics.listen; where that is another address, give docker run another --health-cmd.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["bash", "-c", "exec 3<> /dev/tcp/127.0.0.1/9464 && printf 'GET /healthz HTTP/1.0\\r\\n\\r\\n' >&3 && read -r -t 2 _ code _ <&3 && [[ $code == 200 ]]"]
ENTRYPOINT ["matchrdmad"]
CMD ["--config", "/etc/matchrdma/matchrdmad.yaml"]
