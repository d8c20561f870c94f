# The operator's image. `make image` prepares the files in build/image and builds this file without a container engine (hack/image/README.md);
# `docker build .` and `podman build .` then give an image with the same files. There is no base image: each package is pinned by its hash in
# hack/image/pins.json.
FROM scratch
ARG TARGETARCH
# A layer for each part, so that a new version of the operator does not transfer Node.js again.
COPY build/image/$TARGETARCH/debian /
COPY build/image/$TARGETARCH/node /
COPY build/image/all/operator /
LABEL org.opencontainers.image.title="windowspool-operator" \
      org.opencontainers.image.description="Kubernetes operator for pools of Windows nodes on EKS" \
      org.opencontainers.image.source="https://github.com/windowspool-operator/windowspool-operator" \
      org.opencontainers.image.licenses="Apache-2.0"
# The home folder is set, because a user ID that is not in /etc/passwd has none, and then os.homedir() throws.
ENV PATH=/usr/local/bin:/usr/bin:/bin HOME=/home/nonroot
# One arena: each of V8's helper threads would keep a pool of memory of its own, 2 MB together.
ENV NODE_ENV=production MALLOC_ARENA_MAX=1
# A number, so that runAsNonRoot can be checked. It writes no file: the root file system may be read-only.
USER 65532:65532
# A small young generation: a cluster's nodes come in as a stream of buffers, which are freed only when it is collected. The first list of
# 10,000 nodes peaks at 86 MB in place of 144, in the same time (make bench, coldSync).
ENTRYPOINT ["node", "--max-semi-space-size=1", "/app/operator.mjs"]
