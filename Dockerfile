# The operator's image: the program, its shared libraries and the time zones. docs/image.md describes how to build it
# (make image) and what it contains.

# BASE may be any Debian whose packages hack/packages.sh knows: 12 (bookworm) or 13 (trixie).
ARG BASE=debian:trixie-slim

FROM ${BASE} AS build
WORKDIR /src
COPY hack/packages.sh hack/
# The image gets libraries and time zones from here, so they are upgraded to the newest versions.
RUN apt-get update -q && apt-get upgrade -y -q && hack/packages.sh
COPY . .
# LANG is part of ccache's keys. tests/image sets the value with which its cache was filled.
ARG LANG=C.UTF-8
# The program has no symbols and no traces of its build: equal sources and packages give equal bytes.
RUN cmake --preset release -DBUILD_TESTING=OFF -DCMAKE_EXE_LINKER_FLAGS=-s && \
    cmake --build --preset release --target yurtappdaemon-operator
ARG SOURCE_DATE_EPOCH=0
RUN hack/image-root.sh /root-of-image

FROM scratch
COPY --from=build /root-of-image /
# JSON trees have many small allocations. By default, glibc caches only 7 of each size for each thread. It reads this
# variable when the program starts.
ENV GLIBC_TUNABLES=glibc.malloc.tcache_count=100
# The user is a number, because Kubernetes' runAsNonRoot cannot check a name.
USER 65532:65532
# The ports of webhook, metrics and health.
EXPOSE 9443 8080 8081
ENTRYPOINT ["/usr/bin/yurtappdaemon-operator"]
ARG VERSION=unknown
ARG REVISION=unknown
ARG CREATED=1970-01-01T00:00:00Z
LABEL org.opencontainers.image.title="yurtappdaemon-operator" \
      org.opencontainers.image.description="Keeps one workload per NodePool for every YurtAppDaemon" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}"
