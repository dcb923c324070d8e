# The operator's image: the program, the shared libraries that it needs, and nothing to run beside it. docs/image.md
# tells how to build it (make image) and what is inside.

# Any Debian whose packages hack/packages.sh knows; bookworm is what is tested.
ARG BASE=debian:bookworm-slim

FROM ${BASE} AS build
WORKDIR /src
COPY hack/packages.sh hack/
# What is installed here ends up in the image, so it has to be the newest, not what the base was made with.
RUN apt-get update -q && apt-get upgrade -y -q && hack/packages.sh
COPY . .
# Part of the key under which ccache finds an object: tests/image lends its cache, and says under which this one was filled.
ARG LANG=C.UTF-8
# Without symbols, and without the traces of a build: the same sources and packages give the same bytes.
RUN cmake --preset release -DBUILD_TESTING=OFF -DCMAKE_EXE_LINKER_FLAGS=-s && \
    cmake --build --preset release --target yurtappdaemon-operator
ARG SOURCE_DATE_EPOCH=0
RUN hack/image-root.sh /root-of-image

FROM scratch
COPY --from=build /root-of-image /
# Trees of JSON are many small pieces, and glibc keeps 7 of a size ready for each thread. It reads this at its start only.
ENV GLIBC_TUNABLES=glibc.malloc.tcache_count=100
# A number: Kubernetes' runAsNonRoot cannot see what a name stands for.
USER 65532:65532
# Webhook, metrics, health.
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
